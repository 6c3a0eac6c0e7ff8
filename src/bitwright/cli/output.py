"""Text that a verb makes: to a file if one is named, else to stdout."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from bitwright.errors import InputError


def output_option(suffix: str) -> Callable[[Any], Any]:
    return click.option(
        "--output", "-o", type=click.Path(path_type=Path), help=f"Write to this {suffix} file instead of stdout."
    )


def write_or_print(text: str, output: Path | None, suffix: str) -> None:
    """Writes the text, whole or not at all."""
    from bitwright.files.storage import write_atomically

    if output is None:
        click.echo(text.rstrip("\n"))
        return
    if output.suffix != suffix:
        raise InputError(f"-o takes a {suffix} file, got {output}")
    write_atomically(output, text.encode())
