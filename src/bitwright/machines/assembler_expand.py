"""Macros replaced by their bodies, with bounds on depth and size, until only operations and labels are left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain

from bitwright.bits import shorten
from bitwright.machines.assembler_syntax import (
    OPERATIONS,
    Item,
    Label,
    Macro,
    Operand,
    Source,
    Statement,
)
from bitwright.machines.assembler_text import Kind, Problems

MAX_STATEMENTS = 262_144  # labels, operations and calls; four times the instructions that a machine may have
MAX_DEPTH = 50  # macros that call macros


def expand(source: Source, problems: Problems) -> list[Item]:
    """Labels and operations in the order of their addresses; names with @ know which expansion they belong to."""
    expansion = _Expansion(source, problems)
    expansion.check_operations()
    return list(expansion.items(source.items, {}, 0, ()))


class _Expansion:
    def __init__(self, source: Source, problems: Problems) -> None:
        self.source, self.problems = source, problems
        self.scopes = self.work = 0

    def check_operations(self) -> None:
        """Every operation must be known, also in macros that nothing calls."""
        bodies = [self.source.items, *(macro.body for macro in self.source.macros.values())]
        for item in (item for body in bodies for item in body):
            if isinstance(item, Statement) and item.operation.text not in OPERATIONS:
                self.check_call(item)

    def check_call(self, call: Statement) -> None:
        name = call.operation.text
        macro = self.source.macros.get(name)
        if macro is None:
            if name not in self.source.excused:
                known = self.problems.hint(name, chain(OPERATIONS, self.source.macros))
                hint = known or f"; use one of {', '.join(OPERATIONS)}, or a macro"
                self.problems.at(call.operation, f"unknown operation {call.operation}{hint}")
        elif not _fits(macro, call):
            form = " ".join((name, *macro.parameters))
            got, takes = len(call.operands), len(macro.parameters)
            token = call.end if got < takes else call.operands[takes].token
            noun = "operand" if takes == 1 else "operands"
            self.problems.at(token, f"macro '{name}' takes {takes} {noun}, got {got} (the form is: {form})")
        if macro is None or not _fits(macro, call):
            self.source.excused.update(operand.body for operand in call.operands)

    def items(
        self, body: list[Item], arguments: Mapping[str, Operand], scope: int, calls: tuple[str, ...]
    ) -> Iterator[Item]:
        for item in body:
            self.work += 1
            if self.work > MAX_STATEMENTS:
                self.too_much(item)
                return
            if isinstance(item, Label):
                yield Label(item.token, scope)
                continue
            operands = tuple([self.bind(operand, arguments, scope) for operand in item.operands])
            call = Statement(item.operation, operands, item.end)
            if item.operation.text in OPERATIONS:
                yield call
            else:
                yield from self.called(call, calls)

    def called(self, call: Statement, calls: tuple[str, ...]) -> Iterator[Item]:
        name = call.operation.text
        macro = self.source.macros.get(name)
        if macro is None or not _fits(macro, call):
            return
        if name in calls:
            circle = shorten(" calls ".join((*calls[calls.index(name) :], name)), 80)
            self.problems.at(call.operation, f"macro '{name}' calls itself without end ({circle}); use a loop")
        elif len(calls) >= MAX_DEPTH:
            self.problems.at(
                call.operation, f"macros call each other at most {MAX_DEPTH} deep; make '{name}' shallower"
            )
        else:
            self.scopes += 1
            arguments = dict(zip(macro.parameters, call.operands, strict=True))
            yield from self.items(macro.body, arguments, self.scopes, (*calls, name))

    def bind(self, operand: Operand, arguments: Mapping[str, Operand], scope: int) -> Operand:
        """An operand of a macro's body in one expansion: parameters replaced, names with @ made its own."""
        given = arguments.get(operand.body)
        if given is None:
            return replace(operand, scope=scope) if operand.body.startswith("@") else operand
        if operand.kind is Kind.NAME:
            return given
        if given.kind is Kind.CONSTANT or given.body.startswith("@"):
            wanted = f"'{operand.body}' is used as '{operand.token.text}' there"
            self.problems.at(given.token, f"the macro needs a number here, found {given.token}; {wanted}")
            return replace(operand, body="0")
        return replace(given, kind=operand.kind, sign=given.sign * operand.sign)

    def too_much(self, item: Item) -> None:
        if self.work == MAX_STATEMENTS + 1:
            token = item.token if isinstance(item, Label) else item.operation
            self.problems.at(token, f"the macros expand to more than {MAX_STATEMENTS:,} statements; use loops")
        self.work = MAX_STATEMENTS + 2


def _fits(macro: Macro, call: Statement) -> bool:
    return len(call.operands) == len(macro.parameters)
