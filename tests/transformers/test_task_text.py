# ruff: noqa: ARG005
"""Compares tasks with Python integers on every input of small sizes, and checks the positions of mistakes."""

from itertools import accumulate

import numpy as np
import pytest
from adders import addition
from decoders import digits

from bitwright.common.errors import InputError
from bitwright.transformers.columns import Columns
from bitwright.transformers.layout import describe_task
from bitwright.transformers.task_text import MAX_TEXT, load_task, read_task

TWO = "numbers a b: 2 digits base 4\nprompt a[1..2] 9 b[2..1]\n"
THREE = "numbers a b c: 2 digits base 3\nprompt a[1..2] b[1..2] c[1..2]\n"
SYMBOLS = "words s: 4 symbols -2..1\nprompt s[1..4]\n"
BITS = "numbers a b: 3 digits base 2\nprompt a[1..3] b[1..3]\n"


def sign(x: int) -> int:
    return (x > 0) - (x < 0)


NUMBERS = [  # text, lines, digits, the answers in Python
    (TWO, "z == a + b", 3, lambda a, b: {"z": a + b}),
    (TWO, "z == b", 2, lambda a, b: {"z": b}),
    (TWO, "z == 5", 2, lambda a, b: {"z": 5}),
    (TWO, "z == 3*a + 2*b + 7", 4, lambda a, b: {"z": 3 * a + 2 * b + 7}),
    (TWO, "z == 2*(a + 3*b) - (b - 100)*1 - a", 4, lambda a, b: {"z": a + 5 * b + 100}),
    (TWO, "z == (a - b) mod 4^2", 2, lambda a, b: {"z": (a - b) % 16}),
    (TWO, "z == (a + b) mod 4", 1, lambda a, b: {"z": (a + b) % 4}),
    (TWO, "z == (-3*a - b - 1) mod 4^3", 3, lambda a, b: {"z": (-3 * a - b - 1) % 64}),
    (THREE, "z == a + b + c; m == (a + b <= c)", 3, lambda a, b, c: {"z": a + b + c, "m": a + b <= c}),
    (THREE, "z == (a - 2*b + 3*c - 4) mod 3^3", 3, lambda a, b, c: {"z": (a - 2 * b + 3 * c - 4) % 27}),
    (TWO, "f == (a == b)", 0, lambda a, b: {"f": a == b}),
    (TWO, "f == (2*a != b + 3)", 0, lambda a, b: {"f": 2 * a != b + 3}),
    (TWO, "f == (a < b); g == (a <= b); h == (a > b + 1)", 0, lambda a, b: {"f": a < b, "g": a <= b, "h": a > b + 1}),
    (TWO, "f == (a >= b and not (a == 5 or b > 9))", 0, lambda a, b: {"f": a >= b and not (a == 5 or b > 9)}),
    (TWO, "f == (a < b => b < 7)", 0, lambda a, b: {"f": not a < b or b < 7}),
    (TWO, "f == (sum(a[1..2]) + 2*sum(b[1..2])) mod 3", 0,
      lambda a, b: {"f": (sum(divmod(a, 4)) + 2 * sum(divmod(b, 4))) % 3}),
    (TWO, "f == max(a[1..2])", 0, lambda a, b: {"f": max(a // 4, a % 4)}),
]  # fmt: skip

COLUMNS = [  # text, line, the answers in Python
    (SYMBOLS, "z[i] == s[i] + 2", lambda s: [x + 2 for x in s]),
    (SYMBOLS, "z[i] == 1 + (sum(s[1..i]) > 0) - (sum(s[1..i]) < 0)", lambda s: [1 + sign(x) for x in accumulate(s)]),
    (SYMBOLS, "z[i] == sum(s[1..i]) mod 3", lambda s: [x % 3 for x in accumulate(s)]),
    (SYMBOLS, "z[i] == max(s[1..i]) - min(s[1..i])", lambda s: [max(s[: n + 1]) - min(s[: n + 1]) for n in range(4)]),
    (SYMBOLS, "z[i] == (s[i] == max(s[1..i]))", lambda s: [x == y for x, y in zip(s, accumulate(s, max), strict=True)]),
    (BITS, "z[i] == (a[i] + b[i]) mod 2", lambda a, b: [x ^ y for x, y in zip(a, b, strict=True)]),
    (BITS, "z[i] == (a[i] == 1 and b[i] == 1)", lambda a, b: [x & y for x, y in zip(a, b, strict=True)]),
    (BITS, "z[i] == a[i] // 1 + b[i] mod 1", lambda a, b: a),
    (BITS, "z[i] == sum(a[1..i]) mod 2", lambda a, b: [x % 2 for x in accumulate(a)]),
    (BITS, "z[i] == (a[i] + b[i]) * 3^2 // 2", lambda a, b: [(x + y) * 9 // 2 for x, y in zip(a, b, strict=True)]),
]  # fmt: skip


def values(columns: Columns, inputs: np.ndarray) -> list[list[int]]:
    """Returns the numbers of each input, whose digits are lowest first."""
    return [[sum(int(d) * base**i for i, d in enumerate(word)) for word, base in zip(row, columns.symbols, strict=True)]
            for row in inputs]  # fmt: skip


@pytest.mark.parametrize(("words", "lines", "count", "function"), NUMBERS, ids=[case[1] for case in NUMBERS])
def test_lines_about_numbers_agree_with_python(words, lines, count, function):
    flags = [line.split(" ==")[0].strip() for line in lines.split(";") if not line.startswith("z ")]
    ensures = "".join(f"ensure {line}\n" for line in lines.split(";"))
    task = read_task(f"{words}{ensures}answer {f'z[{count}..1]' if count else ''} {' '.join(flags)}")
    columns = task.columns
    inputs = np.concatenate(list(task.every_input()))
    answers, flagged = columns.run(inputs)
    for numbers, answer, number in zip(values(columns, inputs), answers.tolist(), range(len(inputs)), strict=True):
        wanted = function(*numbers)
        if count:
            found = sum(digit * columns.symbols[0] ** place for place, digit in enumerate(answer[:count]))
            assert found == wanted.pop("z"), numbers
        assert {name: int(of[number]) for name, of in flagged.items()} == wanted, numbers


@pytest.mark.parametrize(("words", "line", "function"), COLUMNS, ids=[case[1] for case in COLUMNS])
def test_lines_about_columns_agree_with_python(words, line, function):
    length = 4 if words == SYMBOLS else 3
    task = read_task(f"{words}ensure {line} for i in 1..{length}\nanswer z[1..{length}]")
    inputs = np.concatenate(list(task.every_input()))
    low = -2 if words == SYMBOLS else 0
    wanted = [function(*(word + low).tolist()) for word in inputs]
    assert task.columns.run(inputs)[0].tolist() == wanted


def test_the_text_gives_the_automaton_and_layout_that_python_gives():
    task = read_task(
        "numbers a b: 10 digits\nensure z == a + b\nprompt 0 a[1..10] 0 0 b[10..1]\nanswer z[1..11]\nstop 0 10..12"
    )
    rng = np.random.default_rng(1)
    inputs = task.random_inputs(1000, rng)
    assert (task.answers(inputs) == addition().run(inputs)[0]).all()
    assert task.columns.states == addition().states
    prompts = task.prompts(inputs)
    assert (prompts[:, [0, 11, 12]] == 0).all()
    assert (prompts[:, 1:11] == inputs[:, 0, :10]).all()
    assert (prompts[:, 13:] == inputs[:, 1, 9::-1]).all()
    assert task.layout.stop == (0, 10, 11, 12)
    assert read_task(GOOD).describe(np.array([[3, 2, 0], [1, 0, 0]])) == "a=11, b=1"


def test_tokens_and_short_words():
    text = """
    numbers a: 3 digits          # a comment
    numbers b: 1 digits
    ensure z == a + b
    ensure odd == sum(b[1..1]) mod 2
    prompt a[3..1] 20 b[1] 21
    answer odd z[4..1]
    tokens a b z = 10..19
    tokens odd = 7 5
    """
    task = read_task(text.replace("    ", ""))
    numbers = np.array([[907, 8], [999, 9], [0, 0]])
    inputs = np.stack([digits(numbers[:, 0], 10, 4), digits(numbers[:, 1], 10, 4)], axis=1)
    assert task.rows(inputs)[0].tolist() == [19, 10, 17, 20, 18, 21, 7, 10, 19, 11, 15]
    assert task.answers(inputs).tolist() == [[7, 10, 19, 11, 15], [5, 11, 10, 10, 18], [7, 10, 10, 10, 10]]
    assert task.inputs == sum(len(batch) for batch in task.every_input()) == 10**4


def test_long_expressions_are_computed():
    task = read_task(f"{BITS}ensure z[i] == (a[i]{' + a[i]' * 190}) mod 7 for i in 1..3\nanswer z[1..3]")
    assert task.columns.run(np.array([[[1, 0, 1], [0, 0, 0]]]))[0].tolist() == [[191 % 7, 0, 191 % 7]]


GOOD = TWO + "ensure z == a + b\nanswer z[1..3]\n"
MISTAKES = [
    (GOOD.replace("+ b", "+ c"), "task:3:17: 'c' is not an input"),
    (GOOD.replace("+ b", "* b"), r"task:3:15: '\*' needs a constant on one side"),
    (GOOD.replace("== a", "= a"), "task:3:10: expected the end of the line, found '='; use == for equality"),
    (GOOD.replace("z ==", "a =="), "task:3:8: 'a' must be a new name"),
    (GOOD.replace("z == a + b", "a < b"), "must define one answer"),
    (GOOD.replace("3]", "2]"), "task: 'z' needs more than the 2 digits"),
    (GOOD.replace("+ b", "- b"), "task: 'z' can be negative"),
    (GOOD.replace("a + b", "(a + b) mod 4"), r"mod must be 4\^3"),
    (GOOD.replace("a + b", "a // 4"), "task:3:13: expected a constant, found 'a'"),
    (GOOD.replace("a + b", "a[1]"), "expected a constant, found 'a'"),
    (GOOD.replace("a + b", "(a < b)"), "expected a constant"),
    (GOOD.replace("a + b", "sin(a)"), "the functions are"),
    (GOOD.replace("a + b", "9^9^9"), r"'\^' needs an exponent"),
    (GOOD.replace("a + b", "a // 0"), "expected a constant"),
    (GOOD.replace("a + b", "7 // 0"), "must be at least 1, got 0"),
    (GOOD.replace("a + b", "max(a)*1 + sum(a)"), "the functions are"),
    (GOOD.replace("a + b", "z"), "'z' is not an input"),
    (GOOD.replace("a + b", "a[i] for i in 1..3"), "cannot have 'for'"),
    (GOOD.replace("z == a + b", "z[i] == a[i] for i in 1..2"), r"must cover all of them: z\[i\] == ... for i in 1..3"),
    (GOOD.replace("z == a + b", "z[i] == a[i] - 1 for i in 1..3"), "can be -1; add a constant"),
    (GOOD.replace("z == a + b", "z[i] == a[i+1] for i in 1..3"), r"can use a\[i\]"),
    (GOOD.replace("z == a + b", "z[i] == sum(a[2..i]) for i in 1..3"), r"must cover a\[1..i\]"),
    (GOOD.replace("z == a + b", "z[i] == sum(a[1..3]) for i in 1..3"), r"must cover a\[1..i\]"),
    (GOOD.replace("z == a + b", "z[i] == sum(a[1..i]) mod 0 for i in 1..3"), "mod needs a sum"),
    (GOOD.replace("z == a + b", "z[i] == i for i in 1..3"), r"can use i\[i\]"),
    (GOOD + "ensure z == a\n", "'z' must be a new name"),
    (GOOD + "ensure f == max(a[1..3])\n", r"max must cover a\[1..2\]"),
    (GOOD + "ensure f == min(a[1..2])\n", "min needs a word of 3 digits, got 2"),
    (GOOD.replace("z == a + b", "y == (a < b)"), "task:4:8: no ensure line defines 'z'"),
    (GOOD.replace("a + b", "a" + " + a" * 300), "at most 200 operators"),
    (GOOD + "ensure f == a\n", "'f' is a number; list its digits"),
    (GOOD + "ensure f[i] == a[i] for i in 1..3\n", "list the columns of 'f'"),
    (GOOD + "ensure f == (a < b) for i in 1..3\n", "list the columns of 'f'"),
    (GOOD + "ensure f[1] == (a < b)\n", "list the columns of 'f'"),
    (GOOD + "ensure f == (a < b)\n", "the answer lacks f"),
    (GOOD + "ensure f == sum(a[1..2]) - 5\n", "'f' must be at least 0, but can be -5"),
    (GOOD + "answer z[1..3]\n", "task:5:1: a task must have only one line 'answer'"),
    (GOOD + "numbers a: 3 digits\n", "'a' is declared twice"),
    (GOOD + "numbers c: 3 digits base 7\n", "the prompt lacks c"),
    (GOOD + "tokens y = 1\n", "'y' must be the name of a word"),
    (GOOD + "tokens a = 1..3\n", "a needs 4 different tokens"),
    (GOOD + "stop z\n", "expected a token"),
    (GOOD + "stop\n", "expected a token or a place"),
    (GOOD + "halt 3\n", "expected numbers, words, ensure"),
    (GOOD + "stop 99999999\n", "expected a number between 0 and"),
    (GOOD.replace("answer z", "answer 3 z"), "task:4:8: expected a place"),
    (GOOD.replace("z[1..3]", "z[1..3] z[1]"), r"the layout contains z\[1\] twice"),
    (GOOD.replace("z[1..3]", "z[2..3]"), r"task:4:1: the answer lacks z\[1\]"),
    (GOOD.replace("z[1..3]", "z[0..3]"), "columns must be between 1 and 1,001"),
    (GOOD.replace("z[1..3]", "z[1..3] y"), "task:4:16: no ensure line defines 'y'"),
    (GOOD.replace("z[1..3]", "z"), r"task:3:8: 'z' is a number; list its digits, as in answer z\[1..n\]"),
    (GOOD.replace("a + b", "99999999999999999999 * a + b"), "must fit 63 bits"),
    (None, "expects the text of a task, got NoneType"),
    (GOOD.replace("z[1..3]", "z[1..3] y[1]"), "one answer can have columns"),
    (GOOD.replace("b[2..1]", "b[3..1]"), r"task:2:18: the prompt cannot contain b\[3\]"),
    (GOOD.replace("2 digits", "2000 digits"), "expected a number between 1 and 1,000"),
    (GOOD.replace("base 4", "base 1"), "expected a number between 2 and"),
    (GOOD.replace("base 4", "base 4 5"), "expected the end of the line"),
    (GOOD.replace("base 4", "base 5000"), "the automaton has more than 2,000,000 steps"),
    ("words s: 3 symbols 0..1\nensure z == s\nprompt s[1..3]\nanswer z[1..3]", "'s' is a word of symbols"),
    ("words s: 3 symbols 1..0\n", "expected a number between"),
    ("", "a task must have lines"),
    ("x" * 20_000, "a line must have at most"),
    ("ensure z == " + "(" * 500, "nested at most"),
    ("numbers " + " ".join(f"a{n}" for n in range(40)) + ": 1 digits\nensure z == a1\nprompt "
     + " ".join(f"a{n}[1]" for n in range(40)) + "\nanswer z[1]", "the automaton has more than"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "match"), MISTAKES, ids=range(len(MISTAKES)))
def test_mistakes_are_one_line(text, match):
    with pytest.raises(InputError, match=match) as caught:
        read_task(text)
    assert "\n" not in str(caught.value)


def test_numbers_of_two_bases_in_one_line_are_refused():
    text = "numbers a: 2 digits base 4\nnumbers b: 2 digits base 3\nensure z == a + b\n"
    text += "prompt a[1..2] b[1..2]\nanswer z[1..3]"
    with pytest.raises(InputError, match=r"must have the same base, got bases \[3, 4\]"):
        read_task(text)


def test_words_of_symbols_have_the_length_of_the_task():
    text = "words s: 2 symbols 1..2\nnumbers a: 3 digits\nensure z == 2*a\nprompt a[1..3] s[1..2]\nanswer z[1..4]"
    with pytest.raises(InputError, match="'s' must have 4 symbols like the answer, got 2"):
        read_task(text)


def test_a_sum_of_1000_digits_has_1001():
    task = read_task("numbers a b: 1000 digits\nensure z == a + b\nprompt a[1..1000] 10 b[1..1000]\nanswer z[1..1001]")
    ones = np.zeros((1, 2, 1001), np.int64)
    ones[0, :, 999] = 9
    assert task.answers(ones)[0].tolist() == [0] * 999 + [8, 1]
    assert dict(describe_task(task))["answer"].count(" ") == 1000
    assert len(repr(task)) < 100
    assert "z == a + b" in repr(task)


def test_files_of_tasks(tmp_path):
    path = tmp_path / "task.txt"
    for encoding in ("utf-8", "utf-8-sig"):
        path.write_text(GOOD, encoding=encoding)
        assert load_task(path).columns.statement == "z == a + b"
    path.write_text(GOOD + "halt\n")
    with pytest.raises(InputError, match=r"task\.txt:5:1: expected numbers"):
        load_task(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="must be UTF-8"):
        load_task(path)
    path.write_bytes(b" " * (MAX_TEXT + 1))
    with pytest.raises(InputError, match="larger than"):
        load_task(path)
