"""docs/explanation/performance.md: parts of it are measured, and stand between marks."""

from __future__ import annotations

import os
import platform
from datetime import date
from pathlib import Path

import numpy as np

PAGE = Path(__file__).parent.parent / "docs" / "explanation" / "performance.md"


def replace_part(name: str, text: str) -> None:
    """Puts `text` between the marks of this name."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, _, rest = PAGE.read_text().partition(begin)
    _, _, after = rest.partition(end)
    PAGE.write_text(f"{before}{begin}\n{text}\n{end}{after}")


def machine() -> str:
    cores = f"{os.cpu_count()} cores, {platform.machine()}"
    return f"Measured {date.today()} on {cores}, Python {platform.python_version()}, NumPy {np.__version__}"
