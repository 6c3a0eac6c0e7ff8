"""Statements of the small language to lines of SBN assembly: what SBN destroys is copied first, and only then.

Three scratch words hold what a statement needs in between: @t (mostly the negative of something to be added), @u and
@v. Whoever uses one makes sure that it is 0, unless nothing has written to it on the way here.
"""

from __future__ import annotations

from bitwright.machines.language.code_lines import OperationLine
from bitwright.machines.language.coder import Coder
from bitwright.machines.language.tree import Assign, Both, Condition, Negative, Not, Positive, Statement, Sum, Zero

SCRATCH = ("@t", "@u", "@v")


class SbnCoder(Coder):
    leaves_at_once = True

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.untouched = set(SCRATCH)  # scratch words that no line above has written to: they are still 0
        self.count = 0

    def labels(self, *kinds: str) -> tuple[str, ...]:
        self.count += 1
        return tuple(f"@{kind}{self.count}" for kind in kinds)

    # Assignments.

    def simple(self, statement: Statement) -> None:
        assert isinstance(statement, Assign), statement
        target, value = statement.target, statement.value
        own = value.factors.get(target, 0)
        if own > 0:
            self.add(target, value.plus(Sum({target: 1}), -1))
        elif own == 0:
            self.do("clr", target)
            self.add(target, value)
        else:  # the old value is needed after it is gone
            self.zero("@u")
            self.subtract(target, "@u")
            self.zero("@v")
            self.subtract("@u", "@v")
            self.do("clr", target)
            self.add(target, value.plus(Sum({target: own}), -1))
            self.subtract_all({"@v": -own}, target)

    def add(self, target: str, value: Sum) -> None:
        """target += value, where the target itself is not subtracted: what is added is collected, negated, in @t."""
        if value.positive:
            self.zero("@t")
            self.subtract_all(value.positive, "@t")
        self.subtract_all(value.negative, target)
        if value.constant:
            self.subtract(self.constant(-value.constant), target)
        if value.positive:
            self.subtract("@t", target)

    # Conditions.

    def compare(self, condition: Condition, yes: str, no: str, following: str) -> None:
        match condition:
            case Negative(value):
                straight = _cost(value) + (following == yes)
                turned = _cost(value.opposite) + (following == no)
                if straight < turned or (straight == turned and following == no):
                    self.go_if_negative(value, yes)
                    self.jump(no, following)
                else:
                    self.go_if_negative(value.opposite, no)
                    self.jump(yes, following)
            case Positive(value):
                self.compare(Negative(value.times(-1)), yes, no, following)
            case Zero(value):
                self.compare_with_zero(value, yes, no, following)

    def compare_with_zero(self, value: Sum, yes: str, no: str, following: str) -> None:
        """Not negative, and the negative of it is not negative either."""
        opposite = value.times(-1)
        variable = value.variable or opposite.variable
        if variable is not None:
            value = Sum({variable: -1})
        elif _cost(opposite) < _cost(value):
            value = opposite
        self.into_scratch(value, no)
        if following == no:
            self.do("sbn", "#1", "@t", to=yes)
        elif variable is not None:
            self.do("jneg", variable, to=no)
        else:
            self.zero("@u")
            self.do("sbn", "@t", "@u", to=no)
            self.untouched.discard("@u")

    def go_if_negative(self, value: Sum, label: str) -> None:
        if value.variable is not None:
            self.do("jneg", value.variable, to=label)
        else:
            self.into_scratch(value, label)

    def into_scratch(self, value: Sum, label: str) -> None:
        """@t = value; then to the label if that is negative."""
        if value.positive:
            self.zero("@u")
            self.subtract_all(value.positive, "@u")
        self.zero("@t")
        self.subtract_all(value.negative, "@t")
        if value.constant:
            self.subtract(self.constant(-value.constant), "@t")
        if value.positive:
            self.subtract("@u", "@t")
        last = self.lines.pop()
        assert isinstance(last, OperationLine)
        self.do("sbn", *last.operands, to=label)

    def saved_if_true_follows(self, condition: Condition) -> int:
        sign = 1
        while isinstance(condition, Both | Not):
            sign = -sign if isinstance(condition, Not) else sign
            condition = condition.condition if isinstance(condition, Not) else condition.second
        match condition:
            case Negative(value):
                return sign * (_cost(value) - _cost(value.opposite))
            case Positive(value):
                return sign * (_cost(value.times(-1)) - _cost(value.times(-1).opposite))
        return 0

    # Lines.

    def subtract(self, word: str, target: str) -> None:
        super().subtract(word, target)
        self.untouched.discard(target)

    def zero(self, scratch: str) -> None:
        if scratch not in self.untouched:
            self.do("clr", scratch)

    def mark(self, label: str, loop: bool = False) -> None:
        super().mark(label)
        if loop:
            self.untouched = set()


def _cost(value: Sum) -> int:
    """About how many instructions it takes to find out whether a sum is negative."""
    if value.variable is not None:
        return 1
    adding = sum(value.positive.values())
    return (adding + 2 if adding else 0) + sum(value.negative.values()) + (value.constant != 0) + 1
