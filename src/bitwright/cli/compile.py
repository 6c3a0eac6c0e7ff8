"""`bitwright compile`: a small Python function as an SBN program."""

from __future__ import annotations

from pathlib import Path

import click

from bitwright.cli.output import output_option, write_or_print


@click.command("compile")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--width", type=int, default=8, show_default=True, help="Bits of a word.")
@output_option(".sbn")
def command(file: Path, width: int, output: Path | None) -> None:
    """Compile a function in a small part of Python (see docs/sbn.md) to .sbn text."""
    from bitwright.errors import ProgramError
    from bitwright.machines import compile_function
    from bitwright.program.text.files import read_text

    try:
        text = compile_function(read_text(file, ".py"), width, file.stem)
    except ProgramError as error:
        raise ProgramError(error.problems, str(file)) from None
    write_or_print(text, output, ".sbn")
