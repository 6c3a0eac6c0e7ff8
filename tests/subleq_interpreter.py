"""SUBLEQ in plain Python, the oracle of machine V."""

from collections.abc import Callable, Sequence

from bitwright.machines.subleq import Shape
from bitwright.machines.subleq.images import start_memory

Reader = Callable[[], int | None]  # the next byte of input; None at its end
Writer = Callable[[int], None]  # takes a byte of output


class Interpreter:
    """The plain interpreter. Words are unsigned here, 0 to 2^width - 1, and so is `pc`."""

    def __init__(
        self,
        shape: Shape,
        image: Sequence[int],
        read: Reader = lambda: None,
        write: Writer = lambda _: None,
        pc: int = 0,
    ) -> None:
        self.shape, self.pc, self.executed = shape, pc, 0
        self.memory = start_memory(shape, image)
        self.fault = False  # halted at an operand forbidden in a strict dialect
        self._read, self._write = read, write
        self._ones, self._half = (1 << shape.width) - 1, 1 << (shape.width - 1)
        self._end = self._half if shape.dialect.halt == "top" else shape.words - 2  # the first address to halt at

    @property
    def halted(self) -> bool:
        """Whether the machine has halted."""
        return self.fault or self.pc >= self._end

    def step(self) -> bool:
        """Executes one instruction; returns False, without any change, if the machine has halted."""
        pc, memory, ones, half = self.pc, self.memory, self._ones, self._half
        if self.fault or pc >= self._end:
            return False
        dialect, words = self.shape.dialect, self.shape.words
        a, b, c = memory[pc % words], memory[(pc + 1) % words], memory[(pc + 2) % words]
        following = (pc + 3) & ones
        if dialect.io and a == ones:
            given = self._read()
            memory[b % words] = ones if given is None else given & ones
        elif dialect.io and b == ones:
            self._write(memory[a % words] & 0xFF)
        elif dialect.strict and max(a, b) >= words:
            self.fault = True
            return False
        else:
            minuend, subtrahend = memory[b % words], memory[a % words]
            if dialect.saturate:
                difference = self.shape.signed(minuend) - self.shape.signed(subtrahend)
                result = min(max(difference, -half), half - 1) & ones
            else:
                result = (minuend - subtrahend) & ones
            memory[b % words] = result
            if not 0 < result < half:
                following = c
        self.pc = following
        self.executed += 1
        return True

    def run(self, limit: int) -> bool:
        """Executes up to `limit` instructions; returns whether the machine halted."""
        while self.executed < limit:
            if not self.step():
                return True
        return self.halted
