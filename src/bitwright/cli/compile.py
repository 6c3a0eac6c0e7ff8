"""`bitwright compile`: compiles or assembles a program for a machine."""

from __future__ import annotations

from pathlib import Path

import click

from bitwright.cli import options as opt


@opt.verb("compile")
@click.argument("file", type=opt.FILE)
@click.option(
    "--target", type=click.Choice(["sbn", "subleq"]), default="sbn", show_default=True, help="For .py: the machine."
)
@click.option("--word-width", type=int, help="For .py: bits of a word; 8 for SBN and 16 for SUBLEQ if it is not given.")
@click.option("--output", "-o", type=opt.FILE, help="Write to this file instead of stdout.")
def command(file: Path, target: str, word_width: int | None, output: Path | None) -> None:
    """Compile or assemble a program for a machine.

    A small part of Python (.py) becomes .sbn assembly (see docs/reference/sbn.md) or, with --target subleq, .sq
    assembly for machine V (see docs/reference/subleq.md). SUBLEQ assembly (.sq) becomes a .dec image.
    """
    from bitwright.api.compile import compile_file

    compiled = compile_file(file, target, word_width)
    if output is None:
        click.echo(compiled.text.rstrip("\n"))
    else:
        compiled.save(output)
