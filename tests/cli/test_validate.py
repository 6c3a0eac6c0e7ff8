"""`validate`: verdict, report, JSON, quiet answer and exit code agree; its commands show the failures they speak of."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from calling import Captured, call, document
from cases import for_each
from facts import missing
from long import LONG

from bitwright import addition
from bitwright.networks import Recipe, quantize, save_network, train

ROOT = Path(__file__).parents[2]
SWAP = "bits x y\nblock x\nblock y\nwhen x=1 write y\nwhen y=1 write x\ninput x\noutput y\n"
STAY = "bits x[3]\nblock x[i] for i in 1..3\nwhen x[i]=1 write x[i] for i in 1..3\ninput x\nsteps 2\n"
RULES = "bits x y z\nblock x y\nblock z\nwhen x=1 y=0 write z\nwhen z=1 write z\ninput x y\noutput z\n"
ORACLES = """def never(x): return None if x else 0
def zero(x): return 0
def one(x): return 1
def minus(**inputs): return -1
def nine(**inputs): return {'z': 9}
def both(**inputs): return {'difference': 0, 'negative': 0}
def product(multiplicand, multiplier): return multiplicand * multiplier
def total(p, q): return p + q
def nothing(p, q): p + q
def broken(p, q): raise BaseException('no')
"""


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Programs, oracles, and networks that say the opposite of what they were taught; some names are odd."""
    place = pytest.MonkeyPatch()
    place.chdir(tmp_path_factory.mktemp("files"))
    Path("says.py").write_text(ORACLES)
    Path("five.bw").write_text(f"{SWAP}steps 5\n")
    Path("swap.bw").write_text(f"{SWAP}halt at fixed point\n")
    Path("fifty.bw").write_text(f"{SWAP}halt at fixed point\nsteps 50\n")
    Path("loop.sbn").write_text(".width 3\n.in a\n.out a\nagain: sub zero a\n jmp again\n.word zero 0\n")
    Path("a sum.sbn").write_text(".width 4\n.in a b\n.out a\n    sub b a\n")
    Path("-r'ules.bw").write_text(RULES)
    for declared in (1, 3):
        Path(f"stay{declared}.bw").write_text(f"{STAY}matches {declared}\n")
    right = "when c[3]=1 write q[4]"
    assert right in addition(5).text()
    Path("wrong rule.bw").write_text(addition(5).text().replace(right, "when c[3]=1 write q[3]"))
    program = addition(2).program
    network = quantize(train(program, Recipe(2_048))[0], program)[0]
    save_network(replace(network, last=-network.last), program, Path("opposite network.safetensors"))
    yield
    place.undo()


@pytest.mark.parametrize("rounding", ["sign", *["calibrated"] * LONG])
def test_all_products_of_ten_bits(capsys: Captured, rounding: str) -> None:
    found = document(capsys, "validate multiplication --bits 10 --engine limit --rounding", rounding)
    assert (found["inputs"], found["wrong"], found["wrong_steps"], found["failures"]) == (1_048_576, 0, 0, [])
    assert (found["steps"], found["evaluations"], found["exact"]) == (430, 450_887_680, True)
    assert 1 < found["n_max"] < 71


def all_three(capsys: Captured, *arguments: object) -> tuple[str, dict[str, Any], str]:
    """The report, the JSON and what -q says on stderr, after seeing that they agree."""
    code, report, _ = call(capsys, "validate", *arguments)
    found, (quiet, out, err) = document(capsys, "validate", *arguments), call(capsys, "validate", *arguments, "-q")
    assert report.startswith(f"{found['verdict'].upper()}: ")
    assert out == f"{found['verdict']}\n"
    assert found["exact"] is (found["verdict"] == "exact")
    assert code == quiet == (0 if found["exact"] else 1)
    return report, found, err


@for_each("plain", [[], *[["--engine", "sampled", "-n", "1000"]] * LONG])
@for_each(
    ("arguments", "verdict", "undecided", "facts"),
    [
        ("five.bw --max-steps 3", "not decided", 2, "--max-steps"),
        ("fifty.bw", "not decided", 1, "'steps'"),
        ("swap.bw --max-steps 9 --oracle says:never", "exact", 0, "1 9"),
        ("swap.bw --max-steps 9 --oracle says:one", "not exact", 1, "1 says:one"),
        ("loop.sbn --max-steps 1000", "exact", 0, "8 1,000"),
        ("multiplication --bits 6 --oracle says:product", "exact", 0, "4,096 0 says:product"),
        ("addition --bits 3 --engine sampled --seed 3", "not exact", 0, "64"),
    ],
)
def test_the_verdict(
    capsys: Captured, arguments: str, verdict: str, undecided: int, facts: str, plain: list[str]
) -> None:
    report, found, err = all_three(capsys, *arguments.split(), *plain)
    assert (found["verdict"], found["undecided"], err) == (verdict, undecided, "")
    assert missing(report, facts) == []


def test_a_declared_bound_that_is_broken_is_said_everywhere(capsys: Captured) -> None:
    report, found, err = all_three(capsys, "stay1.bw")
    assert found["verdict"] == "exact"  # and exit code 0: the verdict is about exactness
    assert found["declared"] == {"matches": 1, "broken": True, "runs_beyond": 4, "first": {"x": 3}}
    for said in (report, err):
        assert missing(said, "matches 1 n = 3 4 x=3 --n declared reachable blocks") == []
    assert err.count("\n") == 1
    report, found, err = all_three(capsys, "stay3.bw")
    assert found["declared"] == {"matches": 3, "broken": False, "runs_beyond": 0, "first": None}
    assert ("declared" in report, err) == (False, "")


def test_seeds_choose_networks(capsys: Captured) -> None:
    base = "validate multiplication --bits 3 --engine sampled --random 12"

    def failures(*more: object) -> str:
        return json.dumps([(one["inputs"], one["outputs"]) for one in document(capsys, base, *more)["failures"]])

    assert failures() == failures("--seed", "0")
    assert failures() != failures("--seed", 1)
    found = document(capsys, base, "--seed", 4)
    assert [found[key] for key in ("name", "seed", "sample_seed", "inputs")] == ["multiplication", 4, 0, 12]
    found = document(capsys, "validate addition --bits 2 --engine network")
    assert (len(found["network_digests"]), found["seed"], found["sample_seed"]) == (1, 0, None)
