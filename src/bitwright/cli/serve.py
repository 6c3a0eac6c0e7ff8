"""`bitwright serve`: a local page to write, run and inspect programs."""

from __future__ import annotations

import click

from bitwright.cli import options as opt
from bitwright.common.errors import InputError


@opt.verb("serve")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 takes any that is free."
)
def command(port: int) -> int:
    """Serve a page to write, run and look at programs, for you on this machine alone.

    The address holds a token; requests without it are refused.

    \b
    bitwright serve --port 0
    """
    try:
        from bitwright.web.app import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pydantic", "starlette", "uvicorn"):
            raise
        raise InputError(f"serve needs {error.name}; pip install 'bitwright[web]'") from None

    def ready(address: str) -> None:
        click.echo(f"{address} (stop with Ctrl-C)")

    try:
        serve(port, ready)
    except KeyboardInterrupt:
        click.echo("bitwright: stopped", err=True)
    return 0
