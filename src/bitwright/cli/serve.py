"""`bitwright serve`: a local page to write, run and inspect programs."""

from __future__ import annotations

import click

from bitwright.cli import options as opt
from bitwright.common.errors import InputError


@opt.verb("serve")
def command(port: int) -> int:
    """Serve a local page for writing, running and inspecting programs.

    Only this machine can reach the page. Its address contains a token, and requests without the token are rejected.

    \b
    bitwright serve --port 0
    """
    try:
        from bitwright.web.app import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pydantic", "starlette", "uvicorn"):
            raise
        raise InputError(f"serve needs {error.name}; pip install 'bitwright[web]'") from None
    try:
        serve(port, lambda address: click.echo(f"{address} (stop with Ctrl-C)"))
    except KeyboardInterrupt:
        click.echo("bitwright: stopped", err=True)
    return 0
