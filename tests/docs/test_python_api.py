"""The pages of the Python API: the same every time, properties as properties, and every name that pages import."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from cases import for_each

import bitwright
from bitwright.cli.main import VERBS

ROOT = Path(__file__).parents[2]
IMPORTED = re.compile(r"from (bitwright[\w.]*) import (\([^)]*\)|[^\n#]*)")
# Of Python and NumPy, which need no explanation; and words that begin a line of the page.
FOREIGN = {
    *("Any", "ArrayLike", "Callable", "False", "Hashable", "Iterable", "Iterator", "Literal", "Mapping", "NDArray"),
    *("None", "Path", "PathLike", "Self", "Sequence", "True", "Fields", "Generator", "Module"),
}


@cache
def api() -> Any:
    sys.path.insert(0, str(ROOT / "docs" / "_ext"))
    try:
        return import_module("python_api")
    finally:
        sys.path.remove(str(ROOT / "docs" / "_ext"))


@cache
def pages() -> dict[str, str]:
    return dict(api().pages())


@cache
def page() -> str:
    return "\n".join(pages().values())


def signatures() -> Iterator[str]:
    for line in page().splitlines():
        if re.match(r":+\{py:\w+\} |:type: |\*\*Fields", line):
            yield re.sub(r"'[^']*'", "", line)


@cache
def imports() -> list[tuple[str, str, str]]:
    """Where a page or a notebook imports from us, from which room, and which name."""
    found = []
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*/**/*.ipynb")]:
        if {"_build", "generated", ".venv"} & set(path.parts):
            continue
        text = path.read_text()
        if path.suffix == ".ipynb":
            text = "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
        for room, names in IMPORTED.findall(text):
            found += [(path.name, room, name.split()[0]) for name in names.strip("()\n ").split(",") if name.strip()]
    return found


def test_every_name_that_a_page_imports_is_there() -> None:
    assert len(imports()) > 50
    for path, room, name in imports():
        offered = api().public_names() if room == "bitwright" else api().names_of(room) if room in api().ROOMS else []
        assert name in offered, f"{path}: from {room} import {name}"


def test_every_verb_that_is_a_name_is_in_the_first_table() -> None:
    first = pages()["python.md"].split("\n## ")[1]
    assert first.startswith("Run, prove, train")
    assert {name for name in VERBS if name in api().public_names()} <= set(re.findall(r"python/(\w+)\.md", first))


@for_each("room", api().ROOMS)
def test_every_name_of_a_room_is_there(room: str) -> None:
    section = pages()[f"python/{room}.md"]
    assert f"`{room}`" in section
    for name in api().names_of(room):
        assert re.search(rf"\{{py:\w+\}} {name}\b|Here too, with a page of their own: .*`{name}`", section), name


def test_every_public_name_has_a_page_and_a_sentence() -> None:
    row = r"^\| \[`(\w+)`\]\(python/(\w+)\.md\) \| \S.* \|$"
    summary = dict(re.findall(row, pages()["python.md"], flags=re.MULTILINE))
    assert set(summary) == set(api().public_names())
    for name, where in summary.items():
        assert re.search(rf"\{{py:\w+\}} {name}\b", pages()[f"python/{where}.md"]), name
    assert len({name.lower() for name in pages()}) == len(pages())


def test_what_is_computed_once_is_a_property() -> None:
    properties = set(re.findall(r"\{py:property\} (\w+)", page()))
    assert {"id", "kinds", "cells", "writers", "digest", "nodes", "claim", "proved"} <= properties
    assert not re.search(r"\{py:method\} (id|digest|nodes|writers)\b", page())


def test_no_signature_names_a_place_in_memory() -> None:
    assert not [line for line in signatures() if " at 0x" in line or "<" in line]


def test_every_type_in_a_signature_is_explained() -> None:
    entries = set(re.findall(r"\{py:(?:class|exception|data)\} (\w+)", page()))
    words = {word for line in signatures() for word in re.findall(r"\b[A-Z]\w+", re.sub(r"\{py:data\}.*", "", line))}
    assert words - entries - FOREIGN - set(api().types()) == set()
    for name, meaning in api().types().items():
        assert name not in entries
        assert len(meaning) > 10


def test_all_errors_stand_together() -> None:
    section = pages()["python/errors.md"]
    found = re.findall(r"\{py:exception\} (\w+)", section)
    public = [getattr(bitwright, name) for name in dir(bitwright)]
    errors = [one.__name__ for one in public if isinstance(one, type) and issubclass(one, BaseException)]
    assert sorted(found) == sorted(errors)
    assert {"ProofError", "TrainingError"} <= set(found)


def test_every_verb_is_in_the_table_once_and_its_calls_are_there() -> None:
    table = pages()["python.md"].split("## The same on the command line")[1].split("\n## ")[0]
    rows = [row.split("|")[1:3] for row in table.splitlines() if row.startswith("| `")]
    verbs = [verb for cell, _ in rows for verb in re.findall(r"`(\w+)`", cell)]
    assert sorted(verbs) == sorted(VERBS)
    code = " ".join(part for _, cell in rows for part in re.findall(r"`([^`]*)`", cell) if not part.startswith("--"))
    called = set(re.findall(r"(?<![\w.])([A-Za-z_]+)(?=\(|\.load|$| )", code)) - {"path", "algorithm", "order", "True"}
    assert len(called) >= 12
    assert called <= set(api().public_names())
