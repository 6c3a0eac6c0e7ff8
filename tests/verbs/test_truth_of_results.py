"""A result is true where its verdict is yes, as the exit code of its verb is 0: `if certify(...)` asks the verdict."""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

import bitwright
from bitwright import addition, certify, check, executions, infer, multiplication, parse, run, validate
from bitwright.proofs.function.prove import prove_function
from bitwright.proofs.kinds import prove_kinds
from bitwright.proofs.unrolling import prove_at_size

COPY = "let l = 3\nbits x[l] y[l]\nblock x[i] y[i] for i in 1..l\nwhen x[i]=1 write y[i] for i in 1..l\n"
COPY += "input x\noutput y\nsteps 1\n"
WRONG = parse(f"{COPY}ensure y == x + 1")
BLINK = parse("bits x\nblock x\nwhen x=0 write x\ninput x\nhalt at fixed point\nsteps 9")
STATES = executions(addition(2), "states", states=300)
RESULTS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "limit": (lambda: certify(addition(3)), lambda: certify(multiplication(10), rounding="sign", padding=0)),
    "function": (lambda: certify(parse(f"{COPY}ensure y == x")), lambda: certify(WRONG)),
    "claim": (lambda: certify(addition(3)).claims[0], lambda: certify(WRONG).claims[0]),
    "function at every size": (lambda: prove_function(addition(3)), lambda: prove_function(WRONG)),
    "function at a size": (lambda: prove_at_size(addition(3)), lambda: prove_at_size(WRONG)),
    "kinds": (lambda: prove_kinds(addition(3)), lambda: replace(prove_kinds(addition(3)), verdict="not decided")),
    "validation": (lambda: validate(addition(2)), lambda: validate(WRONG)),
    "validation cut off": (lambda: validate(addition(2)), lambda: validate(addition(2), steps=1)),
    "check": (lambda: check(Path("yes.bw")), lambda: check(Path("no.bw"))),
    "inference": (
        lambda: infer(STATES, blocks=addition(2)),
        lambda: infer(STATES, blocks="p[1]; p[2]; q[1]; q[2]; c[1]; c[2]"),
    ),
    "run": (lambda: run(addition(2), p=1, q=2), lambda: run(BLINK, x=1)),
    "runs": (lambda: run(addition(2), p=[1, 2], q=2), lambda: run(BLINK, x=[0, 1])),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_true_where_its_verdict_is_yes(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("yes.bw").write_text(COPY)
    Path("no.bw").write_text("bits x")
    yes, no = RESULTS[name]
    assert bool(yes()) is True
    assert bool(no()) is False


def test_every_class_with_a_verdict_has_a_truth() -> None:
    yes = {"verdict", "certified", "inferred", "ok"}
    classes = set()
    for found in pkgutil.walk_packages(bitwright.__path__, "bitwright."):
        if not any(part in found.name for part in ("__main__", "fused")):
            module = importlib.import_module(found.name)
            classes |= {one for one in vars(module).values() if isinstance(one, type) and one.__module__ == found.name}
    silent = {
        one.__qualname__
        for one in classes
        for name in yes
        if name in getattr(one, "__annotations__", ()) or isinstance(vars(one).get(name), property | cached_property)
        if not hasattr(one, "__bool__")
    }
    assert silent <= {"Certificate"}  # the base of those that have one
