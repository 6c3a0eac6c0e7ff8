"""The scripts and styles shared by all pages, and the bundler for single-file pages.

The scripts are ES modules. The local page loads them as they are; a single-file page contains them one after another,
without imports and exports.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256
from html import escape
from importlib.resources import files

MODULES = ("dom", "theme", "canvas", "bits", "player", "graph", "values")  # each imports only earlier ones


def library_script() -> str:
    """Returns all modules as one script."""
    return plain_script(_asset(f"{name}.mjs") for name in MODULES)


def plain_script(modules: Iterable[str]) -> str:
    """Concatenates modules into one script, without imports and exports."""
    return re.sub(r"^(?:export |import .*\n)", "", "\n".join(modules), flags=re.MULTILINE)


def single_page(body: str, style: str, script: str, facts: Mapping[str, object], data: bytes = b"") -> str:
    """Returns a single-file page that loads nothing; the library comes before the page's own style and script.

    `facts` must have a `title` and may contain any text, which is escaped. `data` is binary.
    """
    base, dark = _asset("base.css") + style, _asset("dark.css")
    code = f'"use strict";\n(() => {{\n{library_script()}{script}}})();\n'
    # Nothing may be loaded, and no other script or style may run, whatever the data contains.
    styles = f"'{_digest(base)}' '{_digest(dark)}'"
    pieces = {
        "policy": f"default-src 'none'; script-src '{_digest(code)}'; style-src {styles}; "
        "base-uri 'none'; form-action 'none'",
        "title": escape(str(facts["title"])),
        "style": base,
        "dark": dark,
        "facts": json.dumps(facts, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
        "data": b64encode(data).decode(),
        "script": code,
    }
    before, *rest = _asset("page.html").replace("{{body}}", body).split("{{")
    return before + "".join(pieces[name] + after for name, _, after in (part.partition("}}") for part in rest))


def _asset(name: str) -> str:
    return (files(__package__) / name).read_text("utf-8")


def _digest(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()
