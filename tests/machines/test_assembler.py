"""The assembly language: what each form means, every mistake at its place, and texts that ask for too much."""

from __future__ import annotations

from pathlib import Path

import pytest
from cases import for_each
from hypothesis import given, settings
from hypothesis import strategies as st
from long import LONG
from marked import marked

from bitwright.errors import Problem, ProgramError
from bitwright.machines.assembly import macros, sbn_assembler
from bitwright.machines.assembly.sbn_assembler import assemble, load_sbn
from bitwright.machines.sbn.code import MAX_SIZE, Code, Instruction, run_interpreter


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
    with pytest.raises(ProgramError, match="a label stands alone"):
        assemble(text)
    code = assemble(text.replace("end: .width", "end:\n.width"), "adder")
    assert (code.name, code.width, code.inputs, code.outputs) == ("adder", 16, ("b", "a"), ("sum", "a"))
    assert code.names == {"a": 0, "t": 1, "b": 2, "sum": 2}
    assert code.labels == {"start": 0, "end": 2}
    assert run_interpreter(code, {"a": 1000, "b": -1}) == {"sum": 999, "a": 1000}


def test_the_width_is_8_unless_it_is_given() -> None:
    assert assemble("clr x").width == 8
    assert assemble("clr x\n.width 1").width == 1
    assert assemble(".const W 0x40\n.width W\nsub #-0x8000000000000000 x").words == (-(2**63), 0)


# Problems. A ¦ in the text marks the line and column that must be reported.

SOUND = ".in n\n.word one 1\nloop: sbn one n done\njmp loop\ndone:\n"
MISTAKES = {
    "¦sbnn one n": "unknown operation 'sbnn'; did you mean 'sbn'?",
    "¦5": "a line starts with an operation such as sbn, or a label and ':', found '5'",
    "sub n ¦: n": "expected an operand of 'sub', found ':'",
    "sbn one¦, n": "unexpected character ','; operands are separated by spaces",
    "¦\x0b": "unexpected character '?'",
    "clr ¦12ab": "'12ab' is neither a name, nor a number such as 5, -1, 0x1f or 0b101",
    "clr ¦" + "a" * 65: "is too long; a name has at most 64 characters",
    "sub ¦#" + "9" * 70 + " n": "is too long",
    "sbn one¦": "'sbn' takes 2 or 3 operands, got 1 (the form is: sbn a b, or sbn a b LABEL)",
    "sbn one n done ¦done": "'sbn' takes 2 or 3 operands, got 4",
    "sub one n ¦done ; no": "'sub' takes 2 operands, got 3 (the form is: sub a b)",
    "clr ¦; x": "'clr' takes 1 operand, got 0 (the form is: clr x)",
    "halt ¦n": "'halt' takes 0 operands, got 1 (the form is: halt)",
    "jmp¦": "'jmp' takes 1 operand, got 0",
    "jmp ¦lop": "unknown label 'lop'; did you mean 'loop'?",
    "jmp ¦one": "a label is needed here, but 'one' is a word (line 2); did you mean 'done'?",
    ".const K 1\njmp ¦K": "a label is needed here, but 'K' is a constant (line 6)",
    "jmp ¦#1": "a label is needed here, found '#1'; labels have no '#'",
    "jmp ¦8": "an address of this program lies between 0 and 3, got '8'",
    "jmp ¦-1": "an address of this program lies between 0 and 3, got '-1'",
    "clr ¦loop": "a word is needed here, but 'loop' is a label (line 3); a word needs another name",
    "sub ¦5 n": "a word is needed here, found '5'; write #5 for the constant 5",
    "sub one ¦#5": "a constant cannot be changed, found '#5'; give a word's name",
    "jneg ¦#5 loop": "a constant cannot be changed",
    "sub ¦#128 n": "128 does not fit in 8 bits, -128 to 127; change it or .width",
    "mov ¦#-129 n": "-129 does not fit in 8 bits, -128 to 127",
    "add ¦#0xff n": "255 does not fit in 8 bits",
    "sub ¦#K n": "unknown constant 'K'; give it a value with .const",
    "sub ¦#one n": "a number is needed here, but 'one' is a word (line 2)",
    "¦loop: clr n": "'loop' is already a label (line 3); choose another name",
    ".word ¦one 2": "'one' is already a word (line 2); choose another name",
    ".word ¦5 2": "expected a name, found '5' (the form is: .word one 1)",
    ".word two¦": "'.word' takes 2 operands, got 1 (the form is: .word one 1)",
    ".word two ¦#2": "expected a number, found '#2' (the form is: .word one 1)",
    ".word two ¦128": "128 does not fit in 8 bits, -128 to 127",
    ".const K ¦J\n.const J 2": "a number is needed here, but 'J' is defined further down",
    ".const ¦@k 1": "'@k' is local to the text; a name for others has no '@'",
    ".alias sum ¦nothing": "unknown word 'nothing'; declare it with .word, or use it in an instruction",
    ".alias sum ¦loop": "a word is needed here, but 'loop' is a label (line 3)",
    ".alias a n\n.alias b ¦a": "'a' is an alias itself; name the word that it stands for",
    ".alias a¦": "'.alias' takes 2 operands, got 1 (the form is: .alias sum b)",
    ".in¦": "'.in' takes 1 or more operands, got 0 (the form is: .in a b)",
    ".in ¦m": "unknown word 'm'; declare it with .word, or use it in an instruction",
    ".in ¦n": "'n' is listed twice; '.in' takes a word once",
    ".alias m n\n.in ¦m": "'m' and 'n' are the same word; only one of them can be an input",
    ".width ¦0": "a word has between 1 and 64 bits, got 0",
    ".width ¦65": "a word has between 1 and 64 bits, got 65",
    ".width ¦#8": "expected a number, found '#8'",
    ".width 8\n¦.width 8": "'.width' is given twice; line 6 has it too",
    "¦.wrod two 2": "unknown directive '.wrod'; did you mean '.word'?",
    "x: ¦.word two 2": "a label stands alone or before an instruction, not before '.word'",
    "¦.end": "'.end' without a '.macro' above it; remove it",
    ".macro m\n.end ¦m": "'.end' takes 0 operands, got 1",
    ".macro¦\n.end": "expected the name of a macro, found the end of the line",
    ".macro ¦sub a\n.end": "'sub' is an operation already; choose another name for the macro",
    ".macro m\n.end\n.macro ¦m\n.end": "macro 'm' is already on line 6; choose another name",
    ".macro m ¦5\n.end": "expected the name of a parameter, found '5'",
    ".macro m p ¦p\n.end": "parameter 'p' is given twice",
    ".macro m " + " ".join(f"p{i}" for i in range(16)) + " ¦p16\n.end": "a macro has at most 16 parameters, got 17",
    ".macro ¦m\nclr n": "macro 'm' has no '.end'; add one behind its last line",
    ".macro m\n¦.word k 5\n.end": "'.word' cannot stand inside a macro; write it before '.macro'",
    ".macro m\n¦x: clr n\n.end": "a label inside a macro is local to it; call it '@x'",
    ".macro m\n¦sbnn\n.end": "unknown operation 'sbnn'; did you mean 'sbn'?",
    ".macro m p\nclr p\n.end\nm¦": "macro 'm' takes 1 operand, got 0 (the form is: m p)",
    ".macro m p\nclr p\n.end\nm n ¦n": "macro 'm' takes 1 operand, got 2 (the form is: m p)",
    ".macro m\n¦m\n.end\nm": "macro 'm' calls itself without end (m calls m); use a loop",
    ".macro m p\nsub #p n\n.end\nm ¦#5": "the macro needs a number here, found '#5'; 'p' is used as '#p' there",
    ".macro m p\nsub #p n\n.end\nm ¦128": "128 does not fit in 8 bits",
    ".macro m\n@x: clr n\n.end\nm\njmp ¦@x": "unknown label '@x'",
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
    assert piece in problems[0].message
    assert str(problems[0]).isprintable()


@pytest.mark.parametrize(("text", "place"), [("", (1, 1)), ("; only this\n\n", (1, 1)), (".word x 5\nhere:\n", (1, 1))])
def test_a_program_without_an_instruction(text: str, place: tuple[int, int]) -> None:
    (problem,) = problems_of(text)
    assert (problem.line, problem.column) == place
    assert problem.message == "there is no instruction; add a line such as: sbn a b"


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


def test_limits_are_not_in_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sbn_assembler, "MAX_SIZE", SIZE)
    half = doubling(SIZE.bit_length() - 1, "sbn x y")
    code = assemble(half + "sbn x y\n" * (SIZE // 2 - 1) + "last: sbn y x last")
    assert len(code.instructions) == SIZE
    assert code.instructions[-1] == Instruction(1, 0, SIZE - 1)
    if LONG:
        wide = assemble("".join(f".word w{i} {i % 100}\n" for i in range(65_536)) + "clr w0")
        assert len(wide.words) == 65_536


PIECES = (
    *("sbn", "sub", "clr", "jmp", "jneg", "inc", "halt", "mov", "add", ".width", ".in", ".out", ".word", ".const"),
    *(".alias", ".macro", ".end", "x", "y", "m", "@x", "#1", "#x", "#-x", "-x", "5", "-1", "0x1f", ":", "; c", "\n"),
    *("é", "1a"),
)


@settings(max_examples=500 if LONG else 100)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join) | st.text(max_size=60))
def test_whatever_the_text_the_answer_is_a_code_or_a_list_of_problems(text: str) -> None:
    problems: tuple[Problem, ...] = ()
    try:
        assemble(text)
    except ProgramError as refusal:
        problems = refusal.problems
        assert problems
    lines = text.split("\n")
    for problem in problems:
        assert problem.message.isprintable()
        assert 1 <= problem.column <= len(lines[problem.line - 1]) + 1


# Files.


def test_a_file_is_read_as_its_text(tmp_path: Path) -> None:
    path = tmp_path / "count.sbn"
    path.write_bytes(b"\xef\xbb\xbf; counts\r\nclr x\r\n")
    code = load_sbn(path)
    assert (code.name, code.description, len(code.instructions)) == ("count", "counts", 1)
    assert load_sbn(str(path)) == code
