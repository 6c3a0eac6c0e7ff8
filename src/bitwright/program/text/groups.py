"""Groups: rules with parameters under a name, put in wherever they are used.

    group counter(v, c, l)
      block v[i] c[i] for i in 1..l
      when v[i]=1 c[i]=0 write v[i] for i in 1..l
    end
    use counter(level, carry, 8)

Those of parts.bw are known in every text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from bitwright.errors import Problem, counted, suggestion
from bitwright.program.text.lexer import tokenize
from bitwright.text.scanner import Token

MAX_LINES = 100_000  # that groups may stand for
MAX_DEPTH = 20  # groups that use groups
_USED = re.compile(r"^[ \t]*(?:group|use)[ \t]", re.MULTILINE)
_OPERATORS = frozenset(["+", "-", "*", "//", "%", "^"])


@dataclass
class Group:
    """Its head, its parameters and the lines between head and end."""

    name: Token
    parameters: tuple[str, ...]
    lines: list[list[Token]] = field(default_factory=list)


class _Refused(Exception):  # noqa: N818
    def __init__(self, token: Token, message: str) -> None:
        self.problem = token.problem(message)


def has_groups(text: str) -> bool:
    """Whether a text may define or use groups."""
    return _USED.search(text) is not None


def without_groups(
    lines: Sequence[list[Token]], problems: list[Problem], broken: list[list[Token]]
) -> Iterator[list[Token]]:
    """The lines with every use replaced by what the group says; those of groups that are never used are not read."""
    if not any(tokens[0].text in ("group", "use", "end") for tokens in lines):
        yield from lines
        return
    groups: dict[str, Group] = dict(_parts())
    outside = _read(lines, groups, problems, broken)
    budget = [MAX_LINES]
    for tokens in outside:
        try:
            yield from _put_in(tokens, groups, {}, (), budget)
        except _Refused as refusal:
            problems.append(refusal.problem)
            broken.append(tokens)


@cache
def _parts() -> Mapping[str, Group]:
    """The groups that every text knows."""
    text = files("bitwright.program.text").joinpath("parts.bw").read_text("utf-8")
    problems: list[Problem] = []
    groups: dict[str, Group] = {}
    rest = _read(tokenize(text, problems, []), groups, problems, [])
    assert (problems, rest) == ([], [])
    return groups


def _read(
    lines: Sequence[list[Token]], groups: dict[str, Group], problems: list[Problem], broken: list[list[Token]]
) -> list[list[Token]]:
    """Takes the definitions out of a text; gives the lines outside of them."""
    outside: list[list[Token]] = []
    own: dict[str, Token] = {}
    inside: Group | None = None
    for tokens in lines:
        word = tokens[0]
        try:
            if word.text == "group":
                if inside is not None:
                    raise _Refused(word, f"a group inside the group {inside.name}; close that one with end")
                inside = _head(tokens)
                if inside.name.text in own:
                    where = f"line {own[inside.name.text].line}"
                    raise _Refused(inside.name, f"there is a group {inside.name} already, in {where}")
                own[inside.name.text] = inside.name
                groups[inside.name.text] = inside
            elif word.text == "end" and len(tokens) == 2:
                if inside is None:
                    raise _Refused(word, "there is no group to end here")
                inside = None
            elif inside is not None:
                inside.lines.append(tokens)
            else:
                outside.append(tokens)
        except _Refused as refusal:
            problems.append(refusal.problem)
            broken.append(tokens)
            inside = inside or (Group(word, ()) if word.text == "group" else None)  # its lines are its own
    if inside is not None:
        problems.append(inside.name.problem(f"the group {inside.name} has no end; close it with a line: end"))
    return outside


def _head(tokens: list[Token]) -> Group:
    """`group NAME(a, b)`."""
    name, arguments = _call(tokens, "group counter(v, c, l)")
    parameters = []
    for argument in arguments:
        if len(argument) != 1 or argument[0].kind != "name":
            raise _Refused(argument[0], "a parameter of a group is a single name")
        if argument[0].text in parameters:
            raise _Refused(argument[0], f"two parameters are called {argument[0]}")
        parameters.append(argument[0].text)
    return Group(name, tuple(parameters))


def _call(tokens: list[Token], form: str) -> tuple[Token, list[list[Token]]]:
    """The name in `use NAME(a, b+1)`, and its arguments."""
    if len(tokens) < 5 or tokens[1].kind != "name" or tokens[2].text != "(" or tokens[-2].text != ")":
        raise _Refused(tokens[min(1, len(tokens) - 1)], f"expected a name and what it is given (the form is: {form})")
    arguments: list[list[Token]] = [[]]
    depth = 0
    for token in tokens[3:-2]:
        depth += (token.text in "([") - (token.text in ")]") if token.kind == "sign" else 0
        if token.text == "," and depth == 0:
            arguments.append([])
        else:
            arguments[-1].append(token)
    if depth:
        raise _Refused(tokens[-2], f"the brackets do not fit (the form is: {form})")
    if arguments == [[]]:
        return tokens[1], []
    if not all(arguments):
        raise _Refused(tokens[2], f"an argument is empty (the form is: {form})")
    return tokens[1], arguments


def _put_in(
    tokens: list[Token],
    groups: Mapping[str, Group],
    given: Mapping[str, list[Token]],
    uses: tuple[str, ...],
    budget: list[int],
) -> Iterator[list[Token]]:
    """A line with parameters replaced; or, where it is a use, the lines that it stands for."""
    tokens = [meant for token in tokens for meant in given.get(token.text if token.kind == "name" else "", [token])]
    if tokens[0].text != "use":
        yield tokens
        return
    name, arguments = _call(tokens, "use counter(level, carry, 8)")
    group = groups.get(name.text)
    if group is None:
        hint = suggestion(name.text, list(groups)) or f"; there are {', '.join(sorted(groups))}"
        raise _Refused(name, f"there is no group {name}{hint}")
    if len(arguments) != len(group.parameters):
        wants = f"{counted(len(group.parameters), 'argument')} ({', '.join(group.parameters)})"
        raise _Refused(name, f"the group {name} takes {wants}, got {len(arguments)}")
    if name.text in uses:
        raise _Refused(name, f"the group {name} uses itself")
    if len(uses) >= MAX_DEPTH:
        raise _Refused(name, f"groups use each other at most {MAX_DEPTH} deep")
    budget[0] -= len(group.lines)
    if budget[0] < 0:
        raise _Refused(name, f"the groups stand for more than {MAX_LINES:,} lines")
    bound = {parameter: _bracketed(argument) for parameter, argument in zip(group.parameters, arguments, strict=True)}
    for line in group.lines:
        yield from _put_in(line, groups, bound, (*uses, name.text), budget)


def _bracketed(argument: list[Token]) -> list[Token]:
    """An argument that calculates, in parentheses; bits are put in as they are."""
    depth, calculates = 0, False
    for token in argument:
        if token.kind == "sign":
            depth += (token.text in "([") - (token.text in ")]")
            calculates |= depth == 0 and token.text in _OPERATORS
    if not calculates:
        return argument
    opened, closed = (argument[place]._replace(kind="sign", text=sign) for place, sign in ((0, "("), (-1, ")")))
    return [opened, *argument, closed]
