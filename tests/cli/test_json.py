"""JSON of all verbs: the same thing has the same name everywhere."""

import re
from pathlib import Path

import pytest
from calling import Captured, document
from facts import missing

from bitwright import parse
from bitwright.cli.main import main

ROOT = Path(__file__).parents[2]
ONE = "# one\nbits a\nblock a\nwhen a=1 write a\ninput a\noutput a\nsteps 1\n"


@pytest.fixture
def one(tmp_path: Path) -> Path:
    path = tmp_path / "one.bw"
    path.write_text(ONE)
    return path


def requests(one: Path) -> dict[str, tuple[object, ...]]:
    return {
        "add": ("add", 5, 6),
        "multiply": ("multiply", 5, 6),
        "permute": ("run", "permutation", "p=5", "--order", "3,1,2"),
        "run": ("run", one, "a=1"),
        "run sampled": ("run", one, "a=1", "--engine", "sampled", "--seed", 7, "--networks", 99),
        "run .sbn": ("run", ROOT / "examples/sbn/add.sbn", "a=1", "b=2"),
        "run .sq": ("run", ROOT / "examples/subleq/hello.sq", "--memory", "0:2"),
        "trace": ("trace", one, "a=1"),
        "show": ("show", one),
        "check": ("check", one),
        "export": ("export", one, "-o", one.with_suffix(".npz")),
    }


def test_every_document_says_which_program_it_is_about(capsys: Captured, one: Path) -> None:
    for verb, arguments in requests(one).items():
        found = document(capsys, *arguments)
        assert isinstance(found["name"], str), verb
        if one in arguments:
            assert (found["name"], found["program_id"]) == ("one", parse(ONE).program.id), verb
        assert re.fullmatch(r"[0-9a-f]{64}", str(found["program_id"])), verb
        if verb.startswith(("run", "add", "multiply", "permute", "trace")):
            assert found["seed"] == (7 if verb == "run sampled" else None), verb
            assert ("inputs" in found) == (verb != "run .sq"), verb


def test_warnings_as_json(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "odd.bw"
    path.write_text("bits a b\nblock a\nblock b\nwhen a=1 write a\nwhen b=1 write a\ninput a\n")
    found = document(capsys, "check", path)
    assert (found["ok"], found["problems"]) == (True, [])
    (warning,) = found["warnings"]  # type: ignore[misc]
    assert (warning["line"], warning["column"]) == (5, 1)
    assert "b can never be on" in warning["message"]
    assert main(["check", str(path)]) == 0
    out, err = capsys.readouterr()
    assert missing(out + err, f"{path} 1 warning {path}:5:1: warning:") == []
    assert main(["check", str(path), "-q"]) == 0
    assert capsys.readouterr() == ("", "")


def test_many_warnings_are_not_a_flood(capsys: Captured, tmp_path: Path) -> None:
    path, names = tmp_path / "odd.bw", [f"x{i}" for i in range(30)]
    blocks = "".join(f"block {name}\n" for name in ("a", *names))
    path.write_text(f"bits a {' '.join(names)}\n{blocks}when a=1 write a\ninput a\noutput a\n")
    assert main(["check", str(path)]) == 0
    err = capsys.readouterr().err
    assert (len(err.splitlines()), missing(err, "10 --json")) == (21, [])
