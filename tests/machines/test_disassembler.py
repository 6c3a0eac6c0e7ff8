"""Code to text, to an object, and back: exact for every code, and whatever an object holds, a code or one line."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from cases import for_each
from hypothesis import given, settings
from hypothesis import strategies as st
from long import examples

from bitwright.errors import InputError
from bitwright.machines.assembly.disassembler import disassemble, from_json, to_json
from bitwright.machines.assembly.sbn_assembler import assemble
from bitwright.machines.sbn.code import Code, Instruction

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,6}|w[0-9]|l[0-9]|sbn|_{1,64}", fullmatch=True).filter(
    lambda n: n != "halt"
)


@st.composite
def codes(draw: st.DrawFn) -> Code:
    count, words = draw(st.integers(1, 9)), draw(st.integers(1, 6))
    width = draw(st.sampled_from([1, 2, 8, 63, 64]))
    word, target = st.integers(0, words - 1), st.integers(0, 2 ** count.bit_length() - 1)
    value = st.integers(-(2 ** (width - 1)), 2 ** (width - 1) - 1)
    called = draw(st.lists(NAMES, unique=True, max_size=8))
    names = {name: draw(word) for name in called[:5]}
    one_name_a_word = list({address: name for name, address in names.items()}.values())
    return Code(
        instructions=tuple(Instruction(*draw(st.tuples(word, word, target))) for _ in range(count)),
        words=tuple(draw(st.lists(value, min_size=words, max_size=words))),
        width=width,
        names=names,
        inputs=tuple(name for name in one_name_a_word if draw(st.booleans())),
        outputs=tuple(name for name in names if draw(st.booleans())),
        labels={name: draw(st.integers(0, count)) for name in called[5:]},
        description=" ".join(draw(st.lists(st.from_regex(r"[!-:<-~]{1,20}", fullmatch=True), max_size=30))),
    )


@settings(max_examples=examples(100))
@given(codes())
def test_text_and_object_give_the_same_code_again(code: Code) -> None:
    assert assemble(disassemble(code)) == code
    again = from_json(to_json(code))
    assert again == replace(code, description="")
    assert to_json(again) == to_json(code)
    document = json.loads(to_json(code))
    assert list(document) == ["width", "instructions", "words", "names", "inputs", "outputs", "labels"]
    assert document["instructions"] == [[one.a, one.b, one.c] for one in code.instructions]


def test_words_without_a_name_get_one_that_does_not_clash() -> None:
    code = Code((Instruction(0, 1, 1), Instruction(2, 1, 0)), (1, 2, 3), 8, {"w0": 1, "w1": 2, "l0": 0}, labels={})
    named = assemble(disassemble(replace(code, names={"w0": 1, "w2": 2})))
    assert named == replace(code, names={"w0": 1, "w2": 2})
    assert assemble(disassemble(code)) == code


def test_many_inputs_are_listed_on_lines_that_can_be_read() -> None:
    names = {f"{'x' * 59}{at:05}": at for at in range(2000)}
    code = Code((Instruction(0, 0, 0),), (0,) * 2000, 8, names, tuple(names), tuple(names))
    assert assemble(disassemble(code)) == code
    assert from_json(to_json(code)) == code


def test_the_text_reads_like_this() -> None:
    instructions = (Instruction(0, 1, 0), Instruction(2, 1, 3), Instruction(1, 1, 2), Instruction(0, 0, 4))
    code = Code(
        instructions, (1, 0, -5), 8, {"a": 0, "b": 1, "sum": 1}, ("a",), ("sum",), {"loop": 0}, description="adds"
    )
    assert disassemble(code) == (
        "; adds\n.width 8\n.in a\n.out sum\n.word a 1\n.word b 0\n.word @w2 -5\n.alias sum b\n\n"
        "loop:\n    sbn a b loop\n    sbn @w2 b @l3\n@l2:\n    sbn b b @l2\n@l3:\n    sbn a a\n"
    )


ONE = (Instruction(0, 0, 0),)


@for_each(
    ("code", "message"),
    [
        (Code(ONE, (0,), 8, {"a b": 0}), "a word cannot be called 'a b'; use letters, digits and _"),
        (Code(ONE, (0,), 8, {"halt": 0}), "a word cannot be called 'halt'"),
        (Code(ONE, (0,), 8, {"a\nb": 0}), "a word cannot be called 'a?b'"),
        (Code(ONE, (0,), 8, {"a" * 65: 0}), "a word cannot be called 'aaaa"),
        (Code(ONE, (0,), 8, {"a": 1}), "word 'a' is at address 1, beyond 0 to 0"),
        (Code(ONE, (0,), 8, labels={"2nd": 0}), "a label cannot be called '2nd'"),
        (Code(ONE, (0,), 8, labels={"end": 2}), "label 'end' is at address 2, beyond 0 to 1"),
        (Code(ONE, (0,), 8, {"x": 0}, labels={"x": 0}), "'x' is a word and a label; rename one of them"),
        (Code(ONE, (0,), 8, {"x": 0}, inputs=("x", "x")), "a name stands twice in .in x x; list it once"),
        (Code(ONE, (0,), 8, {"x": 0, "y": 0}, inputs=("x", "y")), "two inputs are names of the same word"),
    ],
)
def test_a_code_that_text_cannot_carry_is_refused(code: Code, message: str) -> None:
    for write in (disassemble, to_json):
        with pytest.raises(InputError) as refusal:
            write(code)
        assert str(refusal.value).startswith(message)
        assert str(refusal.value).isprintable()


NOT = "the object is not an SBN program: "
GOOD = {
    "width": 8,
    "instructions": [[0, 1, 0], [1, 0, 2]],
    "words": [3, -4],
    "names": {"a": 0, "b": 1},
    "inputs": ["a"],
    "outputs": ["b"],
    "labels": {"loop": 0},
}


@for_each(
    ("change", "message"),
    [
        ({"width": 0}, f"{NOT}width must be an integer from 1 to 64, got 0"),
        ({"width": "8"}, f"{NOT}width must be an integer from 1 to 64, got '8'"),
        ({"width": True}, f"{NOT}width must be an integer from 1 to 64, got True"),
        ({"width": 8.0}, f"{NOT}width must be an integer from 1 to 64, got 8.0"),
        ({"instructions": []}, f"{NOT}instructions must be a list of 1 to 65,536 items, got []"),
        ({"instructions": {}}, f"{NOT}instructions must be a list of 1 to 65,536 items, got {{}}"),
        (
            {"instructions": [[0, 1]]},
            f"{NOT}instructions must be a list, each item a list of 3 to 3 items",
        ),
        ({"instructions": [[0, 1, 0], 7]}, f"{NOT}instructions must be a list, each item a list of 3 to 3 items"),
        ({"instructions": [[0, 1, None]]}, f"{NOT}instructions must be a list, each item a list, each item an integer"),
        ({"instructions": [[0, 2, 0]]}, "instruction 0 names a word outside 0 to 1"),
        ({"instructions": [[0, 1, 2]]}, "instruction 0 goes to 2, beyond 1"),
        ({"instructions": [[0, 0, 0]] * 65_537}, f"{NOT}instructions must be a list of 1 to 65,536 items"),
        ({"words": []}, f"{NOT}words must be a list of 1 to 65,536 items, got []"),
        ({"words": [3, 128]}, "word 1 must fit in 8 bits, -128 to 127, got 128"),
        ({"words": [3, 10**30]}, f"{NOT}words must be a list, each item an integer from -9,223"),
        ({"names": []}, f"{NOT}names must be an object of at most"),
        ({"names": {"a": "0", "b": 1}}, f"{NOT}names must be an object, each value an integer from 0 to 65,535"),
        ({"names": {"a": 0, "b": 2}}, "word 'b' is at address 2, beyond 0 to 1"),
        ({"names": {"a": 0, "b": -1}}, f"{NOT}names must be an object, each value an integer from 0"),
        ({"names": {"a": 0, "b": 1, "": 0}}, "a word cannot be called ''"),
        ({"inputs": "a"}, f"{NOT}inputs must be a list of 0 to 16,777,216 items, got 'a'"),
        ({"inputs": ["c"]}, "there is no word called 'c'"),
        ({"inputs": [0]}, f"{NOT}inputs must be a list, each item the name of a word, got [0]"),
        ({"inputs": ["a\nb"]}, f"{NOT}inputs must be a list, each item the name of a word, got ['a\\nb']"),
        ({"outputs": ["b", "b"]}, "a name stands twice in .out b b; list it once"),
        ({"labels": {"loop": 3}}, "label 'loop' is at address 3, beyond 0 to 2"),
        ({"labels": {"a": 0}}, "'a' is a word and a label; rename one of them"),
        ({"lables": {}}, f"{NOT}it has the unknown lables"),
        ({"labels": ...}, f"{NOT}it lacks labels"),
    ],
)
def test_an_object_that_says_something_impossible_is_refused(change: dict[str, object], message: str) -> None:
    document = {key: value for key, value in {**GOOD, **change}.items() if value is not ...}
    with pytest.raises(InputError) as refusal:
        from_json(json.dumps(document))
    assert str(refusal.value).startswith(message)
    assert str(refusal.value).isprintable()


@for_each(
    ("text", "message"),
    [
        ("", f"{NOT}it may be truncated or damaged"),
        ("[" * 100_000, f"{NOT}it is nested more than 32 deep"),
        ("7" * 10_000, f"{NOT}it may be truncated or damaged"),
        ("[]", f"{NOT}it holds a list and no object"),
        ("NaN", f"{NOT}NaN is no number"),
        ('{"width": 8, "width": 9}', f"{NOT}it has 'width' twice"),
        (" " * ((64 << 20) + 1), "an object has at most 67,108,864 characters, got 67,108,865"),
    ],
)
def test_what_is_not_an_object_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError) as refusal:
        from_json(text)
    assert str(refusal.value).startswith(message)
    assert str(refusal.value).isprintable()


@settings(max_examples=examples(100))
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=8,
    ),
    st.sampled_from(list(GOOD)),
)
def test_whatever_an_object_holds_the_answer_is_a_code_or_one_line(value: object, key: str) -> None:
    message = ""
    try:
        code = from_json(json.dumps({**GOOD, key: value}))
        assert from_json(to_json(code)) == code
    except InputError as refusal:
        message = str(refusal)
    assert message.isprintable()
