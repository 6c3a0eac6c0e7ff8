"""Verbs whose work Python has too: the same functions, so the same answers."""

import json
from pathlib import Path
from typing import Any

import pytest
from calling import Captured
from calling import document as said
from long import LONG

import bitwright as bw
from bitwright.rules.text import RuleText
from bitwright.verbs.executions import Sample, dataset
from bitwright.verbs.sizes import in_sizes

ROOT = Path(__file__).parents[2]
SMALL = bw.addition(2)
PAGE = {"addition": {"bits": 10}}  # the size that a page begins with
STATES = bw.executions(SMALL, "states", states=300)


def test_infer(tmp_path: Path, capsys: Captured) -> None:
    STATES.save(tmp_path / "states.npz")
    told = said(capsys, "infer", tmp_path / "states.npz", "--blocks", "find", "-o", tmp_path / "found.bw")
    found = bw.infer(STATES)
    assert found.to_dict() | {"file": told["file"]} == told
    assert found.program() == SMALL.program
    assert found.text() == (tmp_path / "found.bw").read_text()
    for asked in (SMALL, SMALL.program, RuleText.of(SMALL.text()), "p[1] q[1]; p[2] q[2]; c[1]; c[2]"):
        assert bw.infer(STATES, asked).program() == SMALL.program
    assert "input p" in bw.infer(STATES, SMALL).text()  # of an algorithm, what goes in and out too


def test_what_cannot_be_inferred() -> None:
    after = STATES.after.copy()
    after[7] ^= True
    wrong = bw.infer(bw.Executions(STATES.before, after, STATES.names), SMALL)
    assert not wrong.inferred
    assert not wrong.determined
    assert "and no rule with these blocks can write it" in wrong.sentence
    for call in (wrong.program, wrong.text):
        with pytest.raises(bw.InputError, match=r"rules.*state"):
            call()
    for blocks, message in (
        (3, "blocks must be an algorithm, .* got an? int"),
        (bw.addition(3), "addition has the bits"),
    ):
        with pytest.raises(bw.InputError, match=message):
            bw.infer(STATES, blocks)  # type: ignore[arg-type]
    with pytest.raises(bw.InputError, match=r"\.npz"):
        bw.infer(3)  # type: ignore[arg-type]
    with pytest.raises(bw.InputError, match="at least one"):
        bw.infer([])


@pytest.mark.parametrize(
    ("options", "given"),
    [
        (["--domain", "input"], {"domain": "input"}),
        (["--domain", "runs"], {"domain": "runs"}),
        (["--padding", "5", "--delta", "0.2"], {"padding": 5, "delta": 0.2}),
    ],
)
def test_sizes(capsys: Captured, options: list[str], given: dict[str, Any]) -> None:
    told = said(capsys, "size", "addition", "--bits", "2", *options)
    assert bw.size(SMALL, **given).to_dict() == told


def test_sizes_that_cannot_be() -> None:
    for given, message in (
        ({"domain": "all"}, "inputs"),
        ({"padding": -1}, "padding must be"),
    ):
        with pytest.raises(bw.InputError, match=message):
            bw.size(SMALL, **given)


def test_one_proof_for_several_sizes(capsys: Captured) -> None:
    told = said(capsys, "certify", "addition", "--tile", "1", "--sizes", "1..6")
    found = bw.certify([bw.addition(bits) for bits in range(1, 7)], tile=1)
    assert (found.program_id, found.verdict) == (told["program_id"], "certified")
    assert found.program_id != bw.certify(bw.addition(1), tile=1).program_id
    assert bw.certify([SMALL, bw.addition(3)]).program_id == bw.certify([SMALL, bw.addition(3)], tile=1).program_id
    with pytest.raises(bw.InputError, match=r"single program.*2"):
        bw.certify([SMALL, bw.addition(3)], tile="all")
    with pytest.raises(bw.InputError, match=r"least.*program"):
        bw.certify([], tile=1)


def test_programs(capsys: Captured) -> None:
    for name in ("subtraction.bw", "graphs/bfs.bw"):
        file = ROOT / "examples" / name
        assert bw.open(file).to_dict() == said(capsys, "show", file)
        assert bw.check(file).to_dict() == said(capsys, "check", file)


def test_problems(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "wrong.bw").write_text("bits x y\nblock x y\nwhen x=1 write z\nwhen y=1 write w\ninput x")
    found = bw.check(tmp_path / "wrong.bw")
    assert found.to_dict() == said(capsys, "check", tmp_path / "wrong.bw")
    assert not found.ok
    assert str(found).splitlines()[-1] == f"{len(found.problems)} problems in {tmp_path / 'wrong.bw'}"


@pytest.mark.parametrize(
    ("options", "given"),
    [
        ([], {}),
        (["--padding", "3"], {"padding": 3}),
        (["--to", "executions"], {"executions": "runs"}),
        (["--from", "runs:4"], {"executions": Sample("runs", runs=4)}),
        (["--from", "states:20"], {"executions": Sample("states", states=20)}),
    ],
)
def test_datasets(tmp_path: Path, capsys: Captured, options: list[str], given: dict[str, Any]) -> None:
    told = said(capsys, "export", "addition", "--bits", "2", "-o", tmp_path / "told.npz", *options)
    found = dataset(SMALL, tmp_path / "found.npz", **given)
    assert found.to_dict() | {"file": told["file"]} == told
    assert (tmp_path / "found.npz").read_bytes() == (tmp_path / "told.npz").read_bytes()


@pytest.mark.parametrize(
    ("options", "given"),
    [
        ([], {}),
        (["--engine", "templates", "--random", "7"], {"engine": "templates", "random": 7}),
        (["--rounding", "sign", "--padding", "2", "--max-steps", "3"], {"rounding": "sign", "padding": 2, "steps": 3}),
        (["--engine", "sampled", "--networks", "3", "--seed", "2"], {"engine": "sampled", "networks": 3, "seed": 2}),
        (["--engine", "network", "--tile", "1"], {"engine": "network", "tile": 1}),
    ],
)
def test_validations(capsys: Captured, options: list[str], given: dict[str, Any]) -> None:
    told = said(capsys, "validate", "addition", "--bits", "2", *options)
    for one in (found := bw.validate(SMALL, **given).to_dict(), told):
        one.update(seconds=0)
    assert json.loads(json.dumps(found)) == told


@pytest.fixture(scope="module")
def cells() -> Any:
    return bw.train(SMALL)


@pytest.mark.parametrize("name", ["adder.c", "adder.mjs", "adder.onnx"])
def test_exports(tmp_path: Path, capsys: Captured, cells: Any, name: str) -> None:
    """The same bytes, from the network in memory and from its file, as on the command line."""
    net, told = tmp_path / "net.safetensors", tmp_path / "told"
    told.mkdir()
    cells.save(net)
    form = {".c": "c", ".mjs": "js", ".onnx": "onnx"}[Path(name).suffix]
    program = ("--program", "addition", "--bits", 5)
    document = said(capsys, "export", net, "--to", form, "-o", told / name, *program)
    for network in (cells, net):
        done = bw.export(network, tmp_path / name, bw.addition(5))
        assert [file.name for file in done.files] == [Path(file).name for file in document["files"]]
        assert done.to_dict() | {name: document[name] for name in ("file", "files")} == document
        assert done.about["proved"]
        assert (tmp_path / name).read_bytes() == (told / name).read_bytes()


@pytest.mark.parametrize("what", ["examples/subtraction.bw", *["addition"] * LONG])
def test_pages_of_programs(what: str, tmp_path: Path, capsys: Captured) -> None:
    """The same bytes from Python as from the command line."""
    target = ROOT / what if "/" in what else what
    held: Any = bw.open(target)
    sized = held.sizing is not None
    programs = in_sizes([held], range(1, 4) if sized else None).programs
    trained = bw.train(programs)
    trained.save(tmp_path / "net.safetensors")
    document = said(capsys, "export", tmp_path / "net.safetensors", "-o", tmp_path / "told.html", "--program", target)
    for given in (target, held.sizing.at(**PAGE.get(what, {})) if sized else target):
        done = bw.export(trained, tmp_path / "page.html", given)
        assert (tmp_path / "page.html").read_bytes() == (tmp_path / "told.html").read_bytes()
        assert done.to_dict() | {name: document[name] for name in ("file", "files")} == document
