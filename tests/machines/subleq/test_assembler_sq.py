"""SUBLEQ assembly: what lines become, and what is wrong with lines that become nothing."""

import random
from pathlib import Path

import pytest
from cases import for_each
from facts import missing
from subleq_interpreter import Interpreter

from bitwright import BitwrightError, InputError, ProgramError
from bitwright.machines.assembly import macros
from bitwright.machines.subleq import Shape, assemble_sq, find_dialect, load_sq, parse_image


def lines(*text: str) -> str:
    return "\n".join(text)


def test_labels_data_and_expressions() -> None:
    found = assemble_sq(
        lines(
            "; counts down",
            "; and stops",
            ".words 0x20",
            ".width 8",
            ".dialect kth",
            ".const TWO, 2",
            "start: subleq one, n + TWO - 2, $ + 9",
            "  subleq 0, 0, -(start - 1) * 3   ; comment",
            "one: n: .data 'a', \"b\\n\\\\\", -1, (1 + TWO) * 4",
            ".space TWO",
            "end: .data end",
        )
    )
    assert found.image == [6, 6, 9, 0, 0, 3, 97, 98, 10, 92, -1, 12, 0, 0, 14]
    assert (found.words, found.width, found.dialect) == (32, 8, "kth")
    assert found.labels == {"start": 0, "one": 6, "n": 6, "end": 14}
    assert found.description == "counts down and stops"


def test_pooled_words_are_shared_and_z_stands_before_them() -> None:
    found = assemble_sq(lines("subleq #5, #-1", "subleq #(2 + 3), Z", "subleq #here, Z", "here: .data 0"))
    assert found.image == [11, 12, 3, 11, 10, 6, 13, 10, 9, 0, 0, 5, -1, 9]


def test_macros_have_parameters_and_names_of_their_own() -> None:
    text = lines(
        ".macro twice x, y",
        "  subleq x, y, @end",
        "@end: again x + 1",
        ".end",
        ".macro again z",
        "  subleq z, z",
        ".end",
        "twice 9, 10 * 2",
        "twice 7, 8",
    )
    assert assemble_sq(text).image == [9, 20, 3, 10, 10, 6, 7, 8, 9, 8, 8, 12]


def run(text: str, given: bytes = b"", most: int = 10_000) -> bytes:
    found = assemble_sq(text)
    supply, said = list(given), bytearray()
    shape = Shape(found.words or 128, found.width or 16, find_dialect(found.dialect or "howerj"))
    one = Interpreter(shape, found.image, lambda: supply.pop(0) if supply else None, said.append)
    assert one.run(most)
    return bytes(said)


def test_the_operations_that_every_program_has() -> None:
    rng = random.Random(3)
    for _ in range(20):
        x, y = rng.randrange(-90, 90), rng.randrange(-90, 90)
        said = run(
            lines(
                *("mov x, t", "add y, t", "add #100, t", "add #100, t", "out t"),  # x + y + 200
                *("sub x, y", "inc y", "dec x", "dec x", "jle x, low", "out #'+'", "jmp go", "low: out #'-'"),
                *("go: add #100, y", "add #100, y", "out y", "clr y", "out y", "in y", "out y", "mov y, y", "out y"),
                *("halt", f"x: .data {x}", f"y: .data {y}", "t: .data 0"),
            ),
            b"Q",
        )
        assert list(said) == [(x + y + 200) & 255, *(b"-" if x - 2 <= 0 else b"+"), (y - x + 1 + 200) & 255, 0, 81, 81]


@for_each(
    ("text", "message"),
    [
        ("subleq a, b", "1 8 'a'"),
        ("subleq 1", "1 9 'subleq' 2 3"),
        ("subleq 1, 2, 3, 4", "1 17 'subleq' 2 3 4"),
        ("sublec 1, 2", "1 'sublec' 'subleq'"),
        ("x: x: .data 1", "1 4 'x'"),
        (".data 1 +", "'+'"),
        (".data (1", "'('"),
        (".data 1 2", "',' '2'"),
        (".data 1,,2", "','"),
        (".data %", "1 7 '%'"),
        (".data 'ab'", "1 7"),
        ('.data 1, "open ; text', "1 10 '\"'"),
        (".words", "1 7 '.words' 0 .words 256"),
        (".data", "1 6 '.data' 0"),
        (r".data '\q'", "escape"),
        (".word 1", "'.word'"),
        (".space n\nn: .data 1", "1 8 'n' 2"),
        (".space -1", ".space 0 16,777,216 -1"),
        (".dialect nonsense", "'nonsense'"),
        (".width 8\n.width 9\n.data 1", "2 1 '.width'"),
        (".macro m\nm\n.end\nm", "2 1 'm'"),
        (".macro m a\n.data a\n.end\nm", "'m' 1 0"),
        (".macro m\n.data 1", "'m' '.end'"),
        (".end", "'.end' '.macro'"),
        (".macro mov\n.end", "'mov'"),
        ("; nothing", "no word"),
        (".const A, #5\n.data A", "1 11 '#5' .const SIZE 10"),
        (".macro m 5\n.data 1\n.end\nm 1\n.data 1", "1 10 '5'"),
        (".macro m x\nx: .data 1\n.end\nm 3", "4 3 'x' '3'"),
        (".macro m\nx: .data 1\n.end\nm\nm", "2 1 'x'"),
        (".data 99999999999999999999999", "fits machine"),
        (".data " + "-" * 300 + "1", "100"),
        (".data 9" + "*9999999999" * 40, "large word"),
        ("x" * 20_000, "10,000"),
        (".macro a x\nb #x\n.end\n.macro b y\n.data y + 1\n.end\na 1", "7 3 '#1' 'y' 'y+1'"),
        ("5 6", "':' '5'"),
        (".const 5, 6\n.data 1", "'5'"),
    ],
)
def test_problems_are_said_in_one_line(text: str, message: str) -> None:
    with pytest.raises(ProgramError) as caught:
        assemble_sq(text)
    assert missing(str(caught.value), message) == []
    assert "\n" not in str(caught.value)


def test_macros_cannot_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(macros, "MAX_STATEMENTS", 1 << 14)
    doubling = [f".macro m{i}\nm{i + 1}\nm{i + 1}\n.end" for i in range(30)]
    with pytest.raises(ProgramError, match="16,384"):
        assemble_sq("\n".join([*doubling, ".macro m30\n.data 1\n.end\nm0"]))


# Images.


@for_each(
    ("text", "message"),
    [
        ("1 2 x 3", "the image:1:5: 'x' is not a word"),
        ("1\n2\n0x10", "the image:3:1: '0x10'"),
        ("# nothing", "has no words"),
        ("1.5", "'1.5' is not a word"),
        ("9" * 30, "is not a word"),
        ("٣", "is not a word"),
    ],
)
def test_images_with_junk(text: str, message: str) -> None:
    with pytest.raises(BitwrightError, match=message):
        parse_image(text)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="file"):
        load_sq(tmp_path / "no.sq")
    (tmp_path / "bad.sq").write_text("subleq")
    with pytest.raises(ProgramError, match=r"bad\.sq:1.*7.*'subleq'.*2.*3.*0"):
        load_sq(tmp_path / "bad.sq")
