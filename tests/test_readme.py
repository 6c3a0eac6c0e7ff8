"""What the README shows is what the commands print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bitwright.cli.main import main

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def sessions() -> list[tuple[str, str]]:
    """Commands and the output printed below each, from the blocks that start with a prompt."""
    found = []
    for block in re.findall(r"```\n(\$ .*?)```", README, flags=re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output.strip()))
    return found


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("readme")


def test_there_is_something_to_check() -> None:
    assert len(sessions()) >= 6


@pytest.mark.parametrize(("command", "output"), sessions())
def test_the_readme_is_true(
    command: str,
    output: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    workplace: Path,
) -> None:
    monkeypatch.chdir(ROOT)
    program, *arguments = command.split()
    if program == "cat":
        assert (ROOT / arguments[0]).read_text().strip() == output
        return
    assert program == "bitwright"
    if any(argument.endswith(".safetensors") for argument in arguments):
        monkeypatch.chdir(workplace)
    assert main(arguments) == 0
    if arguments[0] == "train":
        return
    captured = capsys.readouterr()
    printed = settled((captured.out + captured.err).strip())
    assert settled(output) in (printed, settled(captured.out.strip()))


def settled(text: str) -> str:
    """Without what depends on the order in which a machine adds up while it trains."""
    passing = r"sha256 [0-9a-f]{64}$|^  distance  .*$|^training a network on the spot.*\n"
    return re.sub(passing, "", text, flags=re.MULTILINE)


def test_the_python_in_the_readme_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    [code] = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    for line in code.splitlines():
        expression, _, comment = line.partition("#")
        if comment and "=" not in expression.split("(")[0]:
            scope: dict[str, object] = {}
            exec("from bitwright import *", scope)
            assert repr(eval(expression, scope)) == comment.strip(), line
    exec(code, {})
