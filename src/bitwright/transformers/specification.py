"""Compiles `ensure` lines about words of symbols to one automaton over columns.

A line defines a *number* by its digits (`z == a + b`), the symbol in *each column* (`z[i] == (a[i] + b[i]) mod 2 for
i in 1..8`), or a *flag* (`negative == (a < b)`). The automaton's state consists of registers: carries of linear forms
of numbers, and running sums, maxima and minima.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bitwright.common.errors import InputError, listing
from bitwright.common.scanner import Token, WrongError
from bitwright.proofs.unrolling.polynomials import combine
from bitwright.rules.ensure_text import EnsureReader
from bitwright.rules.ensures import EnsureLine, joined
from bitwright.rules.expressions import COMPARISONS, Combined, Constant, Named, Negation, combined
from bitwright.transformers.columns import Columns, from_step

MAX_BITS = 20_000  # of a constant
RUNNING: Mapping[str, Callable[[int, int], int]] = {"sum": int.__add__, "max": max, "min": min}
_REST = "the carry of the answer"

Tree = Any  # an expression, or a Span
Form = Mapping[str, int]  # the factor of each number; the constant has the name ""
Value = Callable[[Any], int]


@dataclass(frozen=True)
class InputWord:
    """An input word: a number in a base, or (with base 0) symbols with the values low, low + 1, ..."""

    name: str
    length: int
    symbols: int
    low: int = 0
    base: int = 0


@dataclass(frozen=True)
class Span:
    """A span `a[first..last]`, possibly with a function: `sum(a[first..last])`."""

    text: str
    first: Tree
    last: Tree
    token: Token
    function: str = ""


class SpecificationReader(EnsureReader):
    """Parses ensure lines with running values and spans."""

    most_signs = 200

    def name(self) -> Any:
        token = self.plain_name("a number or a name")
        if opened := self.accept("("):
            span = self.nested(opened, self.name)
            self.expect(")")
            if token.text not in RUNNING or not isinstance(span, Span):
                raise WrongError(token, "the functions are sum, max and min of a span such as a[1..i]")
            return replace(span, function=token.text, token=token)
        if opened := self.accept("["):
            first = self.nested(opened, self.sum)
            last = self.nested(opened, self.sum) if self.accept("..") else None
            self.expect("]")
            return Span(token.text, first, last, token) if last is not None else Named(token.text, False, first, token)
        return Named(token.text, False, None, token)


def compile_lines(
    lines: Mapping[str, EnsureLine], words: Sequence[InputWord], answer: Token, digits: int, length: int
) -> Columns:
    """Compiles lines to an automaton; raises WrongError at the first unsupported token.

    Args:
        lines: the lines by text; each defines one answer.
        answer: the name of the answer with a symbol in each of `digits` columns; its text is empty if there is none.
        length: the number of columns.
    """
    for word in words:
        if not word.base and word.length < length:
            raise InputError(f"'{word.name}' must have {length} symbols like the answer, got {word.length}")
    circuit = _Circuit({word.name: word for word in words}, answer, digits, length)
    for line in lines.values():
        circuit.define(line)
    if answer.text and answer.text not in circuit.known:
        raise WrongError(answer, f"no ensure line defines '{answer.text}'; add one, or remove the name")
    columns = from_step(
        joined(list(lines)),
        {word.name: word.symbols for word in words},
        circuit.step,
        length=length,
        start=tuple(circuit.starts),
        answer=answer.text,
        flags=circuit.flags,
    )
    return circuit.check(columns)


class _Circuit:
    """The registers that compute all lines, one column at a time."""

    def __init__(self, words: Mapping[str, InputWord], answer: Token, digits: int, length: int) -> None:
        self.words, self.answer, self.digits, self.length = words, answer, digits, length
        self.known = {*words}
        self.places: dict[Hashable, int] = {}  # the index of each register in the lists below
        self.starts: list[Any] = []
        self.updates: list[Callable[[Any, Mapping[str, int]], tuple[Any, int]]] = []  # next state and output
        self.flags: dict[str, Value] = {}  # functions of the last states
        self.written: Value | None = None  # the answer in a column, from its values and the registers' outputs

    def step(self, states: tuple[Any, ...], read: tuple[int, ...]) -> tuple[tuple[Any, ...], int | None]:
        values = {word.name: word.low + symbol for word, symbol in zip(self.words.values(), read, strict=True)}
        pairs = [update(state, values) for update, state in zip(self.updates, states, strict=True)]
        written = None if self.written is None else self.written((values, [output for _, output in pairs]))
        return tuple(after for after, _ in pairs), written

    def define(self, line: EnsureLine) -> None:
        """Adds the answer that a line defines."""
        truth = line.truth
        if not (isinstance(truth, Combined) and truth.sign == "==" and isinstance(truth.left, Named)):
            raise WrongError(truth.token, "a line of a task must define one answer, as in ensure z == a + b")
        name, tree = truth.left, truth.right
        if name.text in self.known:
            raise WrongError(name.token, f"'{name.text}' must be a new name; it is an input or defined already")
        self.known.add(name.text)
        if name.text == self.answer.text:
            self.written = self._of_number(tree, line) if name.index is None else self._of_column(name, tree, line)
            return
        if name.index is not None or line.ranges:
            raise WrongError(
                name.token, f"the answer line must list the columns of '{name.text}', as in {name.text}[1..n]"
            )
        if _has_numbers(tree, within=False):
            raise WrongError(name.token, f"'{name.text}' is a number; list its digits, as in answer {name.text}[1..n]")
        self.flags[name.text] = _compiled(tree, self._of_flag)

    def check(self, columns: Columns) -> Columns:
        """Returns the automaton after checking that its numbers fit their digits."""
        flags = dict(columns.flags)
        rest = flags.pop(_REST, None)
        for name, values in flags.items():
            if values.min() < 0:
                raise InputError(f"'{name}' must be at least 0, but can be {values.min()}; add a constant")
        if rest is not None:
            last = rest[self._last_states(columns)]
            if last.min() < 0:
                raise InputError(f"'{self.answer.text}' can be negative; reduce it mod a power of the base")
            if last.max() > 0:
                raise InputError(f"'{self.answer.text}' needs more than the {self.digits} digits of the answer")
        return replace(columns, flags=flags)

    def _last_states(self, columns: Columns) -> Any:
        """Returns the states after all columns, where words are 0 beyond their length."""
        before, after = columns.edges[:, 0], columns.edges[:, -1]
        states = np.arange(columns.states) == 0
        for column in range(columns.length):
            short = [1 + word for word, of in enumerate(self.words.values()) if column >= of.length]
            taken = states[before] & (columns.edges[:, short] == 0).all(1)
            states = np.isin(np.arange(columns.states), after[taken])
        return states

    def _of_number(self, tree: Tree, line: EnsureLine) -> Value:
        """Returns the digits of a number, which are the outputs of its carry register."""
        token: Token = tree.token
        if line.ranges:
            raise WrongError(line.ranges[0].token, "a number cannot have 'for'; columns are defined with z[i] ==")
        modular = isinstance(tree, Combined) and tree.sign == "%"
        form = self._linear(tree.left if modular else tree)
        base = self._base(form, token)
        register = self._carry(form, token)
        if modular and constant(tree.right) != base**self.digits:
            raise WrongError(
                tree.token, f"the number after mod must be {base}^{self.digits}, to match the digits of the answer"
            )
        if not modular:
            if self.digits < self.length:
                raise WrongError(token, f"the answer lists {self.digits} of {self.length} digits; list all, or add mod")
            self.flags[_REST] = lambda states: int(states[register][0])
        return lambda column: int(column[1][register])

    def _of_column(self, name: Named, tree: Tree, line: EnsureLine) -> Value:
        """Returns the symbol in each column."""
        index = name.index.text if isinstance(name.index, Named) else ""
        ranges = [(item.name, constant(item.first), constant(item.last)) for item in line.ranges]
        if ranges != [(index, 1, self.length)]:
            cover = f"{name.text}[i] == ... for i in 1..{self.length}"
            raise WrongError(name.token, f"a definition by columns must cover all of them: {cover}")
        inner = _compiled(tree, lambda part: self._in_column(part, index))

        def written(column: Any) -> int:
            if (value := inner(column)) < 0:
                raise WrongError(tree.token, f"'{name.text}' must be at least 0, but can be {value}; add a constant")
            return value

        return written

    def _in_column(self, tree: Tree, index: str) -> Value | None:
        """Returns the value of a symbol in a column, or of a running function up to it; None for other expressions."""
        if (register := self._running(tree, index)) is not None:
            return lambda column: int(column[1][register])
        if isinstance(tree, Named | Span):
            if not (isinstance(tree, Named) and isinstance(tree.index, Named) and tree.index.text == index):
                allowed = f"{tree.text}[{index}], or sum, max or min of {tree.text}[1..{index}]"
                raise WrongError(tree.token, f"a definition by columns can use {allowed}")
            name = self._word(tree).name
            return lambda column: int(column[0][name])
        return None

    def _of_flag(self, tree: Tree) -> Value | None:
        """Returns the value of a comparison of numbers or a function of an entire word; None for other expressions."""
        if (register := self._running(tree, "")) is not None:
            return lambda states: int(states[register])
        if isinstance(tree, Combined) and tree.sign in COMPARISONS and _has_numbers(tree):
            return self._compared(tree)
        if isinstance(tree, Named | Span):
            raise WrongError(tree.token, f"a flag needs a comparison, or sum, max or min of {tree.text}[1..n]")
        return None

    def _running(self, tree: Tree, index: str) -> int | None:
        """Returns the register of sum (possibly mod a constant), max or min over a[1..index] or an entire word."""
        modular = isinstance(tree, Combined) and tree.sign == "%"
        span: Tree = tree.left if modular else tree
        if not isinstance(span, Span) or not span.function:
            return None
        modulus = constant(tree.right) if modular else 0
        if modular and (span.function != "sum" or modulus < 1):
            raise WrongError(tree.token, "mod needs a sum on the left and a constant of at least 1 on the right")
        word, function = self._word(span), RUNNING[span.function]
        last = span.last.text if index and isinstance(span.last, Named) else constant(span.last)
        if constant(span.first) != 1 or last != (index or word.length):
            raise WrongError(span.token, f"{span.function} must cover {span.text}[1..{index or word.length}]")
        if not index and span.function == "min" and word.length < self.length:
            raise WrongError(span.token, f"min needs a word of {self.length} digits, got {word.length}")
        start = {"sum": 0, "max": word.low, "min": word.low + word.symbols - 1}[span.function]

        def update(state: int, values: Mapping[str, int]) -> tuple[int, int]:
            after = function(state, values[word.name])
            after = after % modulus if modulus else after
            return after, after

        return self._register((span.function, word.name, modulus), start, update)

    def _compared(self, tree: Combined) -> Value:
        """Returns the truth of a comparison, from the sign of left - right or right - left."""
        turned, equal = tree.sign in (">", "<="), tree.sign in ("==", "!=")
        left, right = self._linear(tree.left), self._linear(tree.right)
        register = self._carry(combine(right, left, -1) if turned else combine(left, right, -1), tree.token, equal)
        true = tree.sign in ("<", ">", "==")

        def truth(states: tuple[Any, ...]) -> int:
            carry, nonzero = states[register]
            return int(((carry == 0 and not nonzero) if equal else carry < 0) == true)

        return truth

    def _linear(self, tree: Tree) -> Form:
        """Returns a number as a linear form of the inputs."""
        if isinstance(tree, Named) and tree.index is None:
            if not self._word(tree).base:
                raise WrongError(tree.token, f"'{tree.text}' is a word of symbols, not a number; write {tree.text}[i]")
            return {tree.text: 1}
        if isinstance(tree, Combined) and tree.sign in ("+", "-"):
            return combine(self._linear(tree.left), self._linear(tree.right), 1 if tree.sign == "+" else -1)
        if isinstance(tree, Combined) and tree.sign == "*":
            left, right = self._linear(tree.left), self._linear(tree.right)
            if {*left} <= {""}:
                left, right = right, left
            if not {*right} <= {""}:
                raise WrongError(tree.token, "'*' needs a constant on one side")
            return combine({}, left, right.get("", 0))
        value = constant(tree)
        return {"": value} if value else {}

    def _carry(self, form: Form, token: Token, exact: bool = False) -> int:
        """Returns the register of a linear form: its carry, and with `exact` also whether any digit was nonzero."""
        base = self._base(form, token)
        factors = [(name, factor) for name, factor in form.items() if name]

        def update(state: tuple[int, bool], values: Mapping[str, int]) -> tuple[tuple[int, bool], int]:
            carry, digit = divmod(state[0] + sum(factor * values[name] for name, factor in factors), base)
            return (carry, state[1] or (exact and digit != 0)), digit

        return self._register((frozenset(form.items()), exact), (form.get("", 0), False), update)

    def _register(self, key: Hashable, start: Any, update: Callable[[Any, Mapping[str, int]], tuple[Any, int]]) -> int:
        if key not in self.places:
            self.places[key] = len(self.starts)
            self.starts.append(start)
            self.updates.append(update)
        return self.places[key]

    def _word(self, name: Named | Span) -> InputWord:
        if name.text not in self.words:
            raise WrongError(name.token, f"'{name.text}' is not an input; the inputs are {listing([*self.words])}")
        return self.words[name.text]

    def _base(self, form: Form, token: Token) -> int:
        """Returns the base of the numbers in a form, or of all numbers if the form is constant."""
        bases = {self.words[name].base for name in form if name} or {word.base for word in self.words.values()} - {0}
        if len(bases) != 1:
            raise WrongError(token, f"the numbers in a line must have the same base, got bases {sorted(bases)}")
        return bases.pop()


def constant(tree: Tree) -> int:
    """Returns the value of an expression without names; raises WrongError if it contains a name."""

    def refuse(part: Tree) -> None:
        if isinstance(part, Named | Span):
            raise WrongError(part.token, f"expected a constant, found '{part.text}'")

    return _compiled(tree, refuse)(None)


def _compiled(tree: Tree, leaf: Callable[[Tree], Value | None]) -> Value:
    """Compiles an expression to a function; `leaf` compiles the parts it handles and returns None for others."""
    if (value := leaf(tree)) is not None:
        return value
    if isinstance(tree, Constant):
        return lambda _: tree.value
    parts = [_compiled(part, leaf) for part in _parts(tree)]
    if isinstance(tree, Negation):
        return lambda at: int(not parts[0](at))
    return lambda at: _operated(tree, parts[0](at), parts[1](at))


def _operated(tree: Combined, left: int, right: int) -> int:
    if tree.sign in ("//", "%") and right < 1:
        raise WrongError(tree.token, f"the divisor of '{tree.sign}' must be at least 1, got {right}")
    if tree.sign == "^" and (right < 0 or left.bit_length() * right > MAX_BITS):
        raise WrongError(tree.token, f"'^' needs an exponent of at least 0 and a result of at most {MAX_BITS:,} bits")
    return int(combined(tree.sign, left, right))


def _parts(tree: Tree) -> tuple[Tree, ...]:
    return (tree.left, tree.right) if isinstance(tree, Combined) else (tree.body,) if isinstance(tree, Negation) else ()


def _has_numbers(tree: Tree, within: bool = True) -> bool:
    """Returns whether an expression contains numbers, outside of comparisons unless `within` is true."""
    if not within and (isinstance(tree, Negation) or (isinstance(tree, Combined) and tree.sign in COMPARISONS)):
        return False
    return (isinstance(tree, Named) and tree.index is None) or any(_has_numbers(part, within) for part in _parts(tree))
