"""Networks of cells on the command line: trained once, proved, and used at every size."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from calling import Captured, answer, call, refusal
from cases import for_each
from programs import EXAMPLES

from bitwright.cli.main import main


@pytest.fixture(scope="module")
def multiplier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("cells") / "mul.safetensors"
    assert main(["train", "multiplication", "--sizes", "1..12", "-o", str(file), "-q"]) == 0
    return file


@pytest.mark.parametrize(("a", "b"), [(0, 0), (1, 1), (3, 4), (719, 483), (12345678901234567890, 98765432109876543210)])
def test_one_file_multiplies_numbers_of_any_length(multiplier: Path, capsys: Captured, a: int, b: int) -> None:
    code, out, _ = call(capsys, "multiply", a, b, "--engine", "network", "--network", multiplier, "-q")
    assert (code, int(out)) == (0, a * b)


def test_the_report_says_what_stands_behind_it(multiplier: Path, capsys: Captured) -> None:
    _, _, err = call(capsys, "multiply 5 7 --engine network --network", multiplier)
    assert "kinds of cells, proved on all" in err
    code, out, err = call(capsys, "multiply 5 7 --engine network --network", multiplier, "--evaluate", "--json")
    found = json.loads(out)
    assert (code, found["value"]) == (0, 35)
    assert found["cells"]["proved"] is True
    assert found["cells"]["evaluated"] is True
    assert found["margin"] >= found["cells"]["margin"] > 0


def test_the_default_network_is_that_of_cells_and_whole_asks_for_the_other(capsys: Captured) -> None:
    _, out, err = call(capsys, "add 5 9 --engine network")
    assert out.strip() == "5 + 9 = 14"
    assert "kinds of cells" in err
    _, out, err = call(capsys, "add 5 9 --engine network --tile all")
    assert out.strip() == "5 + 9 = 14"
    assert "kinds of cells" not in err
    assert "smallest margin" in err


def test_a_proof_for_every_size(multiplier: Path, capsys: Captured, tmp_path: Path) -> None:
    file = tmp_path / "mul.json"
    code, out, err = call(capsys, "certify multiplication --network", multiplier, "--sizes", "1..30", "-o", file)
    assert code == 0
    assert "every program made of these kinds of cells; this program was checked at 1..30 bits\n" in out
    assert "all cells of multiplication at the sizes 1..30 are of the network's kinds" in err
    assert "came out the same" in answer(
        capsys, "certify multiplication --tile 1 --network", multiplier, "--check", file
    )
    code, out, _ = call(capsys, "certify multiplication --network", multiplier, "--json")
    found = json.loads(out)
    assert (found["certified"], found["domain"], found["wrong"]) == (True, "cells", 0)
    assert found["local_states"] == found["states"]
    assert found["kinds"] >= 5


def has_cuda() -> bool:
    return bool(pytest.importorskip("torch").cuda.is_available())


def test_a_device_that_is_not_there_is_named(multiplier: Path, capsys: Captured) -> None:
    if has_cuda():
        pytest.skip("there is a CUDA device here")
    code, _, err = call(capsys, "certify multiplication --network", multiplier, "--device", "cuda")
    assert code == 2
    assert err.splitlines()[-1].endswith("this machine has no CUDA device that PyTorch can use; use the device cpu")


@pytest.mark.gpu
def test_the_same_proof_on_a_gpu(multiplier: Path, capsys: Captured) -> None:
    if not has_cuda():
        pytest.skip("needs a CUDA device")
    asked = ("certify", "multiplication", "--tile", "1", "--network", multiplier, "--json", "--device")
    (code, cpu, _), (again, cuda, _) = call(capsys, *asked, "cpu"), call(capsys, *asked, "cuda")
    assert code == again == 0
    assert {**json.loads(cpu), "seconds": 0} == {**json.loads(cuda), "seconds": 0}


def test_a_network_that_is_wrong_somewhere_is_refuted(capsys: Captured, tmp_path: Path) -> None:
    """Two bits a weight are too few for tiles of four; training says so, and the proof does."""
    file = tmp_path / "bad.safetensors"
    options = ("--tile", 4, "--bits", 8, "--weight-bits", 2, "--width", 64)
    code, _, err = call(capsys, "train addition", *options, "-o", file)
    assert code == 1
    assert "local states come out wrong after 10 seeds; use a wider network, or weights of up to 8 bits" in err
    code, out, _ = call(capsys, "certify addition --bits 8 --network", file)
    assert code == 1
    assert out.startswith("REFUTED")
    assert "_port[" in out
    words = shlex.split(out[out.index("bitwright certify") :].splitlines()[0])
    code, shown, _ = call(capsys, words[1], words[2], "--bits", 8, *words[3:])
    assert code == 1
    assert "WRONG" in shown
    assert "must be" in shown


def test_a_rule_file_in_every_size(capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    net = tmp_path / "gray.safetensors"
    assert call(capsys, "train examples/gray.bw --sizes l=1..9 -o", net, "-q")[0] == 0
    number = 2**59 + 12345
    options = ("--engine", "network", "--network", net, "-q")
    code, out, _ = call(capsys, "run examples/gray.bw --let l=60", f"x={number}", *options)
    assert (code, int(out)) == (0, number ^ number >> 1)
    assert call(capsys, "certify examples/gray.bw --network", net, "--sizes", "l=10..70")[0] == 0


def test_show_lists_kinds_and_prints_the_pattern(capsys: Captured, tmp_path: Path) -> None:
    out = answer(capsys, "show addition --bits 8 --tile 1")
    assert out.startswith("addition: 8 cells of 2 kinds; 8 examples, 16 local states")
    pattern = tmp_path / "pattern.bw"
    pattern.write_text(out[out.index("#") :])
    _, out, _ = call(capsys, "show", pattern, "--json")
    assert json.loads(out)["templates"] == 8
    _, out, _ = call(capsys, "show addition --bits 8 --tile 4 --json")
    found = json.loads(out)
    assert (found["cell_count"], len(found["tables"]), found["examples"], found["local_states"]) == (2, 2, 32, 8_192)


@for_each(
    ("arguments", "message"),
    [
        (["train", "addition", "--tile", "some"], "--tile is an integer from 1 to 16, or all"),
        (["train", "--tile", "all", "addition", "--sizes", "1..3"], "--sizes goes with networks of cells"),
        (["train", "addition", "--sizes", "0..3"], "at least 1"),
        (["train", "addition", "--sizes", "5..3"], "at least 1"),
        (["train", "addition", "--sizes", "any"], "a range such as 1..64"),
        (["train", "addition", "--bits", "9", "--tile", "4"], "a tile of 4 does not divide the 9 cells"),
        (["train", "addition", "--float", "--networks", "2"], "2 networks go into a folder, got the file name"),
        (["train", "examples/gray.bw", "--sizes", "k=1..4"], "has no line 'let k'"),
    ],
)
def test_what_does_not_go_together(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    assert message in refusal(capsys, *arguments, "-o", tmp_path / "net.safetensors")


def test_a_file_of_cells_says_so(multiplier: Path, capsys: Captured) -> None:
    assert "trained for cells of 5 kinds (33 examples, 345 local states)" in answer(capsys, "show", multiplier)
    out = answer(capsys, "validate multiplication --bits 3 --engine network --network", multiplier, "--json")
    assert json.loads(out)["cells"]["proved"] is True


def test_networks_of_something_else_are_refused(multiplier: Path, capsys: Captured, tmp_path: Path) -> None:
    assert "this network has no cell like that of" in refusal(capsys, "add 3 4 --engine network --network", multiplier)
    assert "cells is the only domain of a network of cells" in refusal(
        capsys, "certify multiplication --network", multiplier, "--domain", "runs"
    )
    whole = tmp_path / "whole.safetensors"
    assert call(capsys, "train --tile all addition --bits 2 --width 256 --integer -o", whole, "-q")[0] == 0
    assert "--tile does not go with --network" in refusal(capsys, "certify addition --tile 1 --network", whole)


@pytest.mark.parametrize(
    ("engine", "said"),
    [
        (["limit"], "the limit of wide networks for 2 kinds of cells, proved on all 16 local states"),
        (["kernel"], "the limit of wide networks for 2 kinds of cells, right in all 16 local states"),
        (["sampled", "--networks", "20"], "20 networks of infinite width for 2 kinds of cells, right in all 16"),
        (["network"], "one network of width 32 for 2 kinds of cells, proved on all 16 local states"),
        (["network", "--networks", "2"], "2 networks of width 128 for 2 kinds of cells, right in all 16 local states"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else "",
)
def test_every_engine_goes_cell_by_cell(capsys: Captured, engine: list[str], said: str) -> None:
    code, out, err = call(capsys, "add 719 483 --tile 1 --engine", *engine)
    assert (code, out.strip()) == (0, "719 + 483 = 1202")
    assert said in err
    code, out, _ = call(capsys, "validate addition --bits 3 --tile 1 --engine", *engine, "--json")
    found = json.loads(out)
    assert (code, found["exact"], found["engine"], found["examples"]) == (0, True, engine[0], 8)
    assert found["cells"]["wrong"] == 0
    code, out, _ = call(capsys, "trace addition p=3 q=1 --tile 1 --evaluate --engine", *engine, "--json")
    found = json.loads(out)
    assert (code, found["value"], found["cells"]["evaluated"]) == (0, 4, True)


def test_a_wrong_ensemble_says_so_and_how_to_see_it(capsys: Captured) -> None:
    """One network of tiles of three is wrong for some seeds; the command of a failure takes cells and tile along."""
    options = ("--tile", 3, "--engine", "sampled", "--quiet")
    for seed in range(30):
        code, out, _ = call(capsys, "validate addition --bits 3", *options, "--seed", seed)
        if code == 1:
            break
    assert out.strip() == "not exact"
    _, out, _ = call(capsys, "validate addition --bits 3", *options, "--seed", seed, "--json")
    words = shlex.split(json.loads(out)["failures"][0]["command"])
    assert {"--tile", "3"} <= set(words)
    code, _, err = call(capsys, *words[1:])
    assert code == 1
    assert re.search("smallest margin -.*WRONG in .* local states, (some of )?which occurred", err, re.DOTALL)
    assert "use more networks" in err


@for_each(
    ("arguments", "message"),
    [
        (["--engine", "templates", "--tile", "1"], "--tile goes with --engine limit or kernel or sampled or network"),
        (["--tile", "1"], "--tile goes with --engine limit or kernel or sampled or network, not templates"),
        (["--engine", "network", "--tile", "1", "--rounding", "sign"], "leave out --rounding sign"),
        (["--engine", "network", "--tile", "1", "--device", "cuda"], "--device goes with networks of the whole state"),
        (["--engine", "network", "--tile", "2", "--network", "FILE"], "leave out --tile"),
    ],
)
def test_where_cells_make_no_sense(multiplier: Path, capsys: Captured, arguments: list[str], message: str) -> None:
    given = [{"FILE": str(multiplier)}.get(word, word) for word in arguments]
    assert message in refusal(capsys, "add 130 4", *given, "-q")


def test_sizes_and_ensembles_of_cells(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    out = answer(capsys, "size multiplication --bits 30 --tile 1")
    assert out.startswith("cells of multiplication: networks to average for all 345 local states of 5 kinds")
    code, out, _ = call(capsys, "size multiplication --bits 30 --tile 1 --json")
    found = json.loads(out)
    assert (found["examples"]["calibrated"], found["n_max"], found["n_source"]) == (33, 5, "cells")
    options = ("--width", 256, "--delta", 0.01, "--json")
    code, out, _ = call(capsys, "train addition --ensemble", *options)
    found = json.loads(out)
    assert (code, found["states"], found["examples"], found["accuracy"]) == (0, 16, 8, 1.0)
    code, out, _ = call(capsys, "train addition --ensemble --tile 2 --bits 8 --states 40", *options)
    assert json.loads(out)["states"] == 40


@for_each(
    ("arguments", "message"),
    [
        (["size", "addition", "--tile", "1", "--n", "declared"], "are for whole states"),
        (["size", "addition", "--tile", "1", "--delta", "1.5"], "delta must lie between 0 and 1, got 1.5"),
        (["train", "addition", "--ensemble", "--ones", "2"], "cells have none"),
        (["train", "invert.bw", "--ensemble"], "a cell with all bits off matches"),
        (["certify", "addition", "--tile", "1", "--n", "declared"], "--n does not go with cells"),
        (["certify", "addition", "--tile", "99"], "--tile is an integer from 1 to 16, or all"),
    ],
)
def test_what_does_not_go_with_sizes_of_cells(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("invert.bw").write_text("bits x[3]\nblock x[i] for i in 1..3\nwhen x[i]=0 write x[i] for i in 1..3\n")
    assert message in refusal(capsys, *arguments)


def test_a_certificate_has_the_sizes_that_were_looked_at(multiplier: Path, capsys: Captured, tmp_path: Path) -> None:
    file, plain = tmp_path / "sizes.json", tmp_path / "plain.json"
    proof = ("certify", "multiplication", "--network", multiplier)
    out = answer(capsys, *proof, "--sizes", "2..9", "-o", file)
    assert "checked at 2..9 bits" in out
    assert json.loads(file.read_text())["sizes"] == "2..9"
    code, out, err = call(capsys, *proof, "--check", file)
    assert code == 0
    assert "at the sizes 2..9 are of the network's kinds" in err
    assert call(capsys, *proof, "-o", plain)[0] == 0
    document = json.loads(plain.read_text())
    assert document.pop("sizes") == "all"
    document.pop("links")
    assert call(capsys, *proof, "--check", plain)[0] == 0
    plain.write_text(json.dumps(document))  # as earlier versions wrote it
    assert call(capsys, *proof, "--check", plain)[0] == 0
    pairs, path = tmp_path / "pairs.safetensors", tmp_path / "pairs.json"
    assert call(capsys, "train addition --tile 2 --bits 4 -o", pairs, "-q")[0] == 0
    proof = ("certify", "addition", "--bits", 4, "--network", pairs)
    assert call(capsys, *proof, "--sizes", "4", "-o", path)[0] == 0
    document = json.loads(path.read_text())
    for sizes, reason in (("4..5", "this network has no cell like"), ("l=1..2", "such as --sizes 1..64")):
        path.write_text(json.dumps(document | {"sizes": sizes}))
        code, out, _ = call(capsys, *proof, "--check", path)
        assert code == 1
        assert out.startswith(f"DOES NOT HOLD: the certificate says sizes = {sizes}, but ")
        assert reason in out
    path.write_text(json.dumps(document | {"sizes": "any"}))
    assert "sizes must be null or all, or a range of sizes, such as 1..64" in refusal(capsys, *proof, "--check", path)
    path.write_text(json.dumps(document | {"sizes": "all"}))  # two cells as one: the theorem is not about those
    code, out, _ = call(capsys, *proof, "--check", path)
    assert code == 1
    assert "sizes = all" in out


def test_a_proof_taken_up_says_what_was_done_before(multiplier: Path, capsys: Captured, tmp_path: Path) -> None:
    proof = ("certify", "multiplication", "--network", multiplier, "--resume", tmp_path / "begun")
    code, _, err = call(capsys, *proof)
    assert code == 0
    assert "before" not in err
    code, _, err = call(capsys, *proof)
    assert code == 0
    assert f"345 of 345 local states had been tried before, as {tmp_path / 'begun'} says" in err


def test_blocks_and_cells_without_rules_are_counted(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "spare.bw"
    path.write_text(
        "bits a b[3] c[2]\nblock a\nblock b[i] for i in 1..3\nblock c[i] for i in 1..2\n"
        "cell a b[*]\ncell c[i] for i in 1..2\nwhen a=1 write b[*] c[*]\ninput a\n"
    )
    out = answer(capsys, "show", path, "--tile", "1")
    assert out.splitlines()[:2] == [
        "spare: 1 cell of 1 kind (and 2 cells without rules); 1 example, 2 local states",
        "  kind 1: 1 cell, each 1 block, 1 example, 1 port, 2 local states; the first is a, b[1], b[2], b[3]; "
        "1 of its 4 blocks has rules",
    ]


def test_what_a_node_program_writes_elsewhere_is_no_cell_without_rules(capsys: Captured) -> None:
    _, out, _ = call(capsys, "show", EXAMPLES / "graphs" / "bfs.bw", "--tile", "1")
    assert "without rules" not in out
