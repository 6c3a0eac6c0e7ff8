"""The command line, asked in this process."""

import json
from typing import Any

import pytest

from bitwright.cli.main import main

Captured = pytest.CaptureFixture[str]


def call(capsys: Captured, command: str = "", *more: object) -> tuple[int, str, str]:
    """The exit code of a command and what it printed on both streams. Its first words may be one text."""
    capsys.readouterr()
    code = main([*command.split(), *map(str, more)])
    return code, *capsys.readouterr()


def answer(capsys: Captured, command: str, *more: object) -> str:
    code, out, err = call(capsys, command, *more)
    assert code == 0, err
    return out


def document(capsys: Captured, command: str, *more: object) -> Any:
    """What is printed with `--json`, whatever the exit code."""
    return json.loads(call(capsys, command, *more, "--json")[1])


def ask(capsys: Captured, code: int, *arguments: object) -> str:
    """What a command prints that ends with this code, on the one stream or the other."""
    found, out, err = call(capsys, "", *arguments)
    assert found == code, out + err
    return out or err


def refusal(capsys: Captured, command: str, *more: object) -> str:
    """What is said to bad input: exit 2, nothing on stdout, a single line on stderr."""
    code, out, err = call(capsys, command, *more)
    assert (code, out) == (2, "")
    assert err.startswith("bitwright: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    return err
