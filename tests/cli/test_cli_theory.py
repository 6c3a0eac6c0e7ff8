"""The verbs of the theory: certify, size, dataset, and engines other than `templates`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from calling import Captured, answer, call, document, refusal
from cases import for_each
from long import LONG

from bitwright import addition, size

FIFTY = """
bits x[50] y z[20]
block x[i] for i in 1..50
block y
block z[i] for i in 1..20
when x[i]=1 write y for i in 1..50
when y=1 write z[1]
when z[i]=1 write z[i] for i in 1..20
input x z
output y
steps 1
"""


@pytest.fixture
def fifty_writers(tmp_path: Path) -> Path:
    path = tmp_path / "fifty.bw"
    path.write_text(FIFTY)
    return path


@pytest.fixture
def broken_promise(tmp_path: Path) -> Path:
    path = tmp_path / "promise.bw"
    path.write_text(FIFTY + "matches 1\n")
    return path


def test_multiplication_with_the_papers_numbers(capsys: Captured) -> None:
    arguments = ("certify", "multiplication", "--bits", 10, "--rounding", "sign", "--n", "declared")
    found = document(capsys, *arguments)
    assert (found["certified"], found["verdict"], found["assumption"]) == (True, "certified", "n <= 71")
    assert (found["examples"], found["padding"], found["n_max"]) == (210, 8, 71)
    assert found["n_source"] == "declared"
    out = answer(capsys, *arguments)
    assert out.startswith("CERTIFIED ASSUMING n <= 71 (declared, not proved): multiplication")
    assert call(capsys, *arguments, "-q")[:2] == (0, "certified assuming n <= 71\n")


def test_multiplication_over_all_blocks(capsys: Captured) -> None:
    """What is proved is the default, also where the program declares a bound."""
    arguments = ("certify", "multiplication", "--bits", 10, "--rounding", "sign")
    code, out, _ = call(capsys, *arguments)
    assert code == 1
    assert out.startswith("REFUTED: multiplication")
    assert "fails     at n = 87: multiplier[1] where 1 of 3 writers matches" in out
    assert "state     on: multiplier[1], " in out
    assert "pad to 272 examples (--padding 70)" in out
    assert "its author says n <= 71; --n declared takes that on trust" in out
    assert call(capsys, *arguments, "-q")[:2] == (1, "refuted\n")
    found = document(capsys, *arguments)
    assert (found["certified"], found["verdict"], found["assumption"]) == (False, "refuted", None)
    assert found == document(capsys, *arguments, "--n", "blocks")
    assert call(capsys, *arguments, "--padding", 70)[0] == 0
    assert call(capsys, *arguments, "--padding", 69)[0] == 1


def test_a_bound_that_is_not_enough_proves_and_refutes_nothing(capsys: Captured, broken_promise: Path) -> None:
    arguments = ("certify", broken_promise, "--rounding", "sign", "--n", "declared")
    text = broken_promise.read_text()
    broken_promise.write_text(text.replace("matches 1", "matches 70"))
    code, out, _ = call(capsys, *arguments)
    assert code == 1
    assert out.startswith("NOT PROVED even ASSUMING n <= 70 (declared, not proved): ")
    assert "whether a run meets such a state is not known" in out
    assert call(capsys, *arguments, "-q")[:2] == (1, "not proved even assuming n <= 70\n")
    found = document(capsys, *arguments)
    assert (found["certified"], found["verdict"], found["witness"]) == (False, "not proved", None)


def test_a_broken_promise_is_believed_by_no_one_who_does_not_ask(capsys: Captured, broken_promise: Path) -> None:
    sign = (broken_promise, "--rounding", "sign")
    assert call(capsys, "certify", *sign, "-q")[:2] == (1, "refuted\n")
    assert call(capsys, "certify", *sign, "--n", "declared", "-q")[:2] == (0, "certified assuming n <= 1\n")
    proved, assumed = (
        document(capsys, "size", broken_promise),
        document(capsys, "size", broken_promise, "--n", "declared"),
    )
    assert (proved["n_max"], proved["n_source"], proved["assumption"]) == (71, "blocks", None)
    assert (assumed["n_max"], assumed["n_source"], assumed["assumption"]) == (1, "declared", "n <= 1")
    assert proved["sign"]["networks"] is None  # type: ignore[index]
    assert assumed["sign"]["networks"] == 1  # type: ignore[index]
    out = call(capsys, "size", broken_promise, "--n", "declared")[1]
    assert "assuming n <= 1 (declared, not proved)" in out.splitlines()[0]
    arguments = ("validate", broken_promise, "--random", 20)
    assert "matches 1 is broken" in call(capsys, *arguments)[1]
    declared = document(capsys, *arguments)["declared"]
    assert isinstance(declared, dict)
    assert (declared["matches"], declared["broken"], call(capsys, *arguments)[0]) == (1, True, 0)


def test_fifty_writers(capsys: Captured, fifty_writers: Path) -> None:
    code, out, _ = call(capsys, "certify", fifty_writers, "--rounding", "sign")
    assert code == 1
    assert "fails     at n = 5: y where 1 of 50 writers matches" in out
    assert call(capsys, "certify", fifty_writers, "--rounding", "calibrated")[0] == 0


def test_reachable(capsys: Captured) -> None:
    arguments = ("multiplication", "--bits", 4, "--n", "reachable")
    found = document(capsys, "certify", *arguments, "--rounding", "sign")
    assert (found["n_source"], found["assumption"]) == ("reachable", None)
    assert found["covers"] == "the runs of all 256 inputs"
    assert int(str(found["n_max"])) < 7 * 4 + 1
    out = call(capsys, "certify", *arguments, "--rounding", "sign")[1]
    assert out.startswith("CERTIFIED for the runs of all 256 inputs (n <= 13): multiplication")
    out = call(capsys, "certify", *arguments, "--rounding", "sign", "-q")[1]
    assert out == "certified for the runs of all 256 inputs\n"
    assert document(capsys, "size", *arguments)["n_max"] == found["n_max"]
    assert "in the runs of all 256 inputs" in call(capsys, "size", *arguments)[1].splitlines()[0]


@pytest.mark.parametrize("source", ["blocks", "declared", "reachable"])
def test_a_file_can_be_checked_and_not_be_edited(capsys: Captured, tmp_path: Path, source: str) -> None:
    path = tmp_path / "certificate.json"
    target = ("certify", "multiplication", "--bits", 4)
    assert call(capsys, *target, "--rounding", "sign", "--n", source, "-o", path)[0] == (source == "blocks")
    code, out, _ = call(capsys, *target, "--check", path)
    assert code == (source == "blocks")
    assert "every number of the file was proved again" in out
    edited = json.loads(path.read_text())
    edited["n_max"] -= 1
    path.write_text(json.dumps(edited))
    code, out, err = call(capsys, *target, "--check", path)
    assert (code, err) == (1, "")
    assert out.startswith("DOES NOT HOLD: the certificate says n_max = ")
    assert call(capsys, *target, "--check", path, "-q") == (1, "does not hold\n", "")
    found = document(capsys, *target, "--check", path)
    assert (found["holds"], found["certified"]) == (False, False)
    path.write_text(path.read_text()[:100])
    assert "truncated or damaged" in refusal(capsys, *target, "--check", path)


def test_a_certificate_of_another_program(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    call(capsys, "certify addition --bits 4 -o", path)
    code, out, _ = call(capsys, "certify addition --bits 5 --check", path)
    assert code == 1
    assert out.startswith("DOES NOT HOLD: the certificate is for another program")
    assert document(capsys, "certify addition --bits 4 --check", path)["holds"] is True


def test_a_bound_that_is_declared_no_more_does_not_hold(capsys: Captured, broken_promise: Path, tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    call(capsys, "certify", broken_promise, "--rounding", "sign", "--n", "declared", "-o", path)
    assert call(capsys, "certify", broken_promise, "--check", path)[0] == 0
    broken_promise.write_text(broken_promise.read_text().replace("matches 1", ""))
    code, out, _ = call(capsys, "certify", broken_promise, "--check", path)
    assert (code, "declares no bound" in out) == (1, True)


def test_a_file_with_nonsense_in_it_is_no_certificate(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    call(capsys, "certify addition -o", path)
    good = json.loads(path.read_text())
    for name, value in (("rounding", [["sign"]]), ("certified", 1), ("version", "?"), ("arithmetic", 3), ("more", 1)):
        path.write_text(json.dumps({**good, name: value}))
        assert f"{path} is not a certificate: " in refusal(capsys, "certify addition --check", path)


HELLO = Path(__file__).parents[2] / "examples" / "subleq" / "hello.sq"
GCD = Path(__file__).parents[2] / "examples" / "sbn" / "gcd.sbn"


@for_each(
    ("rounding", "more"),
    [("calibrated", ("--padding", 5)), ("sign", ()), *[("calibrated", ()), ("sign", ("--padding", 5))] * LONG],
)
@for_each(
    ("target", "values"),
    [
        (("multiplication", "--bits", 4), None),
        (("addition", "--bits", 4), None),
        ((GCD,), ("a=12", "b=18")),
        ((GCD, "--machine", "A"), ("a=12", "b=18")),
        ((HELLO,), ()),
    ],
)
def test_all_verbs_speak_of_the_same_examples_and_matches(
    capsys: Captured,
    target: tuple[object, ...],
    values: tuple[str, ...] | None,
    rounding: str,
    more: tuple[object, ...],
) -> None:
    """A run does not say its K, but its margins under the sign rule do."""
    certificate = document(capsys, "certify", *target, "--rounding", rounding, *more)
    size = document(capsys, "size", *target, *more)
    assert size["examples"][rounding] == certificate["examples"]  # type: ignore[index]
    assert (size["n_max"], size["n_source"]) == (certificate["n_max"], certificate["n_source"])
    engine = ("--engine", "limit", "--rounding", rounding)
    if target != (HELLO,):
        validation = document(capsys, "validate", *target, *engine, "--random", 2, *more)
        assert validation["examples"] == certificate["examples"]
    if values is not None:
        padding = int(str(certificate["examples"])) - len(templates_of(capsys, target))
        told = document(capsys, "run", target[0], *values, *target[1:], *engine, "--padding", padding)
        assert document(capsys, "run", target[0], *values, *target[1:], *engine, *more)["margin"] == told["margin"]
        if rounding == "sign" and not more:
            other = document(capsys, "run", target[0], *values, *target[1:], *engine, "--padding", 0)
            assert other["margin"] != told["margin"]


def templates_of(capsys: Captured, target: tuple[object, ...]) -> range:
    return range(int(str(document(capsys, "show", *target)["templates"])))


def test_size(capsys: Captured) -> None:
    found = document(capsys, "size addition --bits 10 --delta 0.01")
    assert (found["delta"], found["scope"]) == (0.01, "inputs")
    sizes = {name: found[name] for name in ("sign", "sign_tight", "calibrated")}
    assert {name: size["networks"] for name, size in sizes.items()} == {  # type: ignore[index]
        "sign": 34_512,
        "sign_tight": 8_344,
        "calibrated": 50,
    }
    out = call(capsys, "size addition --bits 10")[1]
    assert "34,512" in out
    unmasked = size(addition(10), unmasked=True).to_dict()
    assert unmasked["sign"]["networks"] is None
    assert "q[1] is never written" in unmasked["sign"]["reason"]


def test_sampled(capsys: Captured) -> None:
    found = document(capsys, "add 719 483 --engine sampled --networks 100 --seed 3")
    assert found["value"] == 1202
    assert 0 < float(str(found["margin"])) < 0.5
    again = document(capsys, "add 719 483 --engine sampled --networks 100 --seed 3")
    assert found == again


@for_each(
    ("arguments", "piece"),
    [
        (["certify", "addition", "--rounding", "sgn"], "did you mean 'sign'?"),
        (["certify", "addition", "--n", "many"], "blocks, declared or reachable, got 'many'"),
        (["certify", "addition", "--n", "declared"], "declares no bound on its matches"),
        (["size", "addition", "--n", "blocks", "--of", "network"], "--n and unmasked are for ensembles"),
        (["certify", "addition", "--bits", 13, "--n", "reachable"], "every input can be run up to 24"),
        (["certify", "addition", "--padding", -1], "0<=x<=1000000000"),
        (["certify", "addition", "--check", "/no/such.json"], "cannot read"),
        (["size", "addition", "--delta", 0], "delta must lie between 0 and 1, got 0"),
        (["size", "addition", "--delta", "x"], "not a valid float"),
        (["size", "addition", "--domain", "run"], "did you mean 'runs'?"),
        (["export", "addition"], "Missing option"),
        (["export", "addition", "--to", "dataset", "-o", "x.csv"], ".npz"),
    ],
)
def test_bad_input_gets_one_clear_line(capsys: Captured, arguments: list[object], piece: str) -> None:
    assert piece in refusal(capsys, *arguments)
