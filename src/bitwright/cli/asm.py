"""`bitwright asm`: an SBN program as numbers."""

from __future__ import annotations

from pathlib import Path

import click

from bitwright.cli.output import output_option, write_or_print


@click.command("asm")
@click.argument("file", type=click.Path(path_type=Path))
@output_option(".json")
def command(file: Path, output: Path | None) -> None:
    """Assemble a .sbn program: instructions, words and names as JSON."""
    from bitwright.machines import load_sbn, to_json

    write_or_print(to_json(load_sbn(file)), output, ".json")
