"""`bitwright asm`: an SBN or SUBLEQ program as numbers."""

from __future__ import annotations

from pathlib import Path

import click

from bitwright.cli.output import output_option, write_or_print
from bitwright.errors import InputError


@click.command("asm")
@click.argument("file", type=click.Path(path_type=Path))
@output_option(".json or .dec")
def command(file: Path, output: Path | None) -> None:
    """Assemble a .sbn program to JSON (instructions, words and names), or a .sq program to a .dec image."""
    if file.suffix.lower() == ".sq":
        from bitwright.machines.subleq import image_text, load_sq

        write_or_print(image_text(load_sq(file).image), output, ".dec")
        return
    if file.suffix.lower() == ".dec":
        raise InputError(f"{file} is an image already; asm takes a .sbn or .sq program, and run runs the image")
    from bitwright.machines import load_sbn, to_json

    write_or_print(to_json(load_sbn(file)), output, ".json")
