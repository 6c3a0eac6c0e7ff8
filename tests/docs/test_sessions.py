"""What the pages show is what the commands print: every session of every page is run, or says here why not."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from calling import Captured
from cli.test_cli import FIVE_MISTAKES
from long import LONG
from sessions import BLOCK, ROOT, Command, check, commands_of, python_of, run_python

DOCS = ROOT / "docs"
WRITTEN = {
    path.relative_to(DOCS if DOCS in path.parents else ROOT).as_posix(): path
    for path in (ROOT / "README.md", ROOT / "sceptic" / "README.md", *sorted(DOCS.rglob("*.md")))
    if not {"_build", "generated", "report"} & set(path.parts)
}
PAGES = {name: path for name, path in WRITTEN.items() if commands_of(path)}
# Commands that are not run, by how they begin, and why.
NOT_RUN: dict[str, dict[str, str]] = {
    "guides/computer.md": {"bitwright run eforth.dec": "of software that others wrote; docs/runs has the log"}
}
TUTORIAL = "tutorial/division-by-three.md"
if not shutil.which("gcc"):
    NOT_RUN[TUTORIAL] = {"gcc": "there is none", "./third": "it is not made"}
if not LONG:  # these take seconds
    NOT_RUN["explanation/results.md"] = {"python -m paper templates": "paper/tests draws it"}
    NOT_RUN["explanation/paper.md"] = {"python -m paper.check": "paper/tests runs it at fewer bits"}
    NOT_RUN["guides/transformers.md"] = {
        "bitwright train examples/transformers/adder.task": "tests/transformers trains smaller ones",
        "python sceptic/check_decoder.py": "tests/sceptic checks decoders with it",
    }
    NOT_RUN["guides/proof.md"] = {"python sceptic/check_network.py": "tests/sceptic checks networks with it"}
# Commands that do not end with 0, by how they begin.
EXITS: dict[str, dict[str, int]] = {
    "guides/computer.md": {"echo bitwright | bitwright run backwards.sq --max-steps 100": 1},
    "guides/infer.md": {'bitwright infer states.npz --blocks "p[i]': 1},
    "guides/transformers.md": {"bitwright certify examples/transformers/adder.task --network changed.safetensors": 1},
    "reference/rule-text.md": {"bitwright check five.bw": 1},
}


def _problems() -> None:
    Path("five.bw").write_text(FIVE_MISTAKES)
    Path("odd.bw").write_text("bits a b\nblock a\nblock b\nwhen a=1 write a\nwhen b=1 write a\ninput a\n")


# Files that a page speaks of and does not show.
FILES: dict[str, Callable[[], None]] = {"reference/rule-text.md": _problems}


def words_of(picture: Path) -> list[str]:
    return re.findall(r">([^<>]*\w[^<>]*)<", picture.read_text())


def _which(table: dict[str, dict[str, Any]], page: str, command: Command) -> Any:
    return next((value for begin, value in table.get(page, {}).items() if command.typed.startswith(begin)), None)


@pytest.mark.parametrize("page", PAGES)
def test_sessions_are_true(page: str, capfd: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("examples", "sceptic"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    FILES.get(page, lambda: None)()
    for command in commands_of(PAGES[page]):
        if _which(NOT_RUN, page, command) is None:
            check(command, capfd, _which(EXITS, page, command))
    if page == TUTORIAL:
        assert words_of(Path("cells.svg")) == words_of(DOCS / "pictures" / "tutorial-cells.svg")


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
@pytest.mark.parametrize("page", [page for page, path in WRITTEN.items() if python_of(path)])
def test_python_runs_and_gives_what_its_comments_say(
    page: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    compared = sum(run_python(code) for code in python_of(WRITTEN[page]))
    assert compared > 0 or page != "README.md"


def test_numbers_in_the_prose_of_the_tutorial_are_those_of_its_outputs() -> None:
    text = PAGES[TUTORIAL].read_text()
    shown = "".join(command.output for command in commands_of(PAGES[TUTORIAL]))
    for number in ("98,258", "1,152", "1,216", "all 16 local states"):
        assert number in BLOCK.sub("", text), number
        assert number in shown, number
    (checksum,) = re.findall(r"sha256 ([0-9a-f]{64})", text)  # of the network and in its certificate: from one run
    assert f"another network, {checksum[:12]}... instead of" in text


def test_the_readme_takes_a_minute() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 140
    assert len((ROOT / "README.md").read_text().split()) <= 1200


@pytest.mark.parametrize("table", [NOT_RUN, EXITS], ids=["not run", "exits"])
def test_what_is_listed_is_on_the_pages(table: dict[str, dict[str, object]]) -> None:
    for page, begins in table.items():
        typed = [command.typed for command in commands_of(PAGES[page])]
        for begin in begins:
            assert any(command.startswith(begin) for command in typed), (page, begin)


def test_most_commands_are_run() -> None:
    commands = [(page, command) for page, path in PAGES.items() for command in commands_of(path)]
    assert len(commands) > 70
    assert sum(_which(NOT_RUN, page, command) is None for page, command in commands) > 0.75 * len(commands)


def test_what_is_not_true_is_noticed(capfd: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    right = "5 + 6 = 11\n12 templates, 6 steps, engine templates"
    check(Command("a page", "bitwright add 5 6", right), capfd)
    check(Command("a page", "echo to and fro | bitwright run examples/subleq/echo.sq -q", "to and fro"), capfd)
    check(Command("a page", "bitwright add 5 x || echo exit code $?", "...\nexit code 2"), capfd)
    for command, code in (
        (Command("a page", "bitwright add 5 6", right.replace("11", "12")), 0),
        (Command("a page", "bitwright show addition --bits 2", "bits"), 0),
        (Command("a page", "bitwright add 5 6", right), 1),
        (Command("a page", "echo to and fro | bitwright run examples/subleq/echo.sq -q", "to and"), 0),
        (Command("a page", "bitwright add 5 x || echo exit code $?", "...\nexit code 1"), 0),
    ):
        with pytest.raises(AssertionError):
            check(command, capfd, code)
