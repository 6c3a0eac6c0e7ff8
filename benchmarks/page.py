"""Pages of which parts are measured: such a part stands between marks."""

from __future__ import annotations

import os
import platform
from datetime import date
from pathlib import Path

import numpy as np

PAGE = Path(__file__).parent.parent / "docs" / "explanation" / "performance.md"


def replace_part(name: str, text: str, page: Path = PAGE) -> None:
    """Puts `text` between the marks of this name."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, _, rest = page.read_text().partition(begin)
    _, _, after = rest.partition(end)
    page.write_text(f"{before}{begin}\n{text}\n{end}{after}")


def machine() -> str:
    cores = f"{os.cpu_count()} cores, {platform.machine()}"
    return f"Measured {date.today()} on {cores}, Python {platform.python_version()}, NumPy {np.__version__}"
