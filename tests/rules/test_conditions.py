"""Conditions on bits: what joins them, and what Python would silently take for something else."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from facts import missing

from bitwright import InputError
from bitwright.rules import Bits, Builder, Program, Ref, parse, span, word


@dataclass
class Setting:
    b: Builder
    z: Bits  # 3 bits
    m: Bits  # 2 x 2 bits
    f: Ref  # 1 bit

    def program(self) -> Program:
        self.b.block(self.z[:])
        self.b.block(self.m[:, :])
        self.b.block(self.f)
        return self.b.build()


@pytest.fixture
def setting() -> Setting:
    b = Builder()
    return Setting(b, b.bits("z", 3), b.bits("m", 2, 2), b.bit("f"))


TEXT = "bits z[3] m[2,2] f\nblock z[*]\nblock m[*,*]\nblock f\n"


I = span(1, 2)
SAME: dict[str, tuple[Callable[[Setting], tuple[Any, ...]], str]] = {
    "a number on the left": (lambda s: (s.z[1] == 1, np.int64(0) == s.z[2], s.f), "when z[1]=1 z[2]=0 write f"),
    "!= with a number on the left": (lambda s: (np.int64(0) != s.z[2], s.f), "when z[2]=1 write f"),
    "numbers on the left": (
        lambda s: (np.array([0, 1]) == s.m[1, I], s.z[I]),
        "when m[1,1]=0 write z[1]\nwhen m[1,2]=1 write z[2]",
    ),
}


@pytest.mark.parametrize("how", SAME)
def test_conditions_say_what_rule_text_says(how: str, setting: Setting) -> None:
    rule, text = SAME[how]
    *conditions, written = rule(setting)
    setting.b.when(*conditions).write(written)
    assert setting.program() == parse(TEXT + text).program


NEITHER = "no truth value"
REFUSED: dict[str, tuple[Callable[[Setting], object], str]] = {
    "and": (lambda s: s.b.when(s.z[1] == 1 and s.z[2] == 1), f"{NEITHER} commas"),
    "a chain": (lambda s: s.b.when(s.z[1] == s.z[2] == 1), f"{NEITHER} compare two bits at a time"),
    "a chain of numbers": (lambda s: s.b.when(0 != s.z[1] == 1), NEITHER),
    "a bare bit": (lambda s: s.b.when(s.z[2]), "z[2] p[1] == 1"),
    "bits joined by and": (lambda s: s.b.when(s.z[1] and s.z[2]), "z[1] == 1 0"),
    "a bare array": (lambda s: s.b.when(s.z), "z[3] p[1] == 1"),
    "a bit and an array": (lambda s: s.b.when(s.f == s.z), "z[3] 0 1"),
    "a bit and a condition": (lambda s: s.b.when(s.f == (s.f == 1)), "compared condition"),
    "2": (lambda s: s.b.when(s.z[1] == 2), "0 1 2"),
    "a text": (lambda s: s.b.when(s.z[1] == "1"), "'1'"),
    "True for a condition": (lambda s: s.b.when(True), "takes conditions"),
    "an array written": (lambda s: s.b.when(s.f == 1).write(s.z), "z[3]"),
    "a number written": (lambda s: s.b.when(s.f == 1).write(3), "3"),
    "an array in a block": (lambda s: s.b.block(s.m), "m[2,2] p[:]"),
    "an array as a number": (lambda s: word(s.z), "z[3] p[:]"),
}  # fmt: skip


@pytest.mark.parametrize(("misuse", "message"), REFUSED.values(), ids=REFUSED)
def test_what_python_would_misread_is_refused(
    misuse: Callable[[Setting], object], message: str, setting: Setting
) -> None:
    with pytest.raises(InputError) as refusal:
        misuse(setting)
    assert missing(str(refusal.value), message) == []
    assert "\n" not in str(refusal.value)
