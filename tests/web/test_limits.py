"""Problems by line, programs that do not halt, and what is too much."""

from typing import Any

import pytest
from serving import ADD, RING

from bitwright import ProgramError, parse
from bitwright.machines import assemble

BROKEN_RULES = "bits p[3] q\nblock p[i] for i in 1..3\nwhen p[1]=1 wrte p[2]\nwhen r=1 wrte p[9]\nblok q\n"
BROKEN_SBN = "loop: sbn a b nowhere\nfly a\nsub 3\n"


@pytest.mark.parametrize(
    ("kind", "text", "read"), [("rules", BROKEN_RULES, parse), ("sbn", BROKEN_SBN, assemble)], ids=["rules", "sbn"]
)
def test_every_problem_is_named_with_line_and_column(server: Any, kind: str, text: str, read: Any) -> None:
    with pytest.raises(ProgramError) as caught:
        read(text)
    expected = [{"line": p.line, "column": p.column, "message": p.message} for p in caught.value.problems]
    answer = server.check({"kind": kind, "text": text})
    assert (answer["problems"], answer["count"]) == (expected, len(expected))
    assert (answer["ok"], len(expected) > 2) == (False, True)
    job = server.run({"source": {"kind": kind, "text": text}})
    assert "\n" not in job["error"]
    assert job["error"].endswith("more problems)")


def test_a_sound_program_is_described(server: Any) -> None:
    answer = server.check({"kind": "addition", "bits": 10})
    assert (answer["ok"], answer["problems"]) == (True, [])
    about = answer["about"]
    assert (about["templates"], about["bits"], about["blocks"], about["steps"]) == (40, 30, 20, 20)
    assert about["examples"] == {"calibrated": 40, "sign": 40, "cells": 8}
    assert about["inputs"] == [{"name": n, "bits": 10, "signed": False} for n in ("p", "q")]


def test_a_program_that_does_not_halt_shows_what_it_did(server: Any) -> None:
    job = server.run({"source": {"kind": "rules", "text": RING}})
    assert (job["result"]["halted"], job["result"]["steps"]) == (False, 20_000)
    job = server.run({"source": {"kind": "sbn", "text": "loop: jmp loop"}, "max_steps": 100})
    assert (job["result"]["halted"], job["result"]["steps"]) == (False, 100)


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"source": {"kind": "addition", "bits": 20_000}}, "60,000 bits; this page takes at most 20,000"),
        ({"source": {"kind": "multiplication", "bits": 1000}}, "templates; this page takes at most 20,000"),
        ({**ADD, "networks": 0}, "networks: "),
        ({**ADD, "engine": "x"}, "engine: "),
        ({**ADD, "max_steps": 20_001}, "max_steps: "),
        ({**ADD, "more": 1}, "more: "),
        ({"source": {"kind": "rules", "text": "bits x[10000000]\nblock x[1]\nwhen x[1]=1 write x[1]"}}, "x["),
        ({"source": {"kind": "addition", "bits": 4}}, "needs a value for p, q"),
        ({**ADD, "inputs": {"p": "1", "q": "x"}}, "input q must be an integer"),
        ({**ADD, "inputs": {"p": "1", "q": "99"}}, "input q must fit in 4 bits"),
        ({"source": {"kind": "permutation", "order": [1, 1]}, "inputs": {"p": "1"}}, "1 occurs twice"),
    ],
)
def test_what_is_too_much_is_refused_with_one_line(server: Any, request_: dict[str, Any], message: str) -> None:
    job = server.run(request_)
    assert message in job["error"]
    assert "\n" not in job["error"]
