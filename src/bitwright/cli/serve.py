"""`bitwright serve`: a page in the browser on which programs are written, run and looked at."""

from __future__ import annotations

import click

from bitwright.errors import InputError


@click.command("serve")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 takes any that is free."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at; others can reach it then.")
@click.option("--open", "browser", is_flag=True, help="Open the page in the browser.")
def command(port: int, host: str, browser: bool) -> int:
    """Serve a page to write, run and look at programs, on this machine alone unless --host says otherwise.

    \b
    bitwright serve --open
    """
    try:
        from bitwright.web.listen import address_of, is_local, open_socket, serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("fastapi", "pydantic", "starlette", "uvicorn"):
            raise
        raise InputError(f"serve needs {error.name}; pip install 'bitwright[web]'") from None

    opened = open_socket(host, port)
    if not is_local(opened):
        click.secho(
            f"bitwright: warning: everyone who can reach {host} can run programs here; there is no password", err=True
        )

    def ready() -> None:
        click.echo(f"{address_of(opened)} (stop with Ctrl-C)")
        if browser:
            import webbrowser

            webbrowser.open(address_of(opened))

    try:
        serve(opened, host, ready)
    except KeyboardInterrupt:
        click.echo("bitwright: stopped", err=True)
    return 0
