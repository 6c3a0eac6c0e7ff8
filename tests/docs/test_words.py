"""The table of symbols names code that is there, and the glossary is in order and complete in itself."""

import re
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from cases import for_each

DOCS = Path(__file__).parents[2] / "docs"
SYMBOLS = (DOCS / "glossary.md").read_text().partition("\n## Symbols\n")[2]
NAMES = sorted(set(re.findall(r"`(bitwright\.[\w.]+)`", SYMBOLS)))
GLOSSARY = (DOCS / "glossary.md").read_text().split("```{glossary}\n")[1].split("```")[0]
WORDS = re.findall(r"^(\S.*)$", GLOSSARY, flags=re.MULTILINE)


def find(name: str) -> Any:
    """What a dotted name stands for: a module, something in one, or a member or field of a class."""
    at, *parts = name.split(".")
    found: Any = import_module(at)
    for part in parts:
        at += f".{part}"
        if isinstance(found, type) and is_dataclass(found) and part in {field.name for field in fields(found)}:
            return part
        try:
            found = getattr(found, part)
        except AttributeError:
            found = import_module(at)
    return found


@for_each("name", NAMES)
def test_symbols_name_what_is_there(name: str) -> None:
    assert find(name) is not None


def test_the_table_is_one() -> None:
    rows = [line for line in SYMBOLS.splitlines() if line.startswith("|")]
    assert len(rows) > 25
    assert all(row.replace(r"\|", "").count("|") == 5 for row in rows)


def test_words_are_in_order_and_there_once() -> None:
    assert len(WORDS) >= 30
    assert sorted(WORDS, key=str.casefold) == WORDS
    assert len(set(WORDS)) == len(WORDS)
