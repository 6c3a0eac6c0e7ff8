"""Groups: named rules with parameters, inserted by `use` lines.

    group counter(v, c, l)
      block v[i] c[i] for i in 1..l
      when v[i]=1 c[i]=0 write v[i] for i in 1..l
    end
    use counter(level, carry, 8)

The groups of parts.bw are available in every text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from bitwright.common.errors import counted, listing, suggestion
from bitwright.common.scanner import Token, WrongError
from bitwright.rules.layout import KEYWORDS
from bitwright.rules.text.lexer import tokenize

MAX_WORDS = 200_000  # most words after expanding all groups
MAX_DEPTH = 20  # deepest nesting of groups
_OPERATORS = frozenset(["+", "-", "*", "//", "%", "^"])


@dataclass
class Group:
    """The head of a group, its parameters and the lines between head and end."""

    name: Token
    parameters: tuple[str, ...]
    lines: list[list[Token]] = field(default_factory=list)
    ours: bool = False  # from parts.bw, so its lines have no place in the user's text


def without_groups(lines: Sequence[list[Token]]) -> list[list[Token]]:
    """The lines with every `use` replaced by its group; unused groups are not parsed. Raises WrongError."""
    if not any(tokens[0].text in ("group", "use", "end") for tokens in lines):
        return list(lines)
    groups: dict[str, Group] = dict(_parts())
    outside, budget = _read(lines, groups), [MAX_WORDS]
    return [line for tokens in outside for line in _put_in(tokens, groups, {}, (), budget)]


@cache
def _parts() -> Mapping[str, Group]:
    """The groups available in every text."""
    text = files("bitwright.rules.text").joinpath("parts.bw").read_text("utf-8")
    groups: dict[str, Group] = {}
    _read(tokenize(text, []), groups)
    for group in groups.values():
        group.ours = True
    return groups


def _read(lines: Sequence[list[Token]], groups: dict[str, Group]) -> list[list[Token]]:
    """Moves the group definitions of a text into `groups`; returns the other lines."""
    outside: list[list[Token]] = []
    own: dict[str, Token] = {}
    inside: Group | None = None
    for tokens in lines:
        word = tokens[0]
        if word.text == "group":
            if inside is not None:
                raise WrongError(word, f"groups cannot be nested; close group {inside.name} with end")
            inside = _head(tokens)
            if inside.name.text in own:
                where = f"line {own[inside.name.text].line}"
                raise WrongError(inside.name, f"group {inside.name} is already defined in {where}")
            own[inside.name.text] = inside.name
            groups[inside.name.text] = inside
        elif word.text == "end":
            if len(tokens) > 2:
                raise WrongError(tokens[1], f"expected the end of the line, found {tokens[1]} (the form is: end)")
            if inside is None:
                raise WrongError(word, "'end' without a group above it; remove it")
            inside = None
        else:
            (outside if inside is None else inside.lines).append(tokens)
    if inside is not None:
        raise WrongError(inside.name, f"the group {inside.name} has no end; close it with a line: end")
    return outside


def _head(tokens: list[Token]) -> Group:
    """Parses `group NAME(a, b)`."""
    name, arguments = _call(tokens, "group counter(v, c, l)")
    parameters: dict[str, None] = {}
    for argument in arguments:
        if len(argument) != 1 or argument[0].kind != "name":
            raise WrongError(argument[0], "a parameter of a group is a single name")
        if argument[0].text in KEYWORDS:
            raise WrongError(argument[0], f"{argument[0]} is a keyword; choose another name")
        if argument[0].text in parameters:
            raise WrongError(argument[0], f"two parameters are called {argument[0]}")
        parameters[argument[0].text] = None
    return Group(name, tuple(parameters))


def _call(tokens: list[Token], form: str) -> tuple[Token, list[list[Token]]]:
    """The name in `use NAME(a, b+1)`, and its arguments."""
    if len(tokens) < 5 or tokens[1].kind != "name" or tokens[2].text != "(" or tokens[-2].text != ")":
        raise WrongError(tokens[min(1, len(tokens) - 1)], f"expected a name and arguments (the form is: {form})")
    arguments: list[list[Token]] = [[]]
    depth = 0
    for token in tokens[3:-2]:
        depth += (token.text in "([") - (token.text in ")]") if token.kind == "sign" else 0
        if token.text == "," and depth == 0:
            arguments.append([])
        else:
            arguments[-1].append(token)
    if depth:
        raise WrongError(tokens[-2], f"the brackets do not match (the form is: {form})")
    if arguments == [[]]:
        return tokens[1], []
    if not all(arguments):
        raise WrongError(tokens[2], f"an argument is empty (the form is: {form})")
    return tokens[1], arguments


def _put_in(
    tokens: list[Token],
    groups: Mapping[str, Group],
    given: Mapping[str, list[Token]],
    uses: tuple[str, ...],
    budget: list[int],
) -> Iterator[list[Token]]:
    """A line with its parameters replaced; for a `use` line, the lines of its group."""
    meant = [given.get(token.text, [token]) if token.kind == "name" else [token] for token in tokens]
    budget[0] -= sum(map(len, meant)) if uses else 0
    if budget[0] < 0:
        raise WrongError(tokens[0], f"the groups expand to more than {MAX_WORDS:,} words")
    tokens = [token for several in meant for token in several]
    if tokens[0].text != "use":
        yield tokens
        return
    name, arguments = _call(tokens, "use counter(level, carry, 8)")
    group = groups.get(name.text)
    if group is None:
        hint = suggestion(name.text, groups) or f"; the groups are {listing(sorted(groups), 20)}"
        raise WrongError(name, f"there is no group {name}{hint}")
    if len(arguments) != len(group.parameters):
        wants = f"{counted(len(group.parameters), 'argument')} ({listing(group.parameters, 20)})"
        raise WrongError(name, f"the group {name} takes {wants}, got {len(arguments)}")
    if name.text in uses:
        raise WrongError(name, f"the group {name} uses itself")
    if len(uses) >= MAX_DEPTH:
        raise WrongError(name, f"groups use each other at most {MAX_DEPTH} deep")
    bound = {parameter: _bracketed(argument) for parameter, argument in zip(group.parameters, arguments, strict=True)}
    for line in group.lines:
        if group.ours:  # its problems are reported at the line that uses it
            line = [token._replace(line=tokens[0].line, column=tokens[0].column) for token in line]
        yield from _put_in(line, groups, bound, (*uses, name.text), budget)


def _bracketed(argument: list[Token]) -> list[Token]:
    """An argument with operators gets parentheses; others are inserted as they are."""
    depth, calculates = 0, False
    for token in argument:
        if token.kind == "sign":
            depth += (token.text in "([") - (token.text in ")]")
            calculates |= depth == 0 and token.text in _OPERATORS
    if not calculates:
        return argument
    opened, closed = (argument[place]._replace(kind="sign", text=sign) for place, sign in ((0, "("), (-1, ")")))
    return [opened, *argument, closed]
