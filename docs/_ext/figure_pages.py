"""One page of all figures: picture, caption and the tables that they are drawn from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

_HEAD = """# Figures and their tables

Every figure as `python -m experiments NAME` draws it, and the CSV files that it is drawn from.
[Results](../explanation/results.md) says what they show."""


def pages(root: Path) -> Iterator[tuple[str, str]]:
    folder = root / "docs" / "figures"
    captions = sorted(folder.glob("*.md"))
    tables = {path.stem: [] for path in captions}
    for table in sorted(folder.glob("*.csv")):
        owner = max((name for name in tables if table.stem == name or table.stem.startswith(f"{name}-")), key=len)
        tables[owner].append(table.name)
    parts = [_HEAD]
    for path in captions:
        links = ", ".join(f"[{name}](../figures/{name})" for name in tables[path.stem])
        picture = f"![The figure {path.stem}](../figures/{path.stem}.svg)"
        parts += [f"## {path.stem}", picture, path.read_text(encoding="utf-8").strip(), f"Data: {links}."]
    yield "figures.md", "\n\n".join(parts) + "\n"
