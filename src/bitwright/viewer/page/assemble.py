"""One HTML text out of its parts: the page, its style and script, and the data of a run."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files


def assemble(page: str, styles: Sequence[str], scripts: Sequence[str], facts: Mapping[str, object], data: bytes) -> str:
    """The page of this name among the assets, with styles, and scripts that become one, in this order.

    `facts`, of which `title` is one, can hold any text: it is put in so that it stays text.
    """
    assets = files(__package__) / "assets"
    style = "".join((assets / name).read_text("utf-8") for name in styles)
    parts = [(assets / f"{name}.js").read_text("utf-8") for name in scripts]
    script = '"use strict";\n(() => {\n' + "\n".join(parts) + "})();\n"
    # Nothing may be loaded from anywhere, and no other script may run, whatever the data says.
    policy = f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; base-uri 'none'"
    pieces = {
        "policy": policy,
        "title": escape(str(facts["title"])),
        "style": style,
        "facts": json.dumps(facts, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
        "data": b64encode(data).decode(),
        "script": script,
    }
    html = (assets / page).read_text("utf-8")
    for part in ("head", "steps", "foot", "tail"):  # what all pages have
        html = html.replace(f"{{{{part {part}}}}}", (assets / f"part-{part}.html").read_text("utf-8"))
    before, *rest = html.split("{{")
    return before + "".join(pieces[name] + after for name, _, after in (part.partition("}}") for part in rest))


def _digest(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()
