"""Verbs whose work Python has too: the same functions, so the same answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bitwright as bw
from bitwright.cli.main import main

SMALL = bw.addition(2)
STATES = bw.executions(SMALL, "states", states=300)


def said(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    capsys.readouterr()
    main([*map(str, arguments), "--json"])
    return json.loads(capsys.readouterr().out)


def test_infer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    STATES.save(tmp_path / "states.npz")
    told = said(capsys, "infer", tmp_path / "states.npz", "--blocks", "find", "-o", tmp_path / "found.bw")
    found = bw.infer(STATES)
    assert found.recovered is not None
    assert (found.program().id, found.recovered.confirmed) == (told["program_id"], told["confirmed"])
    assert found.program() == SMALL.program
    assert found.text() == (tmp_path / "found.bw").read_text()
    (tmp_path / "layout.bw").write_text(SMALL.text())
    blocks = (SMALL, SMALL.program, tmp_path / "layout.bw", "p[1] q[1]; p[2] q[2]; c[1]; c[2]")
    for asked in (*blocks, [["p[1]", "q[1]"], ["p[2]", "q[2]"], ["c[1]"], ["c[2]"]]):
        assert bw.infer(tmp_path / "states.npz", asked).program() == SMALL.program
    assert "input p" in bw.infer(STATES, SMALL).text()  # of an algorithm, what goes in and out too


def test_what_cannot_be_inferred() -> None:
    after = STATES.after.copy()
    after[7] ^= True
    wrong = bw.infer(bw.Executions(STATES.before, after, STATES.names), SMALL)
    assert not wrong.explained
    assert not wrong.determined
    assert "and no rule with these blocks can have written it" in str(wrong.reason)
    for call in (wrong.program, wrong.text, lambda: wrong.compare(SMALL)):
        with pytest.raises(bw.InputError, match=r"there are no rules to give: .* is on after state"):
            call()
    few = bw.infer(bw.executions(SMALL, "states", states=5), SMALL)
    with pytest.raises(bw.InputError, match="give more states, or take what is undetermined as off or on"):
        few.program("refuse")
    for blocks, message in ((3, "blocks are an algorithm, .* got a int"), (bw.addition(3), "addition has other bits")):
        with pytest.raises(bw.InputError, match=message):
            bw.infer(STATES, blocks)  # type: ignore[arg-type]
    with pytest.raises(bw.InputError, match=r"give executions, or the .npz file"):
        bw.infer(3)  # type: ignore[arg-type]


def test_boards(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    boards = np.random.default_rng(1).random((60, 9)) < 0.5
    names = tuple(f"x[{place}]" for place in range(1, 10))
    held = bw.Executions(boards, boards, names)
    held.save(tmp_path / "boards.npz")
    told = said(capsys, "infer", tmp_path / "boards.npz", "--grid", "3x3", "--neighbourhood", "von-neumann")
    assert bw.infer_local_rule(held, 3, 3, "von-neumann").writes == told["on"]


@pytest.mark.parametrize(
    ("options", "given"),
    [
        ([], {}),
        (["--domain", "runs", "--seed", "3"], {"domain": "runs", "seed": 3}),
        (["--padding", "5", "--delta", "0.2"], {"padding": 5, "delta": 0.2}),
        (["--cells", "--tile", "2"], {"cells": True, "tile": 2}),
    ],
)
def test_widths(capsys: pytest.CaptureFixture[str], options: list[str], given: dict[str, Any]) -> None:
    told = said(capsys, "size", "addition", "--bits", "2", "--network", *options)
    found = bw.network_width(SMALL, **given)
    assert (found.expected, found.covering) == (told["width"], told["width_covering"])
    assert (found.examples, found.program_id) == (told["examples"], told["program_id"])


def test_widths_that_cannot_be() -> None:
    with pytest.raises(bw.InputError, match="leave out domain and padding"):
        bw.network_width(SMALL, cells=True, domain="runs")
    with pytest.raises(bw.InputError, match="there is no domain 'walks'"):
        bw.network_width(SMALL, domain="walks")
    with pytest.raises(bw.InputError, match="the seed is 0 or more"):
        bw.network_width(SMALL, seed=-1)


@pytest.mark.parametrize(
    ("options", "given"),
    [
        (["--scope", "input"], {"scope": "input"}),
        (["--scope", "runs", "--unmasked"], {"scope": "runs", "masked": False}),
        (["--cells", "--scope", "input"], {"cells": True, "scope": "input"}),
    ],
)
def test_sizes(capsys: pytest.CaptureFixture[str], options: list[str], given: dict[str, Any]) -> None:
    told = said(capsys, "size", "addition", "--bits", "2", *options)
    found = bw.ensemble_sizes(SMALL, **given)
    assert {name: told[name] for name in found} == found
    with pytest.raises(bw.InputError, match="masked is for whole states"):
        bw.ensemble_sizes(SMALL, cells=True, masked=False)
    with pytest.raises(bw.InputError, match="inputs"):
        bw.ensemble_sizes(SMALL, scope="all")


def test_one_proof_for_several_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    told = said(capsys, "certify", "addition", "--cells", "--sizes", "1..6")
    found = bw.certify([bw.addition(bits) for bits in range(1, 7)], cells=True)
    assert (found.program_id, found.verdict) == (told["program_id"], "certified")
    assert found.program_id != bw.certify(bw.addition(1), cells=True).program_id
    with pytest.raises(bw.InputError, match="one proof for 2 programs is one of their cells; add cells=True"):
        bw.certify([SMALL, bw.addition(3)])
    with pytest.raises(bw.InputError, match="at least one program"):
        bw.certify([], cells=True)


@pytest.mark.parametrize("tile", [1, 2])
def test_kinds_of_cells(capsys: pytest.CaptureFixture[str], tile: int) -> None:
    told = said(capsys, "show", "multiplication", "--bits", "4", "--cells", "--tile", tile)
    found = bw.cell_kinds(bw.multiplication(4), tile)
    assert (found.cells, found.pattern.program.id) == (told["cell_count"], told["pattern_id"])
    assert [(kind.cells, list(kind.first)) for kind in found.kinds] == [
        (k["cells"], k["first"]) for k in told["tables"]
    ]
    with pytest.raises(bw.InputError, match="tile is a whole number from 1 to 16"):
        bw.cell_kinds(SMALL, 17)


@pytest.fixture(scope="module")
def cells() -> Any:
    return bw.train(SMALL)


@pytest.mark.parametrize("name", ["adder.c", "adder.mjs", "adder.onnx"])
def test_exports(tmp_path: Path, capsys: pytest.CaptureFixture[str], cells: Any, name: str) -> None:
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
        assert (done.about["proved"], done.about["states"]) == (True, document["states"])
        assert (tmp_path / name).read_bytes() == (told / name).read_bytes()


def test_exports_of_whole_states_and_pages(tmp_path: Path, cells: Any) -> None:
    network = bw.train(SMALL, cells=False, integer=True, width=256)
    for name in ("a.c", "a.onnx"):
        assert all(file.exists() for file in bw.export(network, tmp_path / name, SMALL).files)
    done = bw.export(network, tmp_path / "p", SMALL, to="vnnlib", states=range(3, 9), version="2.0")
    assert all(file.exists() for file in done.files)
    assert (done.about["properties"], done.about["states"]) == (6, 64)
    assert bw.export(cells, tmp_path / "a.html", SMALL, inputs={"p": 3}).about["view"] == "numbers"
    flood = bw.parse_node_program("bits x\nblock x\nwhen x=1 write x far.x\ninput source = x", "flood")
    page = bw.export(bw.train(flood), tmp_path / "b.html", flood, graph="path:4")
    assert (page.about["view"], page.about["proved"]) == ("graph", True)


def test_what_cannot_be_exported(tmp_path: Path, cells: Any) -> None:
    trained = bw.train(SMALL, cells=False, width=256)
    wrong: list[tuple[Any, str, dict[str, Any], str]] = [
        (cells, "a.txt", {}, "the file to write ends in .c or .mjs"),
        (cells, "a.c", {"to": "onnx"}, "the file to write ends in .onnx, got"),
        (cells, "a.c", {"to": "cc"}, "networks are exported to c, js.* got 'cc'"),
        (3, "a.c", {}, "give one network, or the path of its file, got a int"),
        (trained.weights, "a.c", {}, "say which program the network was trained for"),
        (trained, "a.c", {"what": SMALL}, "of networks of whole numbers; quantize this one first"),
        (trained, "a", {"what": SMALL, "to": "vnnlib"}, "quantize this one first"),
        (cells, "a.c", {"states": range(3)}, "states and version go with to=.vnnlib.; leave them out"),
        (cells, "a.c", {"graph": "path:3"}, "graph and inputs go with pages"),
        (cells, "a.html", {}, "needs a program to run"),
        (cells, "a.html", {"what": SMALL, "graph": "path:3"}, "graph goes with node programs"),
        (cells, "a", {"what": SMALL, "to": "vnnlib"}, "leave out the program"),
        (cells, "a.c", {"what": bw.permutation([2, 1])}, "no cell like"),
    ]
    for network, name, more, message in wrong:
        with pytest.raises(bw.InputError, match=message):
            bw.export(network, tmp_path / name, **more)
    assert not list(tmp_path.iterdir())
