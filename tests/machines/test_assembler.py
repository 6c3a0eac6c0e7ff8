"""The assembly language: what each form means, every mistake at its place, and texts that ask for too much."""

from pathlib import Path

import pytest
from cases import for_each
from facts import missing
from lockstep import run_interpreter
from long import LONG
from marked import marked

from bitwright.common.errors import Problem, ProgramError
from bitwright.machines.assembly import macros
from bitwright.machines.sbn import assembler as sbn_assembler
from bitwright.machines.sbn.assembler import assemble, load_sbn
from bitwright.machines.sbn.code import MAX_SIZE, Code


def triples(code: Code) -> list[tuple[int, int, int]]:
    return [(one.a, one.b, one.c) for one in code.instructions]


# What each form means: the words are declared first, so that x, y and z have the addresses 0, 1 and 2.

WORDS = ".word x 7\n.word y 20\n.word z -3\n"
FORMS = {
    "sbn x y": ([(0, 1, 1)], []),
    "sbn x y halt": ([(0, 1, 1)], []),
    "here: sbn x y here": ([(0, 1, 0)], []),
    "here: there:\nsbn x y there": ([(0, 1, 0)], []),
    "sbn x y on\nsbn y z\non:": ([(0, 1, 2), (1, 2, 2)], []),
    "sbn x y 1": ([(0, 1, 1)], []),
    "sbn x y 0b0": ([(0, 1, 0)], []),
    "sbn x y 3\nsbn x y": ([(0, 1, 3), (0, 1, 2)], []),
    ".const start 0\nsbn x y -start": ([(0, 1, 0)], []),
    "sbn #5 y": ([(3, 1, 1)], [5]),
    "sbn #5 y\nsbn #-5 y\nsbn #5 z": ([(3, 1, 1), (4, 1, 2), (3, 2, 3)], [5, -5]),
    "sbn #0x1f y\nsbn #-0b101 y\nsbn #031 y": ([(3, 1, 1), (4, 1, 2), (3, 1, 3)], [31, -5]),
    ".const STEP 5\nsbn #STEP y\nsbn #-STEP y": ([(3, 1, 1), (4, 1, 2)], [5, -5]),
    ".const A 5\n.const B -A\nsbn #B y\nsbn #-B y": ([(3, 1, 1), (4, 1, 2)], [-5, 5]),
    "sub x y": ([(0, 1, 1)], []),
    "clr z": ([(2, 2, 1)], []),
    "jmp halt": ([(3, 4, 1)], [0, -1]),
    "here: jmp here": ([(3, 4, 0)], [0, -1]),
    "jneg z halt": ([(3, 2, 1)], [0]),
    "inc x": ([(3, 0, 1)], [-1]),
    "dec x": ([(3, 0, 1)], [1]),
    "halt\nclr x": ([(3, 4, 2), (0, 0, 2)], [0, -1]),
    "inc x\nhalt\nsub #-1 y": ([(3, 0, 1), (4, 3, 3), (3, 1, 3)], [-1, 0]),
    "mov x y": ([(0, 3, 1), (1, 1, 2), (3, 1, 3), (3, 3, 4)], [0]),
    "add x y": ([(0, 3, 1), (3, 1, 2), (3, 3, 3)], [0]),
    "add x y\nsub #0 y\nadd y x": (
        [(0, 3, 1), (3, 1, 2), (3, 3, 3), (4, 1, 4), (1, 3, 5), (3, 0, 6), (3, 3, 7)],
        [0, 0],
    ),
    "mov #5 y": ([(1, 1, 1), (3, 1, 2)], [-5]),
    "add #5 y": ([(3, 1, 1)], [-5]),
    "add #-128 y": ([(3, 1, 1)], [-128]),
    "sbn new y\nsbn x newer\nsbn newer new": ([(3, 1, 1), (0, 4, 2), (4, 3, 3)], [0, 0]),
    ".alias a x\nsbn a y": ([(0, 1, 1)], []),
    "sbn @local y\nsbn y @local": ([(3, 1, 1), (1, 3, 2)], [0]),
    "sbn sbn y\nsbn y sbn": ([(3, 1, 1), (1, 3, 2)], [0]),
    "\tSBN:\r\n  sbn x y SBN  ; a comment: with ; signs # and .word": ([(0, 1, 0)], []),
    ".macro less p q\nsub p q\n.end\nless x y\nless #5 z": ([(0, 1, 1), (3, 2, 2)], [5]),
    "less x y\n.macro less p q\nsub p q\n.end": ([(0, 1, 1)], []),
    ".macro by n p\nsub #n p\nsub #-n p\n.end\nby 5 x\nby -5 y": (
        [(3, 0, 1), (4, 0, 2), (4, 1, 3), (3, 1, 4)],
        [5, -5],
    ),
    ".const STEP 5\n.macro by n p\nsub #-n p\n.end\nby STEP x": ([(3, 0, 1)], [-5]),
    ".macro to where\njmp where\n.end\nto halt\nto 0": ([(3, 4, 2), (3, 4, 0)], [0, -1]),
    ".macro spin p\n@here: sbn p p @here\n.end\nspin x\nspin y": ([(0, 0, 0), (1, 1, 1)], []),
    ".macro own p\nsub p @t\n.end\nown x\nown y\nsub @t x": ([(0, 3, 1), (1, 4, 2), (5, 0, 3)], [0, 0, 0]),
    ".macro twice p\nsub p p\nsub p p\n.end\n.macro four q\ntwice q\ntwice q\n.end\nfour x": (
        [(0, 0, 1), (0, 0, 2), (0, 0, 3), (0, 0, 4)],
        [],
    ),
    ".macro in a b\n@l: sbn b a @l\n.end\n.macro out a b\n@l: in b a\nsbn a b @l\n.end\nout x y": (
        [(0, 1, 0), (0, 1, 0)],
        [],
    ),
    ".macro empty\n.end\nempty\nclr x": ([(0, 0, 1)], []),
}


@for_each(("text", "meaning"), FORMS.items())
def test_a_form_stands_for_these_instructions_and_words(
    text: str, meaning: tuple[list[tuple[int, int, int]], list[int]]
) -> None:
    code = assemble(WORDS + text)
    assert triples(code) == meaning[0]
    assert list(code.words) == [7, 20, -3, *meaning[1]]


@for_each(
    ("text", "after"),
    [
        ("mov x y", (7, 7, -3)),
        ("mov x x", (7, 20, -3)),
        ("mov #-128 y", (7, -128, -3)),
        ("add x y", (7, 27, -3)),
        ("add y z", (7, 20, 17)),
        ("add x x", (14, 20, -3)),
        ("add #100 y", (7, 120, -3)),
        ("add #-128 y", (7, -108, -3)),
        ("mov z x\nadd y x\nmov x y", (17, 17, -3)),
        ("sub x y", (7, 13, -3)),
        ("clr x\ninc x\ninc x\ndec y", (2, 19, -3)),
        ("jneg z over\nclr x\nover: clr y", (7, 0, -3)),
        ("jneg x over\nclr x\nover: clr y", (0, 0, -3)),
        ("halt\nclr x", (7, 20, -3)),
        ("jmp on\nclr x\non: clr z", (7, 20, 0)),
        ("again: add #1 z\njneg z again", (7, 20, 0)),
        ("sbn #-128 z", (7, 20, 125)),
    ],
)
def test_operations_do_what_they_say(text: str, after: tuple[int, int, int]) -> None:
    code = assemble(WORDS + ".out x y z\n" + text)
    assert tuple(run_interpreter(code).values()) == after


def test_inputs_outputs_names_and_labels() -> None:
    text = ".in b\n.out sum\n.out a\nstart: sub a t\n@inner: sub t b\n.in a\n.alias sum b\nend: .width 16"
    with pytest.raises(ProgramError, match=r"stands.*alone"):
        assemble(text)
    code = assemble(text.replace("end: .width", "end:\n.width"), "adder")
    assert (code.name, code.width, code.inputs, code.outputs) == ("adder", 16, ("b", "a"), ("sum", "a"))
    assert code.names == {"a": 0, "t": 1, "b": 2, "sum": 2}
    assert code.labels == {"start": 0, "end": 2}
    assert run_interpreter(code, {"a": 1000, "b": -1}) == {"sum": 999, "a": 1000}


# Problems. A ¦ in the text marks the line and column that must be reported.

SOUND = ".in n\n.word one 1\nloop: sbn one n done\njmp loop\ndone:\n"
MISTAKES = {
    "¦sbnn one n": "'sbnn' 'sbn'",
    "¦5": "':' '5'",
    "sub n ¦: n": "'sub' ':'",
    "sbn one¦, n": "','",
    "¦\x0b": "'?'",
    "clr ¦12ab": "'12ab' 5 -1 0 1 101",
    "clr ¦" + "a" * 65: "64",
    "sub ¦#" + "9" * 70 + " n": "long",
    "sbn one¦": "'sbn' 2 3 1 LABEL",
    "sbn one n done ¦done": "'sbn' 2 3 4",
    "sub one n ¦done ; no": "'sub' 2 3",
    "clr ¦; x": "'clr' 1 0",
    "halt ¦n": "'halt' 0 1",
    "jmp¦": "'jmp' 1 0",
    "jmp ¦lop": "'lop' 'loop'",
    "jmp ¦one": "'one' 2 'done'",
    ".const K 1\njmp ¦K": "'K' 6",
    "jmp ¦#1": "'#1' '#'",
    "jmp ¦8": "0 3 '8'",
    "jmp ¦-1": "0 3 '-1'",
    "clr ¦loop": "'loop' 3",
    "sub ¦5 n": "'5' 5",
    "sub one ¦#5": "'#5'",
    "jneg ¦#5 loop": "constant changed",
    "sub ¦#128 n": "128 8 -128 127 .width",
    "mov ¦#-129 n": "-129 8 -128 127",
    "add ¦#0xff n": "255 8",
    "sub ¦#K n": "'K' .const",
    "sub ¦#one n": "'one' 2",
    "¦loop: clr n": "'loop' 3",
    ".word ¦one 2": "'one' 2",
    ".word ¦5 2": "'5' .word 1",
    ".word two¦": "'.word' 2 1 .word",
    ".word two ¦#2": "'#2' .word 1",
    ".word two ¦128": "128 8 -128 127",
    ".const K ¦J\n.const J 2": "'J'",
    ".const ¦@k 1": "'@k' '@'",
    ".alias sum ¦nothing": "'nothing' .word",
    ".alias sum ¦loop": "'loop' 3",
    ".alias a n\n.alias b ¦a": "'a'",
    ".alias a¦": "'.alias' 2 1 .alias",
    ".in¦": "'.in' 1 0 .in",
    ".in ¦m": "'m' .word",
    ".in ¦n": "'n' '.in'",
    ".alias m n\n.in ¦m": "'m' 'n'",
    ".width ¦0": "1 64 0",
    ".width ¦65": "1 64 65",
    ".width ¦#8": "'#8'",
    ".width 8\n¦.width 8": "'.width' 6",
    "¦.wrod two 2": "'.wrod' '.word'",
    ".ensure ¦sun == n": "'sun' input output",
    "  .ensure n ¦= n ; a comment": "==",
    ".ensure n ¦+ 1": "condition ==",
    "x: ¦.word two 2": "'.word'",
    "¦.end": "'.end' '.macro'",
    ".macro m\n.end ¦m": "'.end' 0 1",
    ".macro¦\n.end": "expected found",
    ".macro ¦sub a\n.end": "'sub'",
    ".macro m\n.end\n.macro ¦m\n.end": "'m' 6",
    ".macro m ¦5\n.end": "'5'",
    ".macro m p ¦p\n.end": "'p'",
    ".macro m " + " ".join(f"p{i}" for i in range(16)) + " ¦p16\n.end": "16 17",
    ".macro ¦m\nclr n": "'m' '.end'",
    ".macro m\n¦.word k 5\n.end": "'.word' '.macro'",
    ".macro m\n¦x: clr n\n.end": "'@x'",
    ".macro m\n¦sbnn\n.end": "'sbnn' 'sbn'",
    ".macro m p\nclr p\n.end\nm¦": "'m' 1 0",
    ".macro m p\nclr p\n.end\nm n ¦n": "'m' 1 2",
    ".macro m\n¦m\n.end\nm": "'m'",
    ".macro m p\nsub #p n\n.end\nm ¦#5": "'#5' 'p' '#p'",
    ".macro m p\nsub #p n\n.end\nm ¦128": "128 8",
    ".macro m\n@x: clr n\n.end\nm\njmp ¦@x": "'@x'",
}


def problems_of(text: str) -> tuple[Problem, ...]:
    with pytest.raises(ProgramError) as refusal:
        assemble(text)
    return refusal.value.problems


@for_each(("text", "piece"), MISTAKES.items())
def test_a_mistake_is_one_problem_at_its_line_and_column(text: str, piece: str) -> None:
    whole, line, column = marked(SOUND + text)
    problems = problems_of(whole)
    assert [(problem.line, problem.column) for problem in problems] == [(line, column)], problems
    assert missing(problems[0].message, piece) == []
    assert str(problems[0]).isprintable()


@pytest.mark.parametrize(("text", "place"), [("", (1, 1)), ("; only this\n\n", (1, 1)), (".word x 5\nhere:\n", (1, 1))])
def test_a_program_without_an_instruction(text: str, place: tuple[int, int]) -> None:
    (problem,) = problems_of(text)
    assert (problem.line, problem.column) == place
    assert problem.message == "the text has no instruction; add a line such as: sbn a b"


@for_each(
    ("text", "places"),
    [
        ("lo op: clr x\njmp op", [(1, 6)]),
        (".wrod y 5\n.in y\nclr x", [(1, 1)]),
        (".const K, 5\nsub #K x\nsub #-K x", [(1, 9)]),
        (".macro m p,q\nclr p\n.end\nm x y\nclr x", [(1, 11)]),
        (".const K 5 5\n.word x K\n.width K\nclr x", [(1, 12)]),
        (".width 99\n.word x 99999\nclr x", [(1, 8)]),
        (".macro m p 5\nclr p\n.end\nm x\nclr y", [(1, 12)]),
    ],
)
def test_one_mistake_does_not_bring_others_with_it(text: str, places: list[tuple[int, int]]) -> None:
    assert [(problem.line, problem.column) for problem in problems_of(text)] == places


# Texts that ask for more than there is.


def doubling(levels: int, first: str) -> str:
    """Macros each of which calls the one before it twice."""
    text = f".macro m0\n{first}\n.end\n"
    return text + "".join(f".macro m{i}\nm{i - 1}\nm{i - 1}\n.end\n" for i in range(1, levels)) + f"m{levels - 1}\n"


MANY = 5_000 if LONG else 1_200  # more than the problems that are listed
SIZE = MAX_SIZE if LONG else 1_024  # of instructions and of words, at most
HOSTILE = {
    "junk": "é" * 300_000,
    "lines of junk": "é\n" * 100_000,
    "unknown operations": "".join(f"operation{i}\n" for i in range(MANY)),
    "unknown labels": "".join(f"label{i}: jmp lable{i}\n" for i in range(MANY)),
    "many labels on a line": "a: " * MANY + "clr x",
    "many operands": "clr " + "x " * MANY,
    "many parameters": ".macro m " + " ".join(f"p{i}" for i in range(MANY)) + "\n.end\nclr x\nm",
    "a giant constant": ".const K " + "9" * 65 + "\nsub #K x",
    "too many instructions": "clr x\n" * (SIZE + 1),
    "too many built-ins": "mov x y\n" * (SIZE // 4 + 1),
    "too many lines": "\n" * 2_000_000,
    "too many inputs": (".in " + "x " * 4_000 + "\n") * (50 if LONG else 17) + "clr x",
    "too many words": "".join(f".word w{i} 0\n" for i in range(SIZE + 1)) + "clr x",
    "doubling macros": doubling(40, "clr x"),
    "doubling macros with labels": doubling(40, "@x: clr @y\njmp @x"),
    "a tower of macros": "clr x\n.macro m0\n.end\n"
    + "".join(f".macro m{i}\nm{i - 1}\n.end\n" for i in range(1, MANY))
    + f"m{MANY - 1}",
    "a circle of macros": "".join(f".macro m{i}\nm{(i + 1) % 40}\n.end\n" for i in range(40)) + "m0\n",
}


@for_each("name", HOSTILE if LONG else HOSTILE.keys() - {"too many lines"})
def test_texts_that_ask_for_too_much_are_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sbn_assembler, "MAX_SIZE", SIZE)
    if name.startswith("doubling") and not (
        LONG and name == "doubling macros with labels"
    ):  # it meets the limit as it is
        monkeypatch.setattr(macros, "MAX_STATEMENTS", 1 << 14)
    problems = problems_of(HOSTILE[name])
    assert all(len(str(problem)) < 300 and str(problem).isprintable() for problem in problems)


# Files.


def test_a_file_is_read_as_its_text(tmp_path: Path) -> None:
    path = tmp_path / "count.sbn"
    path.write_bytes(b"\xef\xbb\xbf; counts\r\nclr x\r\n")
    code = load_sbn(path)
    assert (code.name, code.description, len(code.instructions)) == ("count", "counts", 1)
    assert load_sbn(str(path)) == code
