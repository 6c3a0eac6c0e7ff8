"""Groups of rules with parameters: what they stand for, and their problems in their places."""

import pytest
from cases import for_each
from facts import missing
from marked import marked

from bitwright.common.errors import ProgramError
from bitwright.rules import parse, parse_node_program
from bitwright.rules.text import groups

SOUND = """bits a b c[3]
block a b
block c[i] for i in 1..3
when a=1 write a
"""
GROUP = "group g(x)\nwhen b=1 write x\nend\n"

PROBLEMS = {
    "¦end": "'end' group",
    "end ¦x": "'x'",
    "group g(x)\nend ¦x\nend": "'x'",
    "group¦": "expected counter",
    "group ¦g(x\nend": "expected arguments",
    "group g(x)¦)\nend": "brackets counter",
    "group g(¦1)\nend": "parameter single",
    "group g(x, ¦x)\nend": "'x'",
    "group g(¦when)\nend\nuse g(a)": "'when'",
    "group g¦(x,)\nend": "argument counter",
    "group ¦g(x)\nwhen b=1 write x\nuse g(a)": "'g'",
    GROUP + "group ¦g(y)\nend": "'g' 5",
    "group g(x)\n¦group h(y)\nend\nend": "'g'",
    "use¦": "8",
    "use ¦h(a)": "'h'",
    "use ¦counter(a, b)": "'counter' 3 2",
    GROUP + "use ¦g()": "'g' 1 0",
    "group g(x)\nuse ¦g(x)\nend\nuse g(a)": "'g'",
    # Inside a group of the text the place is that of the group; of an argument it is that of the use.
    "group g(x)\n\nwhen b=1 write ¦zz\nend\nuse g(b)": "'zz'",
    "group g(x)\nwhen b=1 ¦writ x\nend\nuse g(a)": "'write' 'writ'",
    "group g(x)\nwhen b=1 write x ¦?\nend\nuse g(a)": "'?'",
    "group g(n)\nwhen c[i]=1 write a for i in 1..n\nend\nuse g(¦c)": "'c'",
    "group g(n)\nwhen c[n]=1 write ¦c[n-1]\nend\nuse g(1)": "c[0] c[3]",
    GROUP + "use g(¦a+1)": "'('",
    "group g(x)\nwhen b=1 write ¦far.x\nend\nuse g(far.b)": "'far.far'",
    "group g(i)\nwhen c[i]=1 write a for i in 1..3\nend\nuse g(¦2)": "'2'",
    GROUP + "use g(a)\n¦when b=1 write b": "b=1 0 6",
    # Inside a group that every text knows it is that of the line that uses it.
    "\n  ¦use clock(c, 3, b)": "c[1] c[2] c[3] 3 i=1)",
    "bits v[2] k[3]\nuse counter(¦v, k, 3)": "v[3] v[2]",
}


@for_each(("text", "piece"), PROBLEMS.items())
def test_a_mistake_is_at_its_line_and_column(text: str, piece: str) -> None:
    whole, line, column = marked(SOUND + text)
    with pytest.raises(ProgramError) as refusal:
        parse_node_program(whole)
    places = {(problem.line, problem.column) for problem in refusal.value.problems}
    assert places == {(line, column)}
    assert missing(refusal.value.problems[0].message, piece) == []


def nested(depth: int, use: str) -> str:
    lines = ["group g0(x)", "when b=1 write x", "end"]
    for number in range(1, depth + 1):
        lines += [f"group g{number}(x)", use.format(number - 1), "end"]
    return SOUND + "\n".join([*lines, f"use g{depth}(a)"])


@pytest.mark.parametrize("use", ["use g{0}(x x x)", "use g{0}(x)\nuse g{0}(x)\nuse g{0}(x)"], ids=["words", "lines"])
def test_groups_that_grow_without_bound_are_refused(use: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "MAX_WORDS", 5_000)
    with pytest.raises(ProgramError, match="5,000"):
        parse(nested(19, use))


def test_groups_use_groups_to_some_depth() -> None:
    assert parse(nested(groups.MAX_DEPTH - 1, "use g{0}(x)")).program.templates == 2
    with pytest.raises(ProgramError, match=r"groups.*20"):
        parse(nested(groups.MAX_DEPTH, "use g{0}(x)"))


# What a group stands for.


def same(short: str, long: str) -> bool:
    return parse(SOUND + short).same_as(parse(SOUND + long))


def test_parameters_are_numbers_bits_and_lists_of_bits() -> None:
    assert same("group g(n)\nwhen c[n*2]=1 write a\nend\nuse g(2-1)", "when c[2]=1 write a")
    assert same(GROUP + "use g(c[1..2] a)", "when b=1 write c[1] c[2] a")
    assert same("group g(x, n)\nwhen x[n]=1 write x[n+1]\nend\nuse g(c, 2)", "when c[2]=1 write c[3]")
    assert same("group g(x)\nwhen c[x]=1 write a\nend\nuse g(-1*(-2))", "when c[2]=1 write a")
    assert same("group g()\nwhen b=1 write a\nend\nuse g()", "when b=1 write a")


def test_a_group_may_stand_below_its_use_and_be_used_twice() -> None:
    text = "use g(1, a)\nuse g(2, b)\ngroup g(n, x)\nwhen c[n]=1 write x\nend"
    assert same(text, "when c[1]=1 write a\nwhen c[2]=1 write b")


def test_a_group_that_is_not_used_says_nothing() -> None:
    assert same("group g(x)\nbits zz\nwhen nonsense\nend\n", "")


# The groups that every text knows.


@pytest.mark.parametrize("digits", [1, 2, 4])
def test_a_counter_counts_what_it_is_given(digits: int) -> None:
    text = f"bits v[{digits}] c[{digits}] n[20]\nuse counter(v, c, {digits})\nblock n[i] for i in 1..20\n"
    text += "when n[i]=1 write n[i-1] for i in 2..20\nwhen n[1]=1 write c[1]\ninput n\noutput v"
    algorithm = parse(text)
    for number in (0, 1, 2, 5, 13, 20):
        state = algorithm.state({"n": (1 << number) - 1})
        for _ in range(20 + digits + 1):
            after = state & False
            for template in algorithm.program.match(state):
                after[algorithm.program.writes(int(template))] = True
            state = after
        assert algorithm.read(state) == {"v": number % 2**digits}
