"""`bitwright compile`: compiles or assembles a program for a machine."""

from __future__ import annotations

from pathlib import Path

import click

from bitwright.cli import options as opt


@opt.verb("compile")
@click.argument("file", type=opt.FILE)
def command(file: Path, bits: int | None, output: Path | None) -> None:
    """Compile or assemble a program for a machine.

    A small part of Python (.py) becomes .sbn assembly for machines A and B (see docs/reference/sbn.md). SUBLEQ assembly
    (.sq) becomes a .dec image for machine V.
    """
    from bitwright.verbs.compile import compile_file

    compiled = compile_file(file, bits)
    if output is None:
        click.echo(compiled.text.rstrip("\n"))
    else:
        compiled.save(output)
