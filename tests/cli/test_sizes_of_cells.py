"""Which sizes of a program were looked at, and which cells a network lacks: said in text, JSON and certificates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from calling import Captured, answer, call, refusal

# Every cell but the last hands its carry on, so that two sizes have two kinds and the size 1 has one of them.
CHAIN = """
let D = 2
bits d[D] c[D]
block d[i] c[i] for i in 1..D
when d[i]=1 c[i]=0 write d[i] for i in 1..D
when d[i]=0 c[i]=1 write d[i] for i in 1..D
when d[i]=1 c[i]=1 write c[i+1] for i in 1..D-1
when d[D]=1 c[D]=1 write d[D]
input d c
output d
steps D
"""
LACKING = (
    "this network has no cell like that of d[1], c[1] (1 block, 3 examples, 2 ports, 4 local states); its only kind "
    "has the same examples, but 1 port; train one on the cells of this program too: "
    "bitwright train k2.bw --sizes D=1..8 -o FILE"
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k2.bw").write_text(CHAIN)


@pytest.fixture
def one(capsys: Captured) -> str:
    """A network of the cells of the size 1."""
    assert call(capsys, "train k2.bw --let D=1 -o n.safetensors -q")[0] == 0
    return "n.safetensors"


@pytest.mark.parametrize("how", [("--sizes", "D=1"), ("--sizes", "D=1..1"), ("--let", "D=1")])
def test_the_size_that_was_looked_at_stands_everywhere(capsys: Captured, one: str, how: tuple[str, str]) -> None:
    asked = ("certify", "k2.bw", "--network", one, *how)
    code, out, err = call(capsys, *asked, "-o", "proof.json")
    assert code == 0
    assert "all cells of k2 at D=1 are of the network's kinds" in err
    assert "as it is" not in err
    assert "; this program was checked at D=1\n" in out
    assert json.loads(Path("proof.json").read_text())["sizes"] == "D=1"
    assert json.loads(call(capsys, *asked, "--json")[1])["sizes"] == "D=1"
    code, out, err = call(capsys, "certify k2.bw --network", one, "--check", "proof.json")
    assert code == 0
    assert "k2 at D=1 are of" in err
    assert "; this program was checked at D=1\n" in out


def test_a_size_of_the_file_itself_is_named_too(capsys: Captured) -> None:
    code, _, err = call(capsys, "train k2.bw --sizes D=1..3 -o n.safetensors")
    assert code == 0
    assert "other kinds" not in err
    for how, size in (((), "all"), (("--sizes", "D=5..5"), "D=5"), (("--sizes", "D=1..5"), "D=1..5")):
        code, out, err = call(capsys, "certify k2.bw --network n.safetensors", *how, "--json")
        assert (code, json.loads(out)["sizes"]) == (0, size)
        assert f"{'every size' if size == 'all' else size} are of the network's kinds" in err


def test_other_numbers_of_the_file_stand_beside_the_sizes(capsys: Captured, one: str) -> None:
    Path("k2.bw").write_text("let unused = 7\n" + CHAIN)
    asked = ("certify", "k2.bw", "--network", one)
    code, _, err = call(capsys, *asked, "--sizes", "D=1", "--let", "unused=3", "-o", "proof.json")
    assert code == 0
    assert "k2 at D=1,unused=3 are of" in err
    assert json.loads(Path("proof.json").read_text())["sizes"] == "D=1,unused=3"
    assert call(capsys, *asked, "--check", "proof.json")[0] == 0
    assert "names the sizes D=1,unused=3, which --check looks at; leave out --sizes" in refusal(
        capsys, *asked, "--check", "proof.json", "--sizes", "D=2"
    )
    for sizes, message in (("D=1,D=2", "D is given twice, by --sizes"), ("D=1..2,unused=1..2", "goes over one number")):
        assert message in refusal(capsys, *asked, "--sizes", sizes)


def test_the_limit_of_cells_says_its_sizes_and_its_pattern(capsys: Captured) -> None:
    _, out, _ = call(capsys, "certify k2.bw --tile 1 --let D=1")
    assert "; this program was checked at D=1\n" in out
    assert "\n  pattern   " in out
    found = json.loads(call(capsys, "certify k2.bw --sizes D=1..4 --json")[1])
    assert (found["sizes"], found["pattern_id"]) == ("D=1..4", found["program_id"])


def test_a_missing_kind_is_told_apart_and_the_cure_named(capsys: Captured, one: str) -> None:
    network = ("--network", one)
    for asked in (
        ("run", "k2.bw", "d=1", "c=2", "--engine", "network", *network),
        ("export", one, "--to", "c", "--program", "k2.bw", "-o", "k2.c"),
    ):
        code, _, err = call(capsys, *asked)
        assert (code, err) == (2, f"bitwright: {LACKING}\n")
    for how, size in (((), 2), (("--sizes", "D=1..5"), 2), (("--sizes", "D=5..5"), 5)):
        code, _, err = call(capsys, "certify k2.bw", *network, *how)
        lacking = LACKING.replace("D=1..8", how[1] if how else "D=1..8")
        assert (code, err) == (2, f"bitwright: k2 at D={size}: {lacking}\n")


def test_training_at_one_size_says_that_others_differ(capsys: Captured) -> None:
    _, _, err = call(capsys, "train k2.bw --let D=1 -o n.safetensors")
    assert "proved on all 4 local states" in err
    assert (
        "k2 at D=2 has cells of other kinds, which this network does not run; --sizes D=1..8 trains one on those too"
        in err
    )
    _, _, err = call(capsys, "train k2.bw -o n.safetensors")
    assert "other kinds" not in err
    _, _, err = call(capsys, "train addition --bits 1 -o n.safetensors")
    assert "addition at 2 bits has cells of other kinds" in err
    assert "--sizes 1..8 trains" in err


def test_a_range_needs_a_name_only_where_there_are_several_numbers(capsys: Captured) -> None:
    for sizes in ("1..5", "D=1..5"):
        assert call(capsys, "certify k2.bw --tile 1 --sizes", sizes)[1].count("all cells are of 2 kinds at D=1..5") == 1
    code, _, err = call(capsys, "train k2.bw --sizes 1..5 --let D=3 -o n.safetensors")
    assert (code, err) == (2, "bitwright: beside --let, --sizes names its number: --sizes NAME=1..5\n")
    Path("two.bw").write_text(CHAIN.replace("let D = 2", "let D = 2\nlet E = 1"))
    assert "write --sizes D=1..5" in refusal(capsys, "train two.bw --sizes 1..5 -o n.safetensors")


def test_bits_of_the_pattern_come_with_those_of_the_first_cell(capsys: Captured) -> None:
    options = ("--tile", 2, "--let", "D=4", "--weight-bits", 2, "--width", 16, "--seed", 1, "--descent", "momentum")
    assert call(capsys, "train k2.bw", *options, "-o", "bad.safetensors", "-q")[0] == 1
    asked = ("certify", "k2.bw", "--let", "D=4", "--network", "bad.safetensors")
    code, out, _ = call(capsys, *asked)
    assert code == 1
    lines = {line.split()[0]: line for line in out.splitlines()}
    found = json.loads(call(capsys, *asked, "--json")[1])
    wrong, names = found["counterexample"], found["names"]
    assert f"{wrong['bit']} ({', '.join(names[wrong['bit']])}) must be" in lines["wrong"]
    for bit in wrong["on"]:
        assert f"{bit} ({names[bit][0]})" in lines["state"]
    assert "see" in lines
    assert "--sizes D=4 --network" in lines["see"]
    assert lines["pattern"].split()[1] == found["pattern_id"]
    own = " ".join(names[bit][0] for bit in wrong["on"])
    code, out, _ = call(capsys, *asked, "--state", own or "none", "--json")
    shown = json.loads(out)
    assert (code, shown["on"]) == (1, wrong["on"])
    assert shown["names"][wrong["bit"]] == names[wrong["bit"]]


def test_a_state_is_given_by_the_bits_of_a_first_cell(capsys: Captured, one: str) -> None:
    asked = ("certify", "k2.bw", "--network", one, "--let", "D=1", "--state")
    out = answer(capsys, *asked, "d[1]")
    assert "kind1_port[1] (d[1])" in out
    assert call(capsys, *asked, "kind1_block1[1]")[1] == out
    assert "'d[2]' is in no first cell of a kind, which have the bits d[1], c[1]" in refusal(capsys, *asked, "d[2]")


def test_show_says_what_ports_set(capsys: Captured) -> None:
    _, out, _ = call(capsys, "show k2.bw --tile 1")
    assert "    there port[1] sets d[1]; port[2] sets c[2]\n" in out
    assert "    there port[1] sets d[2]\n" in out
    tables = json.loads(call(capsys, "show k2.bw --tile 1 --json")[1])["tables"]
    assert [table["first_ports"] for table in tables] == [[["d[1]"], ["c[2]"]], [["d[2]"]]]
