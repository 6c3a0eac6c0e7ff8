"""What `validate` says and with which exit code: verdict, report, JSON and quiet answer agree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from calling import Captured
from cases import for_each
from long import LONG

from bitwright.cli.main import main

ROOT = Path(__file__).parent.parent.parent
GCD = str(ROOT / "examples" / "sbn" / "gcd.sbn")
SWAP = "bits x y\nblock x\nblock y\nwhen x=1 write y\nwhen y=1 write x\ninput x\noutput y\n"
STAY = "bits x[3]\nblock x[i] for i in 1..3\nwhen x[i]=1 write x[i] for i in 1..3\ninput x\nsteps 2\n"
LOOP = ".width 3\n.in a\n.out a\nagain: sub zero a\n jmp again\n.word zero 0\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("five.bw").write_text(f"{SWAP}steps 5\n")
    Path("swap.bw").write_text(f"{SWAP}halt at fixed point\n")
    Path("fifty.bw").write_text(f"{SWAP}halt at fixed point\nsteps 50\n")
    Path("loop.sbn").write_text(LOOP)
    for declared in (1, 3):
        Path(f"stay{declared}.bw").write_text(f"{STAY}matches {declared}\n")
    Path("says.py").write_text(
        "def never(x): return None if x else 0\n"
        "def zero(x): return 0\n"
        "def one(x): return 1\n"
        "def product(multiplicand, multiplier): return multiplicand * multiplier\n"
    )


def all_three(capsys: Captured, *arguments: str) -> tuple[str, dict[str, object], str]:
    """The report, the JSON and what -q says on stderr, after seeing that they agree."""
    codes = {main(["validate", *arguments])}
    report = capsys.readouterr().out
    codes.add(main(["validate", *arguments, "--json"]))
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    codes.add(main(["validate", *arguments, "-q"]))
    out, err = capsys.readouterr()
    verdict = str(found["verdict"])
    assert report.startswith(f"{verdict.upper()}: ")
    assert out == f"{verdict}\n"
    assert found["exact"] is (verdict == "exact")
    assert codes == {0 if verdict == "exact" else 1}
    return report, found, err


@for_each("plain", [[], *[["--engine", "kernel"]] * LONG])
@for_each(
    ("arguments", "verdict", "undecided", "line"),
    [
        (f"{GCD} --random 64 --max-steps 1", "not decided", 64, "64 runs did not end within 1 step, and their outputs"),
        ("five.bw --max-steps 3", "not decided", 2, "not known; raise --max-steps"),
        ("five.bw", "exact", 0, "0 wrong by the rules"),
        (
            "swap.bw --max-steps 9",
            "not decided",
            1,
            "1 run did not end within 9 steps, and their outputs are not known",
        ),
        ("fifty.bw", "not decided", 1, "its 'steps' allows no more"),
        ("swap.bw --max-steps 9 --oracle says:never", "exact", 0, "1 run did not end within 9 steps, and never do"),
        ("swap.bw --max-steps 9 --oracle says:zero", "not decided", 1, "0 wrong by says:zero"),
        ("swap.bw --max-steps 9 --oracle says:one", "not exact", 1, "1 wrong by says:one"),
        ("loop.sbn --max-steps 1000", "exact", 0, "8 runs did not end within 1,000 steps, and never do, as the oracle"),
        ("loop.sbn --max-steps 2", "not decided", 8, "8 runs did not end within 2 steps, and their outputs"),
        ("addition --max-steps 1", "not decided", 256, "0 wrong by Python's integers"),
        ("addition --bits 3 --engine sampled --seed 3", "not exact", 0, "unlike the rules"),
    ],
)
def test_the_verdict(
    capsys: Captured, arguments: str, verdict: str, undecided: int, line: str, plain: list[str]
) -> None:
    report, found, err = all_three(capsys, *arguments.split(), *plain)
    assert (found["verdict"], found["undecided"], err) == (verdict, undecided, "")
    assert line in report


def test_a_declared_bound_that_is_broken_is_said_everywhere(capsys: Captured) -> None:
    report, found, err = all_three(capsys, "stay1.bw")
    assert found["verdict"] == "exact"  # and exit code 0: the verdict is about exactness
    assert found["declared"] == {"matches": 1, "broken": True, "runs_beyond": 4, "first": {"x": 3}}
    said = "matches 1 is broken: n = 3 occurred; 4 runs met more, the first x=3"
    assert f"  declared  {said}\n" in report
    assert "a certificate made with --n declared does not hold; use --n reachable or --n blocks" in report
    assert err.startswith(f"bitwright: stay1: {said}; a certificate")
    assert len(err.splitlines()) == 1
    report, found, err = all_three(capsys, "stay3.bw")
    assert found["declared"] == {"matches": 3, "broken": False, "runs_beyond": 0, "first": None}
    assert ("declared" in report, err) == (False, "")
    assert all_three(capsys, "five.bw")[1]["declared"] is None


def test_seeds_and_names_in_json(capsys: Captured) -> None:
    _, found, _ = all_three(
        capsys, "addition", "--bits", "2", "--engine", "sampled", "--seed", "4", "--random", "9", "--sample-seed", "6"
    )
    assert (found["seed"], found["sample_seed"], found["inputs"], found["networks"]) == (4, 6, 9, 1)
    assert (found["name"], found["step_limit"]) == ("addition", 4)
    _, other, _ = all_three(capsys, "addition", "--bits", "2")
    assert other["program_id"] == found["program_id"]
    assert (other["seed"], other["sample_seed"], other["networks"]) == (None, None, None)


def test_seeds_choose_networks_and_samples_inputs(capsys: Captured) -> None:
    """Another seed draws other networks on the same inputs, another sample seed other inputs."""
    base = ["multiplication", "--bits", "3", "--engine", "sampled", "--random", "12"]

    def failures(*more: str) -> list[object]:
        main(["validate", *base, *more, "--json"])
        return [(f["inputs"], f["outputs"]) for f in json.loads(capsys.readouterr().out)["failures"]]  # type: ignore[misc]

    first = failures()
    assert first == failures("--seed", "0", "--sample-seed", "0")
    assert len({json.dumps(found) for found in (first, failures("--seed", "1"), failures("--sample-seed", "1"))}) == 3


def test_an_oracle_of_arrays(capsys: Captured) -> None:
    report, found, _ = all_three(capsys, "multiplication", "--bits", "6", "--oracle", "arrays:says:product")
    assert (found["verdict"], found["inputs"], found["oracle"]) == ("exact", 4096, "says:product")
    assert "0 wrong by says:product" in report


def test_a_network_is_named_by_its_content(capsys: Captured) -> None:
    report, found, _ = all_three(capsys, "addition", "--bits", "2", "--engine", "network")
    [digest] = found["network_digests"]  # type: ignore[misc]
    assert f"  networks  1, as read at the start: sha256 {digest[:16]}..." in report  # type: ignore[has-type]
    assert (found["seed"], found["networks"]) == (0, 1)
