"""A network of integers in every form that bitwright.api.export writes.

A form is a function NAME_text(found, claim) of that room; forms that come later are there without a word here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from bitwright.api import export
from bitwright.api.export import ExportClaim, Exported
from bitwright.errors import BitwrightError
from bitwright.web.told import Files

_SUFFIXES = {"js": "mjs", "page": "html"}  # where it is not the name of the form


def forms() -> dict[str, Callable[[Exported, ExportClaim], str]]:
    """The writers of that room by the names of their forms."""
    return {name.removesuffix("_text"): getattr(export, name) for name in export.__all__ if name.endswith("_text")}


def export_files(
    name: str, found: Exported, claim: ExportClaim, most: int, page: Callable[[], str]
) -> tuple[Files, Mapping[str, str]]:
    """The files, of which each has at most so many bytes; and why another is not there. `page` writes the page."""
    files: Files = {}
    missing: dict[str, str] = {}
    texts: dict[str, Callable[[], str]] = {form: partial(write, found, claim) for form, write in forms().items()}
    for form, text in {"page": page, **texts}.items():
        file = f"{name}.{_SUFFIXES.get(form, form)}"
        try:
            data = text().encode()
        except BitwrightError as error:
            missing[file] = str(error)
            continue
        if len(data) > most:
            missing[file] = f"it has {len(data) >> 10:,} KiB, and this server keeps at most {most >> 10:,} KiB of it"
        else:
            files[file] = data
    if f"{name}.mjs" in files:
        files[f"{name}.d.mts"] = export.js_types(found).encode()
    return files, missing
