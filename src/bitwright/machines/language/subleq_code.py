"""Routines of the small language to lines of SUBLEQ assembly.

Every function has words of its own for its variables (so it cannot be under way twice), for its results, and for the
address it returns to, which the caller writes into the jump at its end. Z, which is 0 between statements, collects
the negative of what is added; T holds a sum that is tested or stored, P the address of an entry, N counts entries.
"""

from __future__ import annotations

from bitwright.machines.assembly.reading import prelude_of
from bitwright.machines.assembly.subleq_assembler import SUBLEQ
from bitwright.machines.language import tree
from bitwright.machines.language.coder import CodeLine, Coder, LabelLine, tidy
from bitwright.machines.language.tree import Condition, LanguageStatement, Sum
from bitwright.machines.sbn.code import wrap

_MAX_APART = 4  # entries of an array that are filled without a loop
_RESERVED = {"Z", "T", "P", "N", "subleq", "load", "store", *prelude_of(SUBLEQ)}
_LONGEST = 48


class WordNames:
    """Names of words, functions and places in the code, all different and short; each is made when first asked for."""

    def __init__(self) -> None:
        self._taken = set(_RESERVED)
        self._labels: dict[tuple[str, ...], str] = {}
        self._count = 0

    def entrance(self, function: str) -> str:
        return self._label("entrance", function, wish=function)

    def exit(self, function: str) -> str:
        return self._label("exit", function, wish=f"{function}_exit")

    def result(self, function: str, at: int) -> str:
        return self._label("result", function, str(at), wish=f"{function}_result{at or ''}")

    def word(self, function: str, variable: str) -> str:
        """The word of a variable; `@1` is one of the compiler's own."""
        return self._label("word", function, variable, wish=f"{function}_{variable.replace('@', 't')}")

    def labels(self, *kinds: str) -> tuple[str, ...]:
        """New names for places in the code that belong together."""
        self._count += 1
        return tuple(self._label("place", kind, str(self._count), wish=f"{kind}{self._count}") for kind in kinds)

    def words(self) -> list[tuple[str, str, str]]:
        """Function, variable and label of every variable, and of every result with no name, in order of first use."""
        kinds = {"word", "result"}
        return [
            (key[1], key[2] if key[0] == "word" else "", label)
            for key, label in self._labels.items()
            if key[0] in kinds
        ]

    def _label(self, *key: str, wish: str) -> str:
        if key not in self._labels:
            label = wish = wish.lstrip("@")[:_LONGEST]
            number = 1
            while label in self._taken:
                number += 1
                label = f"{wish}_{number}"
            self._taken.add(label)
            self._labels[key] = label
        return self._labels[key]


class SubleqCoder(Coder):
    def __init__(self, routines: dict[str, tree.Routine], names: WordNames, width: int) -> None:
        super().__init__(width)
        self.routines, self.names = routines, names
        self.frame = ""  # the function whose code is made
        self.filled_once: tuple[LanguageStatement, ...] = ()
        self.start: dict[str, tuple[int, ...]] = {}  # words that memory has to start with, for arrays filled once

    def labels(self, *kinds: str) -> tuple[str, ...]:
        return self.names.labels(*kinds)

    def routine(self, routine: tree.Routine, sources: list[str], once: bool) -> list[CodeLine]:
        """The code of a function; `once` if it runs a single time."""
        self.frame, self.lines = routine.name, [LabelLine(self.names.entrance(routine.name), kept=True)]
        self.filled_once = routine.body if once else ()
        self.block(routine.body, sources)
        self.lines.append(LabelLine(self.names.exit(routine.name), kept=True))
        self.do("subleq", "Z", "Z", "0")
        return tidy(self.lines)

    # Statements.

    def simple(self, statement: LanguageStatement) -> None:
        match statement:
            case tree.Assign(_, target, value):
                self.assign(self.word(target), self.sum(value))
            case tree.Fill():
                self.fill(statement)
            case tree.Load(_, target, array, index):
                self.load(self.word(target), array, index)
            case tree.Store(_, array, index, value):
                self.store(array, index, self.sum(value))
            case tree.Call():
                self.call(statement)
            case tree.Return(_, values):
                for at, value in enumerate(values):
                    self.assign(self.names.result(self.frame, at), self.sum(value))
                self.jump(self.names.exit(self.frame))
            case tree.Put(_, value):
                self.do("out", self.operand(self.sum(value)))
            case tree.Get(_, target):
                self.do("in", self.word(target))

    def assign(self, target: str, value: Sum) -> None:
        """target = value, over words; what is added is collected, negated, in Z."""
        own = value.factors.get(target, 0)
        if own < 0:  # the old value is needed after it is gone
            self.do("clr", "T")
            self.do("sub", target, "T")
            value = value.plus(Sum({target: 1}), -own).plus(Sum({"T": 1}), -own)
        if own > 0:
            value = value.plus(Sum({target: 1}), -1)
        if own <= 0 and value.variable is not None:
            self.do("mov", value.variable, target)
            return
        self.subtract_all(value.positive, "Z")
        if own <= 0:
            self.do("clr", target)
        self.subtract_all(value.negative, target)
        constant = wrap(value.constant, self.width)
        if constant:
            self.do("sub", self.constant(-constant), target)
        if value.positive:
            self.do("sub", "Z", target)
            self.do("clr", "Z")

    def call(self, call: tree.Call) -> None:
        """Arguments, the address to come back to, and off; the results are copied from where the function left them."""
        called = self.routines[call.function]
        for parameter, argument in zip(called.parameters, call.arguments, strict=True):
            target = self.names.word(called.name, parameter)
            if isinstance(argument, Sum):
                self.assign(target, self.sum(argument))
            elif self.routines[self.frame].arrays[argument] is None:  # it holds the address itself
                self.do("mov", self.word(argument), target)
            else:
                self.do("mov", f"#{self.word(argument)}", target)
        (back,) = self.labels("back")
        self.do("mov", f"#{back}", f"{self.names.exit(called.name)} + 2")
        self.jump(self.names.entrance(called.name))
        self.lines.append(LabelLine(back, kept=True))
        for at, name in enumerate(call.targets):
            if name is not None:
                self.do("mov", self.names.result(called.name, at), self.word(name))

    # Arrays.

    def fill(self, fill: tree.Fill) -> None:
        array = self.word(fill.array)
        copies = 1 if len(fill.values) > 1 else fill.size
        once = any(fill is statement for statement in self.filled_once)
        if once and not any(value.factors for value in fill.values):  # then memory can start with it
            self.start[array] = tuple(value.constant for value in fill.values) * copies
        elif len(fill.values) > 1 or fill.size <= _MAX_APART:
            for at, value in enumerate(fill.values * copies):
                self.assign(f"{array} + {at}", self.sum(value))
        else:
            each, end = self.labels("fill", "end")
            operand = self.operand(self.sum(fill.values[0]))
            self.do("mov", f"#{array}", "P")
            self.do("mov", f"#{fill.size}", "N")
            self.mark(each)
            self.do("store", operand, "P")
            self.do("inc", "P")
            self.do("dec", "N")
            self.do("jle", "N", to=end)
            self.jump(each)
            self.mark(end)

    def load(self, target: str, array: str, index: Sum) -> None:
        place = self.place(array, index)
        if place is not None:
            self.do("mov", place, target)
            return
        self.point(array, index)
        self.do("load", "P", target)

    def store(self, array: str, index: Sum, value: Sum) -> None:
        place = self.place(array, index)
        if place is not None:
            self.assign(place, value)
            return
        operand = self.operand(value)
        self.point(array, index)
        self.do("store", operand, "P")

    def place(self, array: str, index: Sum) -> str | None:
        """The entry as an operand, if it is always the same."""
        known = not index.factors and self.routines[self.frame].arrays[array] is not None
        return f"{self.word(array)} + {index.constant}" if known else None

    def point(self, array: str, index: Sum) -> None:
        """P = the address of an entry."""
        if self.routines[self.frame].arrays[array] is None:
            self.assign("P", self.sum(index.plus(Sum({array: 1}))))
        else:
            self.assign("P", self.sum(index))
            self.do("sub", f"#-{self.word(array)}", "P")

    # Conditions.

    def compare(self, condition: Condition, yes: str, no: str, following: str) -> None:
        match condition:
            case tree.After(statements, inner):
                self.block(statements, None)
                self.branch(inner, yes, no, following)
            case tree.Compared(">", value):
                words = self.sum(value)
                if words.variable is None:
                    self.assign("T", words)
                self.do("jle", words.variable or "T", to=no)
                self.jump(yes, following)
            case tree.Compared("<", value):
                self.below_or_at_zero(self.sum(value), yes, no, no, following)
            case tree.Compared("=", value):
                words = self.sum(value)
                turned = words.times(-1)
                fewer = min(words, turned, key=lambda found: len(found.positive))
                self.below_or_at_zero(fewer, no, yes, no, following)

    def below_or_at_zero(self, words: Sum, below: str, at: str, above: str, following: str) -> None:
        """A number of 0 or less is below 0 exactly if it is still 0 or less when it has grown by 1."""
        (low,) = self.labels("low")
        self.assign("T", words)
        self.do("jle", "T", to=low)
        self.jump(above)
        self.mark(low)
        self.do("subleq", "#-1", "T", to=below)
        self.jump(at, following)

    # Words and lines.

    def word(self, variable: str) -> str:
        return self.names.word(self.frame, variable)

    def sum(self, value: Sum) -> Sum:
        """The same sum over the words of this function's variables."""
        return Sum({self.word(name): factor for name, factor in value.factors.items()}, value.constant)

    def operand(self, words: Sum) -> str:
        """A word that holds the sum, for reading only: T, if there is no other."""
        if words.variable is not None:
            return words.variable
        if not words.factors:
            return self.constant(words.constant)
        self.assign("T", words)
        return "T"
