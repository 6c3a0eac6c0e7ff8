"""Readers of what the repository stores: CSV tables, logs of runs, tables and sentences of the documentation.

Every number of the report is taken from one of these. A reader that does not find just what it was asked for raises
`LookupError`, so that a report whose sources have changed is not built rather than wrong.
"""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[2] / "docs"


def table(name: str, **wanted: str) -> list[dict[str, str]]:
    """Rows of a CSV file under docs, those that have these values."""
    with (DOCS / name).open(encoding="utf-8", newline="") as file:
        return _found([row for row in csv.DictReader(file) if _fits(row, wanted)], name, wanted)


def log(name: str, **wanted: Any) -> list[dict[str, Any]]:
    """Lines of a log under docs/runs, those that have these values."""
    lines = [json.loads(line) for line in (DOCS / "runs" / name).read_text(encoding="utf-8").splitlines()]
    return _found([line for line in lines if _fits(line, wanted)], name, wanted)


def line(name: str, **wanted: Any) -> dict[str, Any]:
    """The one line of a log that has these values."""
    lines = log(name, **wanted)
    if len(lines) != 1:
        raise LookupError(f"{name} has {len(lines)} lines with {wanted}, and one is needed")
    return lines[0]


def page(name: str) -> str:
    """The text of a page of the documentation, wherever below docs it lies."""
    found = [path for path in DOCS.rglob(name) if "_build" not in path.relative_to(DOCS).parts]
    if len(found) != 1:
        raise LookupError(f"there are {len(found)} pages {name} below docs, and one is needed")
    return found[0].read_text(encoding="utf-8")


def page_table(name: str, *columns: str) -> list[list[str]]:
    """Rows, without the header, of the table on a page of docs whose header begins with these columns."""
    lines = page(name).splitlines()
    for at, text in enumerate(lines):
        if text.startswith("|") and tuple(_cells(text)[: len(columns)]) == columns:
            rows = []
            for row in lines[at + 2 :]:
                if not row.startswith("|"):
                    break
                rows.append(_cells(row))
            return rows
    raise LookupError(f"{name} has no table with the columns {', '.join(columns)}")


def said(name: str, pattern: str) -> str:
    """What the group of a pattern matches on a page, which must have it once; any white space is one space there."""
    text = " ".join(page(name).split())
    found = re.findall(pattern, text)
    if len(found) != 1:
        raise LookupError(f"{name} has {len(found)} places like '{pattern}', and one is needed")
    return str(found[0])


def _cells(text: str) -> list[str]:
    return [cell.strip() for cell in text.strip().strip("|").split("|")]


def _fits(row: dict[str, Any], wanted: dict[str, Any]) -> bool:
    return all(row.get(name) == value for name, value in wanted.items())


def _found(rows: list[Any], name: str, wanted: dict[str, Any]) -> list[Any]:
    if not rows:
        raise LookupError(f"{name} has nothing with {wanted}")
    return rows
