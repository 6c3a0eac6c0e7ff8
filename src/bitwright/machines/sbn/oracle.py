"""The plain SBN interpreter as an oracle for validations."""

from __future__ import annotations

from dataclasses import dataclass

from bitwright.machines.sbn.code import Code, interpret
from bitwright.validation.oracles import UNKNOWN, Answer, Values


@dataclass(frozen=True)
class InterpreterOracle:
    """The plain SBN interpreter, for at most `limit` instructions; each takes a run at least one step.

    It reports a run as endless only if the same instruction has met the same memory twice.
    """

    code: Code
    limit: int

    @property
    def name(self) -> str:
        return "the plain interpreter"

    def __call__(self, values: Values) -> Answer:
        code, memory = self.code, self.code.memory(values)
        mark: tuple[int, list[int]] | None = None
        for count, (executed, memory) in enumerate(interpret(code, values)):
            if count == self.limit:  # one more than the limit
                return UNKNOWN
            if mark is not None and mark[0] == executed.address and mark[1] == memory:
                return None
            if count & (count - 1) == 0:  # 0, 1, 2, 4, ...: marks at growing distances detect any cycle (Brent)
                mark = (executed.address, list(memory))
        return {name: memory[code.names[name]] for name in code.outputs}
