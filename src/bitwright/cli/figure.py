"""`bitwright figure`: a figure of the paper or of ours, from our own numbers."""

from __future__ import annotations

from pathlib import Path

import click

from bitwright.cli.options import quiet_option
from bitwright.cli.reporting import note


@click.command("figure")
@click.argument("name")
@click.option("--output", "-o", type=click.Path(path_type=Path), default=Path("figures"), show_default=True)
@quiet_option
def command(name: str, output: Path, quiet: bool) -> None:
    """Write a figure as SVG and PNG, and the numbers behind it as CSV, into a folder. Names: sbn."""
    from bitwright.experiments import make_figure

    for path in make_figure(name, output):
        note(f"wrote {path}", quiet)
