"""The numbers of a rule file that say its size."""

from __future__ import annotations

import re
from pathlib import Path

from bitwright.program.text.files import read_text

_PLAIN = re.compile(r"^\s*let\s+(\w+)\s*=\s*(\d+)\s*(?:#.*)?$", re.MULTILINE)


def plain_lets(path: Path) -> dict[str, int]:
    """The `let` lines that are plain numbers, in their order; what is computed from others follows these."""
    return {name: int(value) for name, value in _PLAIN.findall(read_text(path))}
