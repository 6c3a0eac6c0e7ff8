"""Options of earlier versions are refused in one line, which says what to give instead."""

import re
from pathlib import Path

import click
import pytest
from calling import Captured, refusal

from bitwright.cli.changes import INSTEAD
from bitwright.cli.main import VERBS, cli

CHANGELOG = (Path(__file__).parents[2] / "CHANGELOG.md").read_text()


def options() -> set[str]:
    """Every option of every verb."""
    commands = [cli.get_command(click.Context(cli), verb) for verb in VERBS]
    parameters = [one for command in commands if command for one in command.params]
    return {name for one in parameters for name in (*one.opts, *one.secondary_opts) if name.startswith("--")}


@pytest.mark.parametrize("name", INSTEAD)
def test_an_earlier_option_is_refused_with_what_to_give_instead(capsys: Captured, name: str) -> None:
    line = refusal(capsys, "run", "addition", name, "1")
    assert line == f"bitwright: {name} was removed: {INSTEAD[name]}\n"
    assert set(re.findall(r"--[a-z-]+", INSTEAD[name])) <= options()


def test_no_option_is_both_there_and_changed_and_the_changelog_names_each_change() -> None:
    assert options() & set(INSTEAD) == set()
    table = CHANGELOG.partition("### Names that changed")[2].partition("\n## ")[0]
    assert [name for name in INSTEAD if not re.search(rf"`[^`]*{name}\b(?!-)", table)] == []
