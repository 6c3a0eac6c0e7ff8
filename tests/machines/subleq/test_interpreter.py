"""The plain interpreter does what the dialects say, on cases worked out by hand."""

import pytest
from subleq_interpreter import Interpreter

from bitwright import InputError
from bitwright.machines.subleq import Shape, find_dialect


def machine(dialect: str, image: list[int], words: int = 8, width: int = 8, given: bytes = b"") -> Interpreter:
    supply, said = list(given), bytearray()
    found = Interpreter(
        Shape(words, width, find_dialect(dialect)), image, lambda: supply.pop(0) if supply else None, said.append
    )
    found.said = said  # type: ignore[attr-defined]
    return found


def test_subtracts_and_branches_at_zero_or_less() -> None:
    for minuend, result, pc in ((9, 4, 3), (5, 0, 6), (4, 255, 6)):
        one = machine("plain", [3, 4, 6, 5, minuend])
        assert one.step()
        assert (one.memory[4], one.pc) == (result, pc)


def test_the_jump_is_read_before_the_result_is_written() -> None:
    one = machine("plain", [3, 2, 5, 1])
    one.step()
    assert (one.memory[2], one.pc) == (4, 3)


def test_wraps_and_saturates() -> None:
    wrapped, saturated = machine("plain", [3, 4, 6, 1, 128]), machine("kth", [3, 4, 6, 1, 128])
    wrapped.step()
    saturated.step()
    assert (wrapped.memory[4], wrapped.pc) == (127, 3)
    assert (saturated.memory[4], saturated.pc) == (128, 6)


def test_strict_dialects_halt_before_anything_changes() -> None:
    one = machine("kth", [3, 8, 6, 1])
    assert not one.step()
    assert (one.fault, one.halted, one.pc, one.memory[:4]) == (True, True, 0, [3, 8, 6, 1])
    wrapping = machine("plain", [3, 8 + 4, 6, 1, 5])
    assert wrapping.step()
    assert wrapping.memory[4] == 4


def test_halts_by_range_and_by_the_top_bit() -> None:
    ranged = machine("plain", [6, 6, 5])
    assert ranged.step()
    assert ranged.pc == 5
    assert not ranged.halted
    ranged.pc = 6
    assert ranged.halted
    top = machine("howerj", [6, 6, -1])
    top.step()
    assert (top.pc, top.halted, top.step()) == (255, True, False)


def test_ports() -> None:
    one = machine("howerj", [-1, 7, 0, 7, -1, 0, -1, 6, 0], 16, given=b"A")
    assert one.run(2) is False
    assert bytes(one.said) == b"A"  # type: ignore[attr-defined]
    assert one.pc == 6
    one.step()  # the end of input reads as -1
    assert (one.memory[6], one.pc) == (255, 9)
    both = machine("howerj", [-1, -1, 0], 16, given=b"B")
    both.step()  # input is looked for first
    assert both.memory[15] == 66


@pytest.mark.parametrize(
    ("image", "message"),
    [([0] * 9, "has 9 words, more than the machine's 8"), ([300], "word 0 of the image is 300"), ([-129], "-129")],
)
def test_images_that_do_not_fit(image: list[int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        machine("plain", image)
