"""A page of a recorded run out of its parts: its body, its scripts, and the data of the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files

from bitwright.pages.library import single_page


def assemble(page: str, scripts: Sequence[str], facts: Mapping[str, object], data: bytes) -> str:
    """The page of this name among the assets, with scripts that become one, in this order."""
    body = _asset(f"{page}.html").replace("{{steps}}", _asset("steps.html"))
    script = "\n".join(_asset(f"{name}.js") for name in ("data", "player", *scripts))
    return single_page(body, _asset("trace.css"), script, facts, data)


def _asset(name: str) -> str:
    return (files(__package__) / "assets" / name).read_text("utf-8")
