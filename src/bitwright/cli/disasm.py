"""`bitwright disasm`: numbers as an SBN program."""

from __future__ import annotations

from pathlib import Path

import click

from bitwright.cli.output import output_option, write_or_print
from bitwright.errors import InputError


@click.command("disasm")
@click.argument("file", type=click.Path(path_type=Path))
@output_option(".sbn")
def command(file: Path, output: Path | None) -> None:
    """Turn what `asm` made back into .sbn text."""
    if file.suffix.lower() in (".dec", ".sq", ".sbn"):
        raise InputError(f"disasm takes the JSON that asm makes of an SBN program, got {file}")
    from bitwright.machines import disassemble, from_json
    from bitwright.program.text.files import read_text

    write_or_print(disassemble(from_json(read_text(file, ".json"), file.stem)), output, ".sbn")
