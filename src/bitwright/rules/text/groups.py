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

MAX_WORDS = 200_000  # most words after all groups are expanded
MAX_DEPTH = 20  # deepest nesting of groups
_OPERATORS = frozenset(["+", "-", "*", "//", "%", "^"])


@dataclass
class Group:
    """The name and parameters of a group, and the lines in its body."""

    name: Token
    parameters: tuple[str, ...]
    lines: list[list[Token]] = field(default_factory=list)
    builtin: bool = False  # defined in parts.bw, so its lines have no position in the user's text


def without_groups(lines: Sequence[list[Token]]) -> list[list[Token]]:
    """Replaces every `use` line with the lines of its group; raises WrongError. Unused groups are not parsed."""
    if not any(tokens[0].text in ("group", "use", "end") for tokens in lines):
        return list(lines)
    groups: dict[str, Group] = dict(_parts())
    outside, budget = _read(lines, groups), [MAX_WORDS]
    return [line for tokens in outside for line in _expanded(tokens, groups, {}, (), budget)]


@cache
def _parts() -> Mapping[str, Group]:
    """Returns the groups available in every text."""
    text = files("bitwright.rules.text").joinpath("parts.bw").read_text("utf-8")
    groups: dict[str, Group] = {}
    _read(tokenize(text, []), groups)
    for group in groups.values():
        group.builtin = True
    return groups


def _read(lines: Sequence[list[Token]], groups: dict[str, Group]) -> list[list[Token]]:
    """Moves the group definitions of a text into `groups`; returns the other lines."""
    outside: list[list[Token]] = []
    defined: dict[str, Token] = {}
    inside: Group | None = None
    for tokens in lines:
        word = tokens[0]
        if word.text == "group":
            if inside is not None:
                raise WrongError(word, f"groups cannot be nested; close group {inside.name} with 'end' first")
            inside = _head(tokens)
            if inside.name.text in defined:
                line = defined[inside.name.text].line
                raise WrongError(inside.name, f"group {inside.name} is already defined on line {line}")
            defined[inside.name.text] = inside.name
            groups[inside.name.text] = inside
        elif word.text == "end":
            if len(tokens) > 2:
                raise WrongError(tokens[1], f"expected the end of the line, found {tokens[1]} (for example: end)")
            if inside is None:
                raise WrongError(word, "'end' has no matching 'group'; remove it")
            inside = None
        else:
            (outside if inside is None else inside.lines).append(tokens)
    if inside is not None:
        raise WrongError(inside.name, f"group {inside.name} is not closed; add a line: end")
    return outside


def _head(tokens: list[Token]) -> Group:
    """Parses `group NAME(a, b)`."""
    name, arguments = _call(tokens, "group counter(v, c, l)")
    parameters: dict[str, None] = {}
    for argument in arguments:
        if len(argument) != 1 or argument[0].kind != "name":
            raise WrongError(argument[0], f"a group parameter must be a single name, got {argument[0]}")
        if argument[0].text in KEYWORDS:
            raise WrongError(argument[0], f"{argument[0]} is a keyword; choose another name")
        if argument[0].text in parameters:
            raise WrongError(argument[0], f"two parameters are named {argument[0]}")
        parameters[argument[0].text] = None
    return Group(name, tuple(parameters))


def _call(tokens: list[Token], form: str) -> tuple[Token, list[list[Token]]]:
    """Returns the name and the arguments in `use NAME(a, b+1)`."""
    if len(tokens) < 5 or tokens[1].kind != "name" or tokens[2].text != "(" or tokens[-2].text != ")":
        raise WrongError(tokens[min(1, len(tokens) - 1)], f"expected a name and arguments (for example: {form})")
    arguments: list[list[Token]] = [[]]
    depth = 0
    for token in tokens[3:-2]:
        depth += (token.text in "([") - (token.text in ")]") if token.kind == "sign" else 0
        if token.text == "," and depth == 0:
            arguments.append([])
        else:
            arguments[-1].append(token)
    if depth:
        raise WrongError(tokens[-2], f"the brackets do not match (for example: {form})")
    if arguments == [[]]:
        return tokens[1], []
    if not all(arguments):
        raise WrongError(tokens[2], f"an argument is empty (for example: {form})")
    return tokens[1], arguments


def _expanded(
    tokens: list[Token],
    groups: Mapping[str, Group],
    bound: Mapping[str, list[Token]],
    uses: tuple[str, ...],
    budget: list[int],
) -> Iterator[list[Token]]:
    """Yields a line with its parameters replaced or, for a `use` line, the lines of its group."""
    parts = [bound.get(token.text, [token]) if token.kind == "name" else [token] for token in tokens]
    budget[0] -= sum(map(len, parts)) if uses else 0
    if budget[0] < 0:
        raise WrongError(tokens[0], f"the groups expand to more than {MAX_WORDS:,} words; use fewer or smaller groups")
    tokens = [token for part in parts for token in part]
    if tokens[0].text != "use":
        yield tokens
        return
    name, arguments = _call(tokens, "use counter(level, carry, 8)")
    group = groups.get(name.text)
    if group is None:
        hint = suggestion(name.text, groups) or f"; choose from {listing(sorted(groups), 20)}"
        raise WrongError(name, f"unknown group {name}{hint}")
    if len(arguments) != len(group.parameters):
        wants = f"{counted(len(group.parameters), 'argument')} ({listing(group.parameters, 20)})"
        raise WrongError(name, f"group {name} takes {wants}, got {len(arguments)}")
    if name.text in uses:
        raise WrongError(name, f"group {name} uses itself")
    if len(uses) >= MAX_DEPTH:
        raise WrongError(name, f"groups may use each other at most {MAX_DEPTH} levels deep")
    inner = {parameter: _bracketed(argument) for parameter, argument in zip(group.parameters, arguments, strict=True)}
    for line in group.lines:
        if group.builtin:  # its problems are reported at the line that uses it
            line = [token._replace(line=tokens[0].line, column=tokens[0].column) for token in line]
        yield from _expanded(line, groups, inner, (*uses, name.text), budget)


def _bracketed(argument: list[Token]) -> list[Token]:
    """Puts an argument that contains operators in parentheses."""
    depth, has_operator = 0, False
    for token in argument:
        if token.kind == "sign":
            depth += (token.text in "([") - (token.text in ")]")
            has_operator |= depth == 0 and token.text in _OPERATORS
    if not has_operator:
        return argument
    opened, closed = (argument[place]._replace(kind="sign", text=sign) for place, sign in ((0, "("), (-1, ")")))
    return [opened, *argument, closed]
