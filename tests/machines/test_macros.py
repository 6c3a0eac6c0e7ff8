"""The expansion of macros: what is put in, whose names are whose, and where it ends."""

from __future__ import annotations

from bitwright.machines.assembly.macros import MAX_DEPTH, Expander, Form, Item, Label, Macro, Operand, Statement
from bitwright.text.problems import Problems
from bitwright.text.scanner import Token


def operand(text: str, line: int = 1) -> Operand:
    """`x`, `#x`, `-x` or `#-x`."""
    first = Token("sign", text, line, 1)
    tokens = [
        Token("sign" if piece == "-" else "name", piece, line, 1)
        for piece in text.strip("#").replace("-", "- ").split()
    ]
    return Operand(tuple(tokens), text.startswith("#"), first)


def call(text: str, line: int = 1) -> Statement:
    name, *operands = text.split()
    return Statement(name, Token("name", name, line, 1), tuple(operand(one, line) for one in operands), len(text) + 1)


def macro(head: str, *body: Item, prelude: bool = False) -> Macro:
    name, *parameters = head.split()
    return Macro(Token("name", name, 1, 1), tuple(parameters), list(body), prelude)


def expanded(items: list[Item], *macros: Macro) -> tuple[list[str], list[str]]:
    """What is left, names with @ by their keys; and the problems."""
    problems = Problems()
    expander = Expander({"op": Form("op a", 1, 2)}, {m.name.text: m for m in macros}, " ", problems, set())
    found = [
        f"{item.token.key}:"
        if isinstance(item, Label)
        else " ".join([item.name, *("#" * one.pooled + "".join(t.key for t in one.tokens) for one in item.operands)])
        for item in expander.expand(items)
    ]
    return found, [str(problem) for problem in problems.error("").problems] if problems else []


def test_parameters_are_replaced_also_behind_signs() -> None:
    body = macro("m p q", call("op p #q"), call("op -q other"))
    assert expanded([call("m x y")], body) == (["op x #y", "op -y other"], [])
    inner = macro("n r", call("m r -r"))
    assert expanded([call("n z")], body, inner) == (["op z #-z", "op -(-z) other"], [])


def test_names_with_an_at_sign_are_an_expansions_own() -> None:
    body = macro("m p", Label(Token("name", "@l", 1, 1)), call("op @l p"))
    assert expanded([call("m @l"), call("m @l"), call("op @l")], body)[0] == [
        *("@l.1:", "op @l.1 @l"),
        *("@l.2:", "op @l.2 @l"),
        "op @l",
    ]
    shared = macro("m p", call("op @s p"), prelude=True)
    assert expanded([call("m x"), call("m y")], shared)[0] == ["op @s.-1 x", "op @s.-1 y"]


def test_what_a_prelude_adds_stands_where_it_was_called() -> None:
    problems = Problems()
    body = macro("m p", call("op p", 99), prelude=True)
    (statement,) = Expander({"op": Form("op a", 1, 1)}, {"m": body}, " ", problems, set()).expand([call("m x", 7)])
    assert isinstance(statement, Statement)
    assert (statement.name, statement.token.line) == ("op", 7)


def test_mistakes_are_told_at_the_call() -> None:
    body = macro("m p", call("op #p", 5))
    for text, problem in (
        ("m", "1:2: macro 'm' takes 1 operand, got 0 (the form is: m p)"),
        ("op x y z", "1:1: 'op' takes 1 or 2 operands, got 3 (the form is: op a)"),
        ("m #x", "1:1: the macro needs a number here, found '#x'; 'p' is used as '#p' there"),
        ("opp", "1:1: unknown operation 'opp'; did you mean 'op'?"),
    ):
        assert expanded([call(text)], body) == ([], [problem])


def test_macros_that_have_no_end_are_told() -> None:
    assert expanded([call("a")], macro("a", call("b")), macro("b", call("a", 4))) == (
        [],
        ["4:1: macro 'a' calls itself without end (a calls b calls a); use a loop"],
    )
    tower = [macro("m0", call("op x"))] + [macro(f"m{at}", call(f"m{at - 1}")) for at in range(1, MAX_DEPTH + 1)]
    assert expanded([call(f"m{MAX_DEPTH - 1}")], *tower) == (["op x"], [])
    assert expanded([call(f"m{MAX_DEPTH}")], *tower)[1] == [
        "1:1: macros call each other at most 50 deep; make 'm0' shallower"
    ]


def test_each_problem_leaves_the_rest() -> None:
    assert expanded([call("nothing"), call("op x")])[0] == ["op x"]
