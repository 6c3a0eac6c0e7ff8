"""`bitwright completion`: the script that makes a shell complete our commands."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print a completion script; for bash: eval "$(bitwright completion bash)"."""
    from bitwright.cli.main import cli

    maker = get_completion_class(shell)
    assert maker is not None  # the choice above allows only shells that click knows
    click.echo(maker(cli, {}, "bitwright", "_BITWRIGHT_COMPLETE").source())
