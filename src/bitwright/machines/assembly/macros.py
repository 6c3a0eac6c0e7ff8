"""Defines the statements of an assembly text, and expands macros to instructions and directives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from bitwright.common.bits import shorten
from bitwright.common.scanner import GiveUpError, Problems, Token, TooManyProblemsError

MAX_STATEMENTS = 1 << 19  # limit on labels, operations and calls in expanded bodies
MAX_DEPTH = 50  # limit on nested macro calls
_PRELUDE_SCOPE = -1  # all expansions of a prelude share its names with @


class Operand(NamedTuple):
    """An expression; `pooled` (written #) means a constant word with that value."""

    tokens: tuple[Token, ...]
    pooled: bool
    origin: Token  # position in the text, possibly of a macro call

    @property
    def text(self) -> str:
        return "#" * self.pooled + "".join(token.text for token in self.tokens)

    @property
    def name(self) -> Token | None:
        """The name, if the operand is a single name."""
        return self.tokens[0] if len(self.tokens) == 1 and self.tokens[0].kind == "name" and not self.pooled else None

    def __str__(self) -> str:
        return f"'{shorten(self.text)}'"


class Label(NamedTuple):
    token: Token


class Statement(NamedTuple):
    """An operation, a directive or a macro call; statements of a prelude carry the position of the call."""

    name: str
    token: Token
    operands: tuple[Operand, ...]
    end: int  # the column after the statement


Item = Label | Statement


def names_of(item: Item) -> Iterator[str]:
    """Yields the text of a label, or of every token in the operands of a statement."""
    if isinstance(item, Label):
        yield item.token.text
    else:
        yield from (token.text for operand in item.operands for token in operand.tokens)


class Form(NamedTuple):
    """The written form of an operation or directive, and its operand counts."""

    text: str
    least: int
    most: int


@dataclass(slots=True)
class Macro:
    name: Token
    parameters: tuple[str, ...]
    body: list[Item] = field(default_factory=list)
    prelude: bool = False  # available to every program
    takes_constant: bool = False  # its first operand is a constant, written #


@dataclass
class Expander:
    """Expands macros; `already_reported` contains the names on rejected lines."""

    forms: Mapping[str, Form]  # operations that need no expansion
    macros: Mapping[str, Macro]  # by name, followed by # if it takes a constant
    separator: str  # of operands
    problems: Problems
    already_reported: set[str]
    _found: list[Item] = field(default_factory=list)
    _scopes: int = 0
    _work: int = 0

    def expand(self, items: list[Item]) -> list[Item]:
        """Returns labels, instructions and directives in order; names with @ are local to their expansion.

        It empties `items` to save memory.
        """
        self._found = []
        items.reverse()
        self._put((items.pop() for _ in range(len(items))), {}, 0, ())
        return self._found

    def check(self, items: Sequence[Item]) -> None:
        """Reports calls that match no operation, even in macros that are never expanded."""
        for item in items:
            if isinstance(item, Statement):
                try:
                    self._called(item)
                except GiveUpError:
                    self.already_reported.update(names_of(item))

    def _put(
        self,
        body: Iterable[Item],
        given: Mapping[str, Operand],
        scope: int,
        calls: tuple[str, ...],
        at: Token | None = None,
    ) -> None:
        """Expands statements; `at` replaces their positions."""
        for item in body:
            try:
                if isinstance(item, Label):
                    self._found.append(Label(_label(item.token, given, scope, self.problems)) if scope else item)
                    continue
                name, token, operands, end = item
                if scope:
                    bound = tuple([_bound(operand, given, scope, self.problems) for operand in operands])
                    item = Statement(name, at or token, bound, end)
                macro = self._called(item)
                if macro is None:
                    self._found.append(item)
                else:
                    self._call(item, macro, calls)
            except GiveUpError:
                self.already_reported.update(names_of(item))

    def _call(self, call: Statement, macro: Macro, calls: tuple[str, ...]) -> None:
        self._work += len(macro.body)
        if self._work > MAX_STATEMENTS:
            self.problems.at(call.token, f"the macros expand to more than {MAX_STATEMENTS:,} statements; use loops")
            raise TooManyProblemsError
        given = dict(zip(macro.parameters, call.operands, strict=True))
        if macro.prelude:
            if macro.takes_constant:
                given[macro.parameters[0]] = call.operands[0]._replace(pooled=False)
            self._put(macro.body, given, _PRELUDE_SCOPE, calls, call.token)
            return
        if call.name in calls:
            circle = shorten(" calls ".join((*calls[calls.index(call.name) :], call.name)), 80)
            raise self.problems.stop(call.token, f"macro '{call.name}' calls itself without end ({circle}); use a loop")
        if len(calls) >= MAX_DEPTH:
            message = f"macros call each other at most {MAX_DEPTH} deep; reduce the nesting in '{call.name}'"
            raise self.problems.stop(call.token, message)
        self._scopes += 1
        self._put(macro.body, given, self._scopes, (*calls, call.name))

    def _called(self, call: Statement) -> Macro | None:
        """Returns the macro that a statement calls, or None for an instruction; raises for a wrong operand count."""
        name, _, operands, _ = call
        count = len(operands)
        form = self.forms.get(name)
        if form is not None:
            if form.least <= count <= form.most:
                return None
            macro, least, most = None, form.least, form.most
        else:
            macro = (operands and operands[0].pooled and self.macros.get(f"{name}#")) or self.macros.get(name)
            if macro is None:
                raise self._unknown(call)
            least = most = len(macro.parameters)
            if count == least:
                return macro
        place = call.token._replace(column=call.end) if count < least else operands[most].origin
        what = f"macro '{name}'" if macro and not macro.prelude else f"'{name}'"
        text = form.text if form else f"{name} {self.separator.join(macro.parameters if macro else ())}".strip()
        raise self.problems.stop(place, f"{what} takes {_takes(least, most)}, got {count} (the form is: {text})")

    def _unknown(self, call: Statement) -> GiveUpError:
        if call.name in self.already_reported:
            return GiveUpError()
        operations = [name for name in self.forms if name[0] != "."]
        operations += [name for name, macro in self.macros.items() if macro.prelude and name[-1] != "#"]
        hint = self.problems.hint(call.name, [*operations, *self.macros])
        advice = hint or f"; use one of {', '.join(operations)}, or a macro"
        return self.problems.stop(call.token, f"unknown operation '{shorten(call.name)}'{advice}")


def _bound(operand: Operand, given: Mapping[str, Operand], scope: int, problems: Problems) -> Operand:
    """Returns an operand with its parameters replaced and its names with @ made local to the expansion."""
    tokens, pooled, origin = operand
    if len(tokens) == 1:
        (token,) = tokens
        meant = given.get(token.text)
        if meant is None:
            return operand if token.text[0] != "@" else Operand((token._replace(scope=scope),), pooled, origin)
        if not pooled:
            return meant
    found: list[Token] = []
    for token in tokens:
        meant = given.get(token.text)
        if meant is None:
            found.append(token._replace(scope=scope) if token.text[0] == "@" else token)
        elif meant.pooled:
            wanted = f"'{token.text}' is used as {operand} there"
            raise problems.stop(meant.origin, f"the macro needs a number here, got {meant}; {wanted}")
        else:
            origin = meant.origin
            several = len(tokens) > 1 and len(meant.tokens) > 1
            brackets = [token._replace(kind="sign", text=sign) for sign in "()" if several]
            found += [*brackets[:1], *meant.tokens, *brackets[1:]]
    return Operand(tuple(found), pooled, origin)


def _label(token: Token, given: Mapping[str, Operand], scope: int, problems: Problems) -> Token:
    if token.text[0] == "@":
        return token._replace(scope=scope)
    meant = given.get(token.text)
    if meant is None:
        return token
    if meant.name is None:
        raise problems.stop(meant.origin, f"{token} is a label in this macro; pass a name, not {meant}")
    return meant.name


def _takes(least: int, most: int) -> str:
    """Formats a number of operands: `2 or 3 operands`."""
    allowed = f"{least}" if most == least else f"{least} or {most}" if most == least + 1 else f"{least} or more"
    return f"{allowed} operand{'s' * (allowed != '1')}"
