"""`bitwright compile`: a small Python source as an SBN program, or as a SUBLEQ program for machine V."""

from __future__ import annotations

from pathlib import Path

import click

from bitwright.cli.output import output_option, write_or_print


@click.command("compile")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--target", type=click.Choice(["sbn", "subleq"]), default="sbn", show_default=True, help="What to compile to."
)
@click.option("--width", type=int, help="Bits of a word; 8 for SBN and 16 for SUBLEQ if it is not given.")
@output_option(".sbn or .sq")
def command(file: Path, target: str, width: int | None, output: Path | None) -> None:
    """Compile a small part of Python to .sbn text (see docs/reference/sbn.md), or with arrays and functions to
    .sq text for machine V (see docs/reference/subleq.md)."""
    from bitwright.errors import problems_of
    from bitwright.machines import compile_function
    from bitwright.machines.subleq import compile_program
    from bitwright.program.text.files import read_text

    source = read_text(file, ".py")
    with problems_of(file):
        if target == "sbn":
            text = compile_function(source, 8 if width is None else width, file.stem)
        else:
            text = compile_program(source, 16 if width is None else width, file.stem)
    write_or_print(text, output, ".sbn" if target == "sbn" else ".sq")
