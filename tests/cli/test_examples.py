"""`bitwright examples` gives whoever has only the package the files that pages and help speak of."""

import re
from pathlib import Path

import click
import pytest
from calling import Captured

from bitwright.cli.main import VERBS, cli, main
from bitwright.common.errors import InputError
from bitwright.verbs import examples

ROOT = Path(__file__).parents[2]
KEPT = [
    path
    for folder in ("examples", "sceptic")
    for path in (ROOT / folder).rglob("*")
    if path.is_file() and "__pycache__" not in path.parts
]
MENTIONED = re.compile(r"\b(?:examples|sceptic)/[\w./-]*\.(?:bw|sbn|sq|py|ipynb|yaml)\b")


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def said(capsys: Captured, *arguments: str, code: int = 0) -> str:
    assert main(arguments) == code
    out, err = capsys.readouterr()
    return out if code == 0 else err


def test_they_are_written_as_they_are(capsys: Captured) -> None:
    assert said(capsys, "examples").startswith(f"wrote {len(KEPT)} files into examples and sceptic\ntry, here:\n")
    assert len(KEPT) > 50
    assert {path for path in Path().rglob("*") if path.is_file()} == {path.relative_to(ROOT) for path in KEPT}
    for path in KEPT:
        assert path.relative_to(ROOT).read_bytes() == path.read_bytes()


def test_what_is_said_to_try_works(capsys: Captured) -> None:
    out = said(capsys, "examples")
    tries = [line.split() for line in out.splitlines() if line.startswith("  bitwright ")]
    assert len(tries) >= 3
    for _, *arguments in tries:
        said(capsys, *arguments)
    [notebook] = re.findall(r"jupyter lab (\S+)", out)
    assert Path(notebook).exists()


def test_every_file_that_pages_and_help_name_is_among_them() -> None:
    context = click.Context(cli)
    commands = [command for verb in VERBS if (command := cli.get_command(context, verb))]
    pages = [path for path in (ROOT / "docs").rglob("*.md") if not {"_build", "generated"} & set(path.parts)]
    texts = [command.help or "" for command in (cli, *commands)] + [path.read_text() for path in pages]
    named = {name for text in texts for name in MENTIONED.findall(text)}
    assert len(named) > 15
    assert named <= {one.name for one in examples.example_files()}


def test_the_same_files_are_left_alone_and_others_are_not_replaced(capsys: Captured) -> None:
    said(capsys, "examples")
    assert said(capsys, "examples").startswith(f"all {len(KEPT)} files exist already in examples and sceptic\n")
    own, gone = Path("examples/gray.bw"), Path("examples/sbn/gcd.sbn")
    wanted = own.read_bytes()
    own.write_text("# mine\n")
    gone.unlink()
    line = said(capsys, "examples", code=2)
    assert line == (
        "bitwright: examples/gray.bw exists and differs from the example; nothing was written. "
        "Choose another folder, or delete the files to be replaced\n"
    )
    assert own.read_text() == "# mine\n"
    assert not gone.exists()
    own.unlink()
    assert said(capsys, "examples").startswith(
        f"wrote 2 files into examples and sceptic; {len(KEPT) - 2} existed already\n"
    )
    assert own.read_bytes() == wanted


def test_what_editors_and_python_leave_is_no_example(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "kept" / "examples"
    for name in ("a.bw", "sbn/b.py", "sbn/__pycache__/b.cpython-311.pyc", ".ipynb_checkpoints/c.ipynb", "trace.html"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    (tmp_path / "kept" / "sceptic").mkdir()
    (tmp_path / "kept" / "sceptic" / "check_network.py").write_text("")
    monkeypatch.setattr(examples, "_PLACES", (tmp_path / "nowhere", tmp_path / "kept"))
    names = [one.name for one in examples.example_files()]
    assert names == ["examples/a.bw", "examples/sbn/b.py", "sceptic/check_network.py"]
    monkeypatch.setattr(examples, "_PLACES", (tmp_path / "nowhere",))
    with pytest.raises(InputError, match="has no examples"):
        examples.example_files()
