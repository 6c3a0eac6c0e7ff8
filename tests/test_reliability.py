"""docs/explanation/reliability.md names tests that are there, and counts the readers that are attacked."""

import csv
import re
from pathlib import Path

from fuzz import commands, data, models, stored, texts

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "explanation" / "reliability.md").read_text()


def test_the_tests_that_the_page_names_are_there() -> None:
    named = re.findall(r"`(tests/[\w/.]*|test_\w+\.py)`", PAGE)
    assert len(named) > 30
    known = {path.name for path in (ROOT / "tests").rglob("test_*.py")}
    assert [name for name in named if not (ROOT / name).exists() and name not in known] == []


def test_the_recorded_run_has_every_reader() -> None:
    readers = (*texts.READERS, *stored.READERS, *data.READERS, *models.READERS, *commands.READERS)
    with (ROOT / "docs" / "runs" / "fuzz.csv").open(newline="") as file:
        counted = {row["reader"]: int(row["cases"]) for row in csv.DictReader(file)}
    assert set(counted) == {reader.name for reader in readers}
    assert f"{sum(counted.values()):,} cases on {len(counted)} readers" in PAGE
