"""Conditions on bits: what joins them, and what Python would silently take for something else."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from facts import missing

from bitwright import InputError
from bitwright.program import Bits, Builder, Program, Ref, parse, span, word


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


def test_and_is_a_comma(setting: Setting) -> None:
    z = setting.z
    setting.b.when((z[1] == 1) & (z[2] == 1)).write(setting.f)
    setting.b.when((z[1] != z[2]) & (z[3] == 1)).write(z[1])
    text = TEXT + "when z[1]=1 z[2]=1 write f\nwhen z[1]!=z[2] z[3]=1 write z[1]"
    assert setting.program() == parse(text).program


def test_and_of_two_comparisons_between_bits_has_all_their_ways(setting: Setting) -> None:
    m = setting.m
    setting.b.when((m[1, 1] == m[1, 2]) & (m[2, 1] != m[2, 2])).write(setting.f)
    assert setting.program() == parse(TEXT + "when m[1,1]=m[1,2] m[2,1]!=m[2,2] write f").program


def test_and_works_row_by_row(setting: Setting) -> None:
    i = span(1, 2)
    setting.b.when((setting.z[i] == [1, 0]) & (setting.z[3] == 1)).write(setting.m[i, i])
    expected = parse(TEXT + "when z[1]=1 z[3]=1 write m[1,1]\nwhen z[2]=0 z[3]=1 write m[2,2]").program
    assert setting.program() == expected


def test_numbers_may_stand_on_the_left(setting: Setting) -> None:
    z, m, i = setting.z, setting.m, span(1, 2)
    setting.b.when(z[1] == 1, np.int64(0) == z[2]).write(setting.f)
    setting.b.when(np.array([0, 1]) == m[1, i]).write(z[i])
    text = TEXT + "when z[1]=1 z[2]=0 write f\nwhen m[1,1]=0 write z[1]\nwhen m[1,2]=1 write z[2]"
    assert setting.program() == parse(text).program
    assert (np.int64(0) != z[2]).alternatives[0][0][1].tolist() == [[1]]


NEITHER = "neither true nor false"
REFUSED: dict[str, tuple[Callable[[Setting], object], str]] = {
    "and": (lambda s: s.b.when(s.z[1] == 1 and s.z[2] == 1), f"{NEITHER} comma or &"),
    "a chain": (lambda s: s.b.when(s.z[1] == s.z[2] == 1), f"{NEITHER} compare two bits at a time"),
    "a chain of numbers": (lambda s: s.b.when(0 != s.z[1] == 1), NEITHER),
    "one of several": (lambda s: (s.z[1] == 1) in [s.z[2] == 1], "joined comma"),
    "& with a bit": (lambda s: (s.z[1] == 1) & s.z[2], "z[2] == 1"),
    "& with a number": (lambda s: (s.z[1] == 1) & 1, "1"),
    "& with True": (lambda s: True & (s.z[1] == 1), "between conditions"),
    "& without parentheses": (lambda s: s.z[1] == 1 & s.z[2] == 1, "parentheses around"),
    "a bare bit": (lambda s: s.b.when(s.z[2]), "z[2] 1 0"),
    "bits joined by and": (lambda s: s.b.when(s.z[1] and s.z[2]), "z[1]"),
    "~ of a bit": (lambda s: s.b.when(~s.f), "0"),
    "a bare array": (lambda s: s.b.when(s.z), "z[1] 1"),
    "a bit and an array": (lambda s: s.b.when(s.f == s.z), "z[3] 0 1"),
    "a bit and a condition": (lambda s: s.b.when(s.f == (s.f == 1)), "compared condition"),
    "2": (lambda s: s.b.when(s.z[1] == 2), "0 1 2"),
    "a text": (lambda s: s.b.when(s.z[1] == "1"), "'1'"),
    "True for a condition": (lambda s: s.b.when(True), "takes conditions"),
    "an array written": (lambda s: s.b.when(s.f == 1).write(s.z), "z[3]"),
    "a number written": (lambda s: s.b.when(s.f == 1).write(3), "3"),
    "an array in a block": (lambda s: s.b.block(s.m), "m[2,2] m[:, :]"),
    "an array as a number": (lambda s: word(s.z), "z[3] z[:]"),
}  # fmt: skip


@pytest.mark.parametrize(("misuse", "message"), REFUSED.values(), ids=REFUSED)
def test_what_python_would_misread_is_refused(
    misuse: Callable[[Setting], object], message: str, setting: Setting
) -> None:
    with pytest.raises(InputError) as refusal:
        misuse(setting)
    assert missing(str(refusal.value), message) == []
    assert "\n" not in str(refusal.value)
