"""The command that `validate` prints for a failure shows the same wrong output, whatever was validated and how."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from calling import Captured
from cases import for_each
from long import LONG

from bitwright import addition
from bitwright.cli.main import main
from bitwright.networks import FloatNetwork, Plan, Recipe, save_network, train

ROOT = Path(__file__).parent.parent.parent
SUM = """
.width 4
.in a b
.out a
    sub b a
"""
RULES = """
bits x y z
block x y
block z
when x=1 y=0 write z
when x=1 y=1 write z
when z=1 write z
input x y
output z
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Files with odd names, among them networks that say the opposite of what they were taught."""
    place = pytest.MonkeyPatch()
    place.chdir(tmp_path_factory.mktemp("files"))
    Path("nothing_right.py").write_text("def one(**inputs): return -1\ndef two(**inputs): return {'z': 9}\n")
    Path("a sum.sbn").write_text(SUM)
    Path("-r'ules.bw").write_text(RULES)
    Path("five.bw").write_text(addition(5).text().replace("when c[3]=1 write q[4]", "when c[3]=1 write q[3]"))
    program = addition(2).program
    network = train(program, Recipe(2_048, plan=Plan(descent="momentum")))[0]
    opposite = FloatNetwork(network.first, -network.last, network.origin)
    Path("many").mkdir()
    for path in ("opposite network.safetensors", "many/member-000000.safetensors", "many/member-000001.safetensors"):
        save_network(opposite, program, Path(path))
    yield
    place.undo()


@pytest.mark.usefixtures("folder")
@for_each(
    "command",
    [
        "addition --oracle nothing_right:one",
        "addition --engine sampled --seed 7",
        "addition --engine sampled --random 60 --sample-seed 4",
        "addition --bits 6 --engine sampled --networks 2 --seed 3 --random 200",
        "multiplication --bits 2 --engine sampled --random 15 --max-steps 1000",
        "multiplication --bits 3 --engine sampled --rounding sign --seed 1 --random 15",
        "multiplication --bits 3 --engine limit --rounding sign --padding 0 --oracle nothing_right:one",
        *["multiplication --bits 5 --engine sampled --padding 30 --seed 2 --random 20"] * LONG,
        "permutation --engine sampled --seed 5",
        "permutation --bits 6 --engine sampled --rounding sign --random 40",
        "permutation --order 3,1,2 --engine kernel --oracle nothing_right:one",
        "permutation --order 5,3,1,2,4 --engine sampled",
        "addition --bits 2 --engine network --network 'opposite network.safetensors'",
        "addition --bits 2 --engine network --network many --network 'opposite network.safetensors'",
        "addition --bits 2 --engine network --width 2048 --networks 2 --seed 3 --oracle nothing_right:one",
        "'a sum.sbn' --oracle nothing_right:one --random 20",
        "'a sum.sbn' --machine A --engine templates --oracle nothing_right:one --random 20",
        "'a sum.sbn' --machine B --engine limit --rounding sign --oracle nothing_right:one --random 20",
        "five.bw --engine templates --oracle nothing_right:one --max-steps 12",
        '-- "-r\'ules.bw"',
    ],
)
def test_the_printed_command_shows_the_failure(capsys: Captured, command: str) -> None:
    words = shlex.split(command)
    if words[0] == "--":
        words = ["--oracle", "nothing_right:two", *words]
    assert main(["validate", "--json", *words]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["exact"]) == ("not exact", False)
    assert found["wrong"] >= len(found["failures"]) > 0
    for failure in found["failures"][:2]:
        again = shlex.split(failure["command"])
        assert again[:2] == ["bitwright", "run"]
        main([*again[1:], "--json"])
        shown = json.loads(capsys.readouterr().out)
        assert shown["outputs"] == failure["outputs"] != failure["expected"]
        assert shown["engine"] == found["engine"]
