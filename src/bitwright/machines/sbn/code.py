"""Defines SBN code (subtract and branch if negative) and a plain interpreter, the oracle of the machines.

One instruction, sbn(a, b, c): M[b] <- M[b] - M[a]; if the result is negative, jump to c, otherwise continue with the
next instruction (Algorithm 1; App. B.4). Words are two's complement. An address without an instruction ends the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from bitwright.common.errors import InputError, counted, suggestion
from bitwright.rules.algorithm import check_inputs
from bitwright.rules.ensures import EnsureLine
from bitwright.validation.oracles import UNKNOWN, Answer, Values

MAX_WIDTH = 64
MAX_SIZE = 65_536  # instructions or words


@dataclass(frozen=True)
class Sizes:
    """The sizes of a machine: the paper's l_I, l_M and n_C."""

    instructions: int
    words: int
    width: int

    def __post_init__(self) -> None:
        for name, value, most in (
            ("instructions", self.instructions, MAX_SIZE),
            ("words", self.words, MAX_SIZE),
            ("width", self.width, MAX_WIDTH),
        ):
            if not 1 <= value <= most:
                raise InputError(f"a machine must have between 1 and {most:,} {name}, got {value:,}")

    @property
    def instruction_bits(self) -> int:
        """n_I: enough bits for the instructions and one more address, which halts."""
        return max(1, self.instructions.bit_length())

    @property
    def word_bits(self) -> int:
        """n_M."""
        return max(1, (self.words - 1).bit_length())

    def __str__(self) -> str:
        parts = (self.instructions, "instruction"), (self.words, "word")
        return f"{', '.join(counted(*part) for part in parts)} of {counted(self.width, 'bit')}"


@dataclass(frozen=True)
class Instruction:
    """One sbn instruction: the addresses of two words and of the jump target."""

    a: int
    b: int
    c: int


@dataclass(frozen=True)
class Code:
    """A program for an SBN machine: instructions, initial words, and names of words."""

    instructions: tuple[Instruction, ...]
    words: tuple[int, ...]  # signed
    width: int
    names: Mapping[str, int] = field(default_factory=dict)  # name to address
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    labels: Mapping[str, int] = field(default_factory=dict)
    name: str = "program"
    description: str = ""
    ensures: tuple[EnsureLine, ...] = field(default=(), compare=False)  # about inputs and outputs at the end

    def __post_init__(self) -> None:
        sizes = self.sizes
        for at, instruction in enumerate(self.instructions):
            if not (0 <= instruction.a < sizes.words and 0 <= instruction.b < sizes.words):
                raise InputError(f"instruction {at} names a word outside 0 to {sizes.words - 1}")
            if not 0 <= instruction.c < 2**sizes.instruction_bits:
                raise InputError(f"instruction {at} goes to {instruction.c}, beyond {2**sizes.instruction_bits - 1}")
        for at, word in enumerate(self.words):
            check_word(word, self.width, f"word {at}")
        for what in (*self.inputs, *self.outputs):
            if what not in self.names:
                raise InputError(f"there is no word called '{what}'{suggestion(what, list(self.names))}")

    @property
    def sizes(self) -> Sizes:
        return Sizes(len(self.instructions), len(self.words), self.width)

    def memory(self, values: Mapping[str, int]) -> list[int]:
        """Returns the initial words of a run on these input values."""
        check_inputs(self.name, self.inputs, values)
        memory = list(self.words)
        for name, value in values.items():
            memory[self.names[name]] = check_word(value, self.width, f"input {name}")
        return memory


def check_word(value: int, width: int, name: str) -> int:
    """Returns `value` if it fits a signed word of this width; raises InputError otherwise."""
    low, high = -(2 ** (width - 1)), 2 ** (width - 1) - 1
    if not low <= value <= high:
        raise InputError(f"{name} must fit in {counted(width, 'bit')}, {low} to {high}, got {value}")
    return value


def wrap(value: int, width: int) -> int:
    """Returns `value` modulo 2^width as a signed number in two's complement."""
    low = value % (1 << width)
    return low - (1 << width) if low >> (width - 1) else low


def interpret(code: Code, values: Mapping[str, int] | None = None) -> Iterator[tuple[int, list[int]]]:
    """Runs a program in plain Python; yields each executed address and the memory afterwards, to be read only."""
    memory, instructions = code.memory(values or {}), [(one.a, one.b, one.c) for one in code.instructions]
    half, modulus, addresses = 1 << (code.width - 1), 1 << code.width, 2**code.sizes.instruction_bits
    address = 0
    while address < len(instructions):
        a, b, c = instructions[address]
        memory[b] = result = (memory[b] - memory[a] + half) % modulus - half
        yield address, memory
        address = c if result < 0 else (address + 1) % addresses


@dataclass(frozen=True)
class InterpreterOracle:
    """The plain SBN interpreter, for at most `limit` instructions; each takes at least one step of a run.

    It reports an endless run only if an instruction occurs twice with the same memory.
    """

    code: Code
    limit: int

    @property
    def name(self) -> str:
        return "the plain interpreter"

    def __call__(self, values: Values) -> Answer:
        memory = self.code.memory(values)
        mark: tuple[int, list[int]] | None = None
        for count, (address, memory) in enumerate(interpret(self.code, values)):
            if count == self.limit:  # one instruction more than the limit
                return UNKNOWN
            if mark == (address, memory):
                return None
            if count & (count - 1) == 0:  # 0, 1, 2, 4, ...: marks at growing distances detect any cycle (Brent)
                mark = (address, list(memory))
        return {name: memory[self.code.names[name]] for name in self.code.outputs}
