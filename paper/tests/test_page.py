"""The page "The paper, item by item": it has every item, and every command, symbol, test and erratum on it is there."""

from __future__ import annotations

import re
import shlex

import click
import pytest
from cases import for_each
from docs.test_words import find
from sessions import ROOT

from bitwright.cli.main import cli
from bitwright.common.errors import InputError
from paper import check
from paper.__main__ import command as figure
from paper.figures import find_figure

PAGE = (ROOT / "docs" / "explanation" / "paper.md").read_text()
ERRATA = (ROOT / "docs" / "explanation" / "errata.md").read_text()
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith("| item")
]
CODE = sorted(set(re.findall(r"`([^`\n]+)`", PAGE)))
COMMANDS = [code for code in CODE if code.startswith(("bitwright ", "python -m "))]
ITEMS = [
    *(f"Eq. ({number})" for number in range(1, 20)),
    *("Theorem 3.1", "Theorem 5.1", "Theorem A.1", "Lemma 6.1", "Lemma A.1", "Assumption 5.1"),
    *("Remark 5.1", "Remark 6.1", "Remark D.1", "Algorithm 1", "Experiment 1", "Experiment 2"),
    *(f"Figure {number}" for number in range(1, 8)),
    *(f"Listing B.{number}" for number in range(1, 5)),
]
STATUS = ("proved", "tested", "measured", "decided", "drawn", "theirs", "closed", "the definition", "the same", "holds")


def parsed(typed: str) -> None:
    """Reads the words of a command with its own parser, and runs nothing."""
    words = shlex.split(typed)
    if words[0] == "bitwright":
        verb = cli.get_command(click.Context(cli), words[1])
        assert verb is not None, typed
        verb.make_context(words[1], words[2:])
    elif words[:3] == ["python", "-m", "paper.check"]:
        check.command.make_context("check", words[3:])
    else:
        assert words[:3] == ["python", "-m", "paper"], typed
        find_figure(figure.make_context("paper", words[3:]).params["name"])
    for word in words:
        assert not word.startswith("examples/") or (ROOT / word).is_file(), typed


def missing_tests(page: str) -> list[str]:
    """The files of tests that a page names or links, and that are not there, and tests that none of these files has."""
    files = {name: ROOT / name for name in re.findall(r"(?:`|\.\./)((?:paper/)?tests/[\w/]+\.py)", page)}
    text = "".join(path.read_text() for path in files.values() if path.is_file())
    tests = re.findall(r"(?:`|::|\")(test_\w+)[`\"]", page)
    lost = [name for name in tests if f"def {name}(" not in text]
    return [*(name for name, path in files.items() if not path.is_file()), *lost]


@for_each("typed", COMMANDS)
def test_commands_can_be_typed(typed: str) -> None:
    parsed(typed)


@pytest.mark.parametrize(
    ("typed", "error"),
    [
        ("bitwright certify addition --bitz 4", click.NoSuchOption),
        ("bitwright prove addition", AssertionError),
        ("python -m paper order", InputError),
        ("bitwright certify examples/nothing.sbn", AssertionError),
    ],
)
def test_commands_that_are_not_there_are_noticed(typed: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        parsed(typed)


def test_symbols_are_there() -> None:
    names = {name for row in ROWS for name in re.findall(r"`([\w.]+)`", row[1])}
    assert len(names) > 25
    for name in names:
        assert find(name if name.startswith("paper.") else f"bitwright.{name}") is not None, name


def test_every_item_of_the_paper_has_a_row() -> None:
    first = " ; ".join(row[0] for row in ROWS)
    assert [item for item in ITEMS if item not in first] == []
    assert all(len(row) == 5 for row in ROWS)
    shown = [row for row in ROWS if row[2] and row[4]]
    assert len(shown) >= len(ROWS) - 2
    assert all(row[4].lstrip("[").startswith(STATUS) for row in shown)


def test_errata_that_are_named_are_there() -> None:
    entries = [int(number) for number in re.findall(r"^(\d+)\. ", ERRATA, flags=re.MULTILINE)]
    assert entries == list(range(1, len(entries) + 1))
    named = set()
    for row in ROWS:
        for first, last in re.findall(r"(\d+)(?: to (\d+))?", row[3]):
            named |= set(range(int(first), int(last or first) + 1))
    assert named == set(entries)  # each is at the item that it corrects


def test_tests_that_are_named_are_there() -> None:
    assert missing_tests(PAGE) == missing_tests(ERRATA) == []
    assert missing_tests("`tests/theory/test_errata.py::test_nothing`, `test_none`") == ["test_nothing", "test_none"]
    assert missing_tests("`tests/theory/test_nothing.py`") == ["tests/theory/test_nothing.py"]
    assert missing_tests('[tested](../../tests/theory/test_errata.py "test_none")') == ["test_none"]
    assert len(re.findall(r'\[tested\]\(\S+ "test_\w+"\)', PAGE)) > 15
