"""`ensure` and `invariant` lines: what they say, how they are written, and what is wrong with them."""

from dataclasses import replace
from random import Random
from warnings import catch_warnings

import pytest
from facts import missing

from bitwright import addition, multiplication, run, validate
from bitwright.common.errors import BitwrightWarning, InputError, ProgramError
from bitwright.proofs.function import prove_function
from bitwright.proofs.unrolling import prove_at_size
from bitwright.rules import parse, parse_node_program
from bitwright.rules.ensure_text import read

TEXT = """\
let l = 6
let n = l+2
bits a[l] b[l] carry[l] flag
block a[i] b[i] for i in 1..l
block carry[i] for i in 1..l
block flag
when a[i]!=b[i] write a[i] for i in 1..l
when a[1]=1 b[1]=1 write flag carry[1]
input a b
output sum = a
output odd = flag
"""

# the line, and what it means in Python
TRUTHS = [
    ("sum == (a - b) mod 2^l", "s == (a - b) % 64"),
    ("sum == (a - b) % 2^l", "s == (a - b) % 64"),
    ("odd == (a < b)", "o == (a < b)"),
    ("odd", "o == 1"),
    ("not odd => sum // 3 >= a - 2*b", "o or s // 3 >= a - 2 * b"),
    ("odd and a == b or sum < 2^(n-3)", "(o and a == b) or s < 32"),
    ("a > b => b > 5 => sum != 7", "not a > b or not b > 5 or s != 7"),
    ("-a + 2 * (b - 1) <= sum", "-a + 2 * (b - 1) <= s"),
    ("sum - a - b == 0 - (a + b - sum)", "True"),
    ("sum[i] == (a[i] != b[i]) for i in 1..l", "s == a ^ b"),
    (
        "sum[j] + a[i] >= b[j] for i in 1..3, j in i+1..l",
        "all((s>>j-1 & 1) + (a>>i-1 & 1) >= (b>>j-1 & 1) for i in (1, 2, 3) for j in range(i+1, 7))",
    ),
    ("sum % 2^3 % 3 == 1", "s % 8 % 3 == 1"),
    ("a * b - sum > 100", "a * b - s > 100"),
    ("sum % b == a // in.b % 3", "(s % b if b else s) == (a // b if b else 0) % 3"),
    ("(a - b) % sum < b % odd", "((a - b) % s if s else a - b) < (0 if o else b)"),
]


@pytest.mark.parametrize("line", [line for line, _ in TRUTHS])
def test_a_line_means_what_python_means(line: str) -> None:
    meant = dict(TRUTHS)[line]
    found = parse(TEXT + f"ensure {line}\n").ensures[0]
    again = read(str(found)).with_lets(found.lets)
    random = Random(1)
    for _ in range(300):
        a, b, s, o = random.getrandbits(6), random.getrandbits(6), random.getrandbits(6), random.getrandbits(1)
        if random.random() < 0.3:
            s = a ^ b
        expected = bool(eval(meant, {"a": a, "b": b, "s": s, "o": o}))
        assert found.holds({"a": a, "b": b}, {"sum": s, "odd": o}) == expected
        assert again.holds({"a": a, "b": b}, {"sum": s, "odd": o}) == expected  # as it is printed


def test_canonical_text_keeps_the_lines_with_their_numbers() -> None:
    text = TEXT + "ensure sum == (a - b) mod 2^l\ninvariant at flag: a + 2*carry <= in.a + in.b + 2^n\n"
    algorithm = parse(text, lets={"l": 9})
    assert "ensure sum == (a - b) % 2^9\n" in algorithm.text()
    assert "invariant at flag: a + 2 * carry <= in.a + in.b + 2^11\n" in algorithm.text()
    again = parse(algorithm.text())
    assert again.text() == algorithm.text()
    assert again.same_as(algorithm)


def test_an_input_of_the_same_name_as_an_output() -> None:
    text = "bits x[2]\nblock x[*]\nwhen x[1]=1 write x[2]\ninput x\noutput x\nsteps 1\nensure x == 2 * (in.x mod 2)\n"
    line = parse(text).ensures[0]
    assert line.holds({"x": 1}, {"x": 2})
    assert not line.holds({"x": 1}, {"x": 1})


PROBLEMS = [
    ("ensure foo == 1", 8, "'foo' is not an input or output"),
    ("ensure in.sum == 1", 8, "'sum' is not an input"),
    ("ensure sum + 1", 12, "not a condition"),
    ("ensure odd = 1", 12, "use == for equality"),
    ("ensure sum == a // (b + 1)", 21, "must be a constant"),
    ("ensure sum == (a < b)", 18, "takes numbers"),
    ("ensure a and odd", 8, "'and' takes a condition"),
    ("ensure sum[7] == 1", 8, "has 6"),
    ("ensure sum[i] == 1 for i in 1..n", 8, "index out of range: sum[7]"),
    ("ensure a == b == sum", 15, "cannot be chained"),
    ("ensure sum == 2^(0-1)", 16, "an exponent must be between 0 and"),
    ("ensure sum == a % (l - l)", 17, "at least 1, got 0"),
    ("ensure (a == b", 15, "expected ')'"),
    ("ensure", 7, "expected a number or a name"),
    ("ensure sum == a $ b", 17, "unexpected character '$'"),
    ("ensure sum[a] == 1", 12, "an index must be a constant"),
    ("ensure sum == 1 for l in 1..2", 21, "already in use"),
    ("invariant at a: b == 1", 14, "'at' takes a single bit"),
    ("where sum < a", 7, "'sum' is not an input"),
    ("where a + 1", 9, "not a condition"),
    ("output lost = carry[2]\nensure lost == 0", 8, "output 'lost' is never set"),
]


@pytest.mark.parametrize(("line", "column", "why"), PROBLEMS)
def test_a_problem_is_told_with_its_column(line: str, column: int, why: str) -> None:
    with pytest.raises(ProgramError) as error:
        parse(TEXT + line + "\n")
    (problem,) = error.value.problems
    assert problem.line == TEXT.count("\n") + 1 + line.count("\n")
    assert problem.column == column
    assert missing(problem.message, why) == []


SIGNED = """
bits a b x[2] y[2]
block a b
block x[i] y[i] for i in 1..2
when a=1 b=0 write a
when a=0 b=1 write b
when a=1 b=1 write a b
when x[i]=1 y[i]=0 write y[i] for i in 1..2
input signed a
input b x
output signed d = a
output e = b
output y
steps 1
"""


@pytest.mark.parametrize(
    "line", ["d == (e == 1)", "d != (e and e)", "d", "not d", "e => d", "in.a or e", "(d == 0) == a"]
)
def test_a_signed_word_of_one_bit_is_no_truth(line: str) -> None:
    """On, it is -1, and a truth that is on is 1."""
    with pytest.raises(ProgramError, match=r"true or false|condition"):
        parse(f"{SIGNED}ensure {line}\n")


@pytest.mark.parametrize(
    ("line", "right"),
    [("d[1] == (e == 1)", False), ("d == a", True), ("d == -1 or d == 0", True), ("d == 1 or d == 0", False)],
)
def test_the_bit_of_a_signed_word_is_a_truth_and_its_number_is_negative(line: str, right: bool) -> None:
    algorithm = parse(f"{SIGNED}ensure {line}\n")
    assert (validate(algorithm).verdict == "exact") == right
    assert (prove_at_size(algorithm).verdict == "proved") == right


def test_long_ranges_are_read_at_once() -> None:
    line = "ensure sum[i] == a[i] for i in 1..l\n"
    assert parse(TEXT + line, lets={"l": 50_000}).ensures
    with pytest.raises(ProgramError, match=r"sum\[50001\]"):
        parse(TEXT + line.replace("1..l", "1..l+1"), lets={"l": 50_000})


def test_algorithms_take_lines_as_text() -> None:
    assert str(addition(5).ensures[0]) == "sum == p + q"
    assert [str(line) for line in multiplication(3).invariants] == [
        "at to_check_lsb: sum_p + multiplicand * multiplier == in.multiplicand * in.multiplier"
    ]
    with pytest.raises(InputError, match=r"column.*8.*'r'"):
        replace(addition(3), ensures=["sum == r"])
    with pytest.raises(InputError, match=r"5.*expected.*'='"):
        replace(addition(3), ensures=("sum = p",))
    with pytest.raises(InputError, match="tuple of str"):
        replace(addition(3), ensures="sum == p")


def test_node_programs_refuse_them() -> None:
    for word in ("ensure", "where"):
        with pytest.raises(ProgramError, match=f"'{word}'"):
            parse_node_program(f"bits x\nblock x\nwhen x=1 write x far.x\ninput x\n{word} x == 1\n")


def test_a_divisor_is_unsigned() -> None:
    with pytest.raises(ProgramError, match=r"unsigned.*a is signed"):
        parse(f"{SIGNED}ensure y == x % a\n")


REMAINDER = """
let l = 3
bits a[l] b[l] late
block a[i] b[i] for i in 1..l
block late
when a[i]=1 b[i]=0 write a[i] for i in 1..l
when a[i]=1 b[i]=1 write a[i] late for i in 1..l
when late=1 write late
input a b
output rest = a
steps 1
where a < b
ensure rest == a % b
"""


def test_conditions_stay_in_canonical_text_and_cover_claims() -> None:
    algorithm = parse(REMAINDER)
    assert str(algorithm.claims[0]) == "a < b => rest == a % b"
    again = parse(algorithm.text())
    assert again.text() == algorithm.text()
    assert again.conditions == algorithm.conditions
    assert again.program.id == parse(REMAINDER.replace("where a < b\n", "")).program.id


def test_inputs_outside_of_a_condition_are_not_wrong() -> None:
    done = validate(parse(REMAINDER))
    assert (done.verdict, done.tally.inputs, done.tally.outside) == ("exact", 28, 36)
    assert validate(parse(REMAINDER.replace("where a < b\n", ""))).verdict == "not exact"
    asked: list[tuple[int, int]] = []

    def oracle(a: int, b: int) -> int:
        asked.append((a, b))
        return a % b

    drawn = validate(parse(REMAINDER), oracle, random=500, sample_seed=3)
    assert drawn.verdict == "exact"
    assert all(a < b for a, b in asked)
    assert drawn.tally.inputs + drawn.tally.outside == 500
    assert drawn.tally.inputs == len(asked)


def test_a_condition_without_an_input_decides_nothing() -> None:
    never = parse(REMAINDER.replace("a < b", "a < b and b < a"))
    assert validate(never).verdict == "not decided"
    assert prove_at_size(never).verdict == "not decided"
    assert prove_function(never).verdict == "not decided"


@pytest.mark.parametrize("line", ["rest == a % b", "rest == a and a // b == 0", "b > 0", "a != 7 and not b == 0"])
def test_what_holds_under_a_condition_is_proved_at_one_size(line: str) -> None:
    text = REMAINDER.replace("rest == a % b", line)
    assert prove_at_size(parse(text)).verdict == "proved"
    without = prove_at_size(parse(text.replace("where a < b\n", "")))
    assert (without.verdict, without.counterexample is None) == ("refuted", False)


def test_a_condition_holds_at_every_size() -> None:
    text = REMAINDER.replace("rest == a % b", "rest == a and rest < b")
    assert prove_function(text).verdict == "proved"
    assert prove_function(text.replace("rest < b", "rest + 1 < b")).counterexample is not None


def test_a_run_outside_of_a_condition_warns() -> None:
    algorithm = parse(REMAINDER)
    with pytest.warns(BitwrightWarning, match="where a < b"):
        assert run(algorithm, a=5, b=2).value == 5
    with pytest.warns(BitwrightWarning, match="1 of 2 runs"):
        run(algorithm, a=[5, 1], b=2)
    with catch_warnings(action="error"):
        run(algorithm, a=[0, 1], b=2)
