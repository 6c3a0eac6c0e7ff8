"""Puts the captions of figures into a page, so that what it says is what was made."""

from __future__ import annotations

import re
from pathlib import Path

from bitwright.errors import InputError
from bitwright.files.storage import write_atomically


def update_page(page: Path, folder: Path) -> int:
    """Replaces the text between `<!-- caption NAME -->` and `<!-- end -->` by NAME's caption; gives how many."""
    try:
        text = page.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the page {page}: {error}") from None

    def put(found: re.Match[str]) -> str:
        caption = folder / f"{found[1]}.md"
        kept = caption.read_text(encoding="utf-8").strip() if caption.is_file() else found[2].strip()
        return f"<!-- caption {found[1]} -->\n{kept}\n<!-- end -->"

    updated, count = re.subn(r"<!-- caption ([a-z0-9-]+) -->\n(.*?)<!-- end -->", put, text, flags=re.DOTALL)
    if not count:
        raise InputError(f"{page} has no line '<!-- caption NAME -->' with '<!-- end -->' below it")
    write_atomically(page, updated.encode())
    return count
