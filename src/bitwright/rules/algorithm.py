"""An Algorithm: a program with its inputs, outputs and stopping condition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import Any, Literal

import numpy as np

from bitwright.common.bits import BoolArray, from_bits, shorten, to_bits, whole_number
from bitwright.common.errors import InputError, listing, suggestion
from bitwright.common.lazy import Shown
from bitwright.common.scanner import WrongError
from bitwright.rules.ensure_text import read
from bitwright.rules.ensures import EnsureLine, Scope, joined
from bitwright.rules.layout import NAME, IntArray, Layout
from bitwright.rules.program import Program
from bitwright.rules.references import Bits, Ref, bit_numbers, one_bit, repeated

FIXED_POINT: Literal["fixed point"] = "fixed point"
Halt = int | Literal["fixed point"] | None
STATED = (("where", "conditions"), ("ensure", "ensures"), ("invariant", "invariants"))  # keyword, field
MAX_EXAMPLES = 10**9  # most examples of a padded training set


@dataclass(frozen=True)
class Word:
    """A number inside the state: its name and its bits, least significant first.

    >>> from bitwright import addition
    >>> addition(2).outputs
    (Word(name='sum', bits=(0, 1, 5), signed=False),)
    """

    name: str
    bits: tuple[int, ...]
    signed: bool = False  # two's complement: the top bit has negative weight


@dataclass(frozen=True)
class Sizing:
    """Rebuilds a program at other sizes, from its numbers by name and a function of these numbers.

    A shipped algorithm has one number, `bits`. Rule text has its literal `let` lines, the first of which is the size.

    >>> from bitwright import addition
    >>> sizing = addition(4).sizing
    >>> dict(sizing.numbers), sizing.at(bits=7)
    ({'bits': 4}, Algorithm 'addition': 21 bits, 14 blocks, 28 templates)
    """

    numbers: Mapping[str, int]
    make: Callable[..., Any]  # returns an Algorithm or a NodeProgram; importable, so that other processes can load it
    text: str | None = None  # the rule text for all sizes

    def at(self, **numbers: int) -> Any:
        """Builds the program with these numbers in place of its own."""
        return self.make(**{**self.numbers, **numbers})


@dataclass(frozen=True)
class Algorithm(Shown):
    """A program together with its inputs, outputs, start bits and stopping condition.

    Inputs and outputs are words, or arrays of bits of a Builder. Without outputs, every number and flag of the program
    is an output. `start` lists the bits that are initially on: names such as "carry[1]", bits of a Builder, or bit
    numbers. `halt` is a bit, given in the same form, or `FIXED_POINT`: the run ends when that bit is on, when a step
    changes nothing, or after `steps` steps. Without `halt`, the run takes exactly `steps` steps.
    `matches` and `examples` are assumptions for the theory; certificates use `matches` only on request, and report it.
    `ensures` must hold at the end of every run whose inputs satisfy all `conditions`.

    >>> from bitwright.rules import Builder
    >>> b = Builder()
    >>> x = b.bits("x", 2)
    >>> b.block(x[:])
    >>> b.when(x[1] == 1, x[2] == 0).write(x[2])
    >>> algorithm = Algorithm("double", b.build(), inputs=[x], steps=1)
    >>> algorithm
    Algorithm 'double': 2 bits, 1 block, 1 template
    >>> algorithm.state({"x": 1})
    array([ True, False])
    """

    name: str
    program: Program
    inputs: tuple[Word, ...] = ()
    outputs: tuple[Word, ...] = ()
    start: tuple[int, ...] = ()
    steps: int | None = None
    halt: Halt = None
    description: str = ""
    matches: int | None = None  # assumed: no state of a run matches more templates than this
    examples: int | None = None  # assumed size of the padded training set, for the sign rule
    ensures: tuple[EnsureLine, ...] = field(default=(), repr=False, compare=False)  # on final inputs and outputs
    invariants: tuple[EnsureLine, ...] = field(default=(), repr=False, compare=False)  # about every state of a run
    conditions: tuple[EnsureLine, ...] = field(default=(), repr=False, compare=False)  # on the allowed inputs
    sizing: Sizing | None = field(default=None, repr=False, compare=False)  # rebuilds it at another size
    computer: Any = field(default=None, repr=False, compare=False)  # for machine code: the machine that it is loaded on

    def __post_init__(self) -> None:
        self._check_kinds()
        if self.halt is None and self.steps is None:
            object.__setattr__(self, "halt", FIXED_POINT)
        self._check_bits()
        if not self.outputs and self.program.wired is None:  # a graph may have no outputs besides those of its nodes
            fields = (f for f in self.program.layout.fields if len(f.shape) <= 1)
            object.__setattr__(self, "outputs", tuple(Word(f.name, tuple(f.bits().tolist())) for f in fields))
        if self.steps is not None and not 0 <= self.steps < 2**31:
            raise InputError(f"steps must be at least 0 and below 2^31, got {self.steps}")
        for _, problem in count_problems(self.program, self.matches, self.examples):
            raise InputError(problem)
        for word, attribute in STATED:
            object.__setattr__(self, attribute, self._stated(word, attribute))

    def _stated(self, word: str, what: str) -> tuple[EnsureLine, ...]:
        """Parses and checks the lines of one kind; raises InputError for a line that is invalid here."""
        lines = getattr(self, what)
        if not isinstance(lines, tuple | list):
            raise InputError(f"{what} must be a tuple of str such as 'sum == p + q', got {_got(lines)}")
        checked = []
        for line in lines:
            try:
                parsed = line if isinstance(line, EnsureLine) else read(line, word == "invariant")
                checked.append(stated(parsed, self.program, self.inputs, self.outputs, parsed.lets, word))
            except WrongError as error:
                raise InputError(f"{what}, {str(line)!r}, column {error.token.column}: {error.message}") from None
            except InputError as error:
                raise InputError(f"{what}, {line!r}, {error}") from None
        return tuple(checked)

    def _check_kinds(self) -> None:
        """Raises InputError for fields of the wrong type."""
        if not isinstance(self.program, Program):
            got = type(self.program).__name__
            raise InputError(f"the program of an algorithm must be a Program, as from Builder.build(), got {got}")
        for what in ("name", "description"):
            if not isinstance(text := getattr(self, what), str):
                raise InputError(f"the {what} of an algorithm must be a str, got {_got(text)}")
        for what, words in (("inputs", self.inputs), ("outputs", self.outputs)):
            items = words if isinstance(words, tuple | list) else (words,)
            named = [Word(item.field.name, item) if isinstance(item, Bits | Ref) else item for item in items]  # type: ignore[arg-type]
            for word in named:
                if not isinstance(word, Word):
                    raise InputError(f"{what} must be words such as Word('x', x[:]) or bits, got {_got(word)}")
            object.__setattr__(self, what, tuple(named))
        for name in ("steps", "matches", "examples"):
            if (value := getattr(self, name)) is not None:
                if isinstance(value, bool | np.bool_):
                    raise InputError(f"{name} must be an integer, got {value}")
                object.__setattr__(self, name, whole_number(value, name))

    def _check_bits(self) -> None:
        """Replaces bits with their numbers; raises InputError for invalid bits."""
        layout = self.program.layout
        for what, words in (("input", self.inputs), ("output", self.outputs)):
            checked = tuple(_checked(word, layout, what) for word in words)
            object.__setattr__(self, f"{what}s", checked)
        start = bit_numbers(layout, self.start, "start")
        if twice := repeated(layout, start):
            raise InputError(f"start of {self.name} lists {twice} more than once")
        for _, problem in port_problems(layout, self.inputs, self.outputs, start):
            raise InputError(f"{self.name}: {problem}")
        object.__setattr__(self, "start", tuple(sorted(start)))
        if self.halt is not None and not (isinstance(self.halt, str) and self.halt == FIXED_POINT):
            object.__setattr__(self, "halt", one_bit(layout, self.halt, "halt"))

    def __call__(self, inputs: Mapping[str, Any] | None = None, **values: Any) -> Any:
        """Runs the program and returns its output, or a dictionary of several outputs. Arrays give arrays, as in `run`.

        >>> from bitwright import addition
        >>> addition(4)(p=3, q=9)
        12
        >>> addition(4)(p=[1, 2, 3], q=9)
        array([10, 11, 12])
        """
        result = import_module("bitwright.verbs.run").run(self, inputs, **values)
        if not np.all(result.halted):
            raise InputError(f"{self.name} did not halt within its step limit; run(...) returns the unfinished run")
        return result.value if len(self.outputs) == 1 else result.outputs

    def state(self, values: Mapping[str, int]) -> BoolArray:  # (k,)
        """Returns the initial state of a run with these input values.

        >>> from bitwright import addition
        >>> addition(2).state({"p": 3, "q": 1}).astype(int)  # p[1] p[2] q[1] q[2] c[1] c[2]
        array([1, 1, 1, 0, 0, 0])
        """
        check_inputs(self.name, [word.name for word in self.inputs], values)
        state = np.zeros(self.program.bits, dtype=bool)
        state[list(self.start)] = True
        for word in self.inputs:
            state[list(word.bits)] = to_bits(values[word.name], len(word.bits), f"input {word.name}", word.signed)
        return state

    @cached_property
    def claims(self) -> tuple[EnsureLine, ...]:
        """The `ensure` lines, conditional on all `where` lines."""
        return tuple(line.under(self.conditions) for line in self.ensures)

    def allows(self, inputs: Mapping[str, int]) -> bool:
        """Returns whether these input values satisfy all `where` lines.

        >>> from bitwright import parse
        >>> rules = parse("bits x[2]\\nblock x[1..2]\\nwhen x[1]=1 x[2]=0 write x[2]\\ninput x\\nwhere x > 1")
        >>> rules.allows({"x": 2}), rules.allows({"x": 1})
        (True, False)
        """
        return all(line.holds(inputs, {}) for line in self.conditions)

    @property
    def input_bits(self) -> IntArray:
        """The bits of all input words in order, lowest bit first."""
        return np.array([bit for word in self.inputs for bit in word.bits], dtype=np.int64)

    @property
    def output_bits(self) -> IntArray:
        """The bits of all output words in order, lowest bit first."""
        return np.array([bit for word in self.outputs for bit in word.bits], dtype=np.int64)

    def states(self, values: BoolArray) -> BoolArray:  # (batch, input bits) -> (batch, k)
        """Returns the initial states of runs for many values of the input bits at once.

        >>> from bitwright import permutation
        >>> permutation([2, 1]).states(np.array([[True, False], [True, True]])).astype(int)
        array([[1, 0],
               [1, 1]])
        """
        states = np.zeros((len(values), self.program.bits), dtype=bool)
        states[:, list(self.start)] = True
        states[:, self.input_bits] = values
        return states

    def read(self, state: BoolArray) -> dict[str, int]:
        """Returns the output values in a state of k bits, by name.

        >>> from bitwright import addition
        >>> addition(2).read(np.array([0, 1, 0, 0, 0, 1], dtype=bool))
        {'sum': 6}
        """
        return {word.name: from_bits(state[list(word.bits)], word.signed) for word in self.outputs}

    def to_dict(self) -> dict[str, Any]:
        """Returns the algorithm's contents in the form that `bitwright show --json` prints.

        >>> from bitwright import addition
        >>> contents = addition(4).to_dict()
        >>> contents["templates"], contents["inputs"]
        (16, {'p': 4, 'q': 4})
        """
        from bitwright.rules import summary

        program = self.program
        return {
            "name": self.name,
            "description": self.description,
            "bits": program.bits,
            "blocks": program.blocks,
            "templates": program.templates,
            "writers_max": int(program.writers.max()),
            "program_id": program.id,
            "inputs": {word.name: len(word.bits) for word in self.inputs},
            "outputs": {word.name: len(word.bits) for word in self.outputs},
            "steps": self.steps,
            "halt": program.layout.name_of(self.halt) if isinstance(self.halt, int) else self.halt,
            "names": [
                dict(zip(("name", "bits", "writers_min", "writers_max"), row, strict=True))
                for row in summary.names(program)
            ],
            "rules": [{"count": count, "text": text} for text, count in summary.rules(program)],
            "never_written": summary.never_written(program),
        }

    def text_lines(self) -> Iterator[str]:
        """Yields the canonical rule text, including cells; parsing it gives an equal algorithm.

        >>> from bitwright import addition
        >>> next(addition(4).text_lines())
        'bits p[4]'
        """
        yield from self.program.text_lines()
        yield from self.program.cell_lines()
        name_of = self.program.layout.name_of
        for kind, words in (("input", self.inputs), ("output", self.outputs)):
            for word in words:
                bits = " ".join(name_of(bit) for bit in reversed(word.bits))
                yield f"{kind} {'signed ' * word.signed}{word.name} = {bits}"
        if self.start:
            yield f"start {' '.join(name_of(bit) for bit in self.start)}"
        if self.steps is not None:
            yield f"steps {self.steps}"
        if self.halt is not None:
            yield "halt at fixed point" if self.halt == FIXED_POINT else f"halt when {name_of(self.halt)}"
        if self.matches is not None:
            yield f"matches {self.matches}"
        if self.examples is not None:
            yield f"examples {self.examples}"
        for keyword, attribute in STATED:
            yield from (f"{keyword} {line.line()}" for line in getattr(self, attribute))

    def text(self) -> str:
        """Returns the canonical rule text as one string.

        >>> from bitwright import permutation
        >>> print(permutation([2, 1]).text(), end="")
        bits p[2]
        block p[1]
        block p[2]
        when p[1]=1 write p[2]
        when p[2]=1 write p[1]
        cell p[1]
        cell p[2]
        input p = p[2] p[1]
        output p = p[2] p[1]
        steps 1
        ensure p[2 + 1 - i] == in.p[i] for i in 1..2
        """
        return "\n".join(self.text_lines()) + "\n"

    def same_as(self, other: Algorithm) -> bool:
        """Returns whether two algorithms are equal except for their names and descriptions.

        >>> from bitwright import addition, parse
        >>> parse(addition(4).text()).same_as(addition(4))
        True
        """
        left, right = (
            (a.program, a.inputs, a.outputs, set(a.start), a.steps, a.halt, a.matches, a.examples)
            for a in (self, other)
        )
        return left == right

    def __repr__(self) -> str:
        return f"Algorithm '{self.name}': {self.program.sizes}"


def stated(
    line: EnsureLine,
    program: Program,
    inputs: Sequence[Word],
    outputs: Sequence[Word],
    lets: Mapping[str, int],
    word: str,
) -> EnsureLine:
    """Checks a `where`, `ensure` or `invariant` line and adds the numbers of its text; raises WrongError."""
    ensure = word == "ensure"
    entered = {item.name: len(item.bits) for item in inputs}
    fields = {item.name: item.size for item in program.layout.fields if len(item.shape) <= 1}
    if ensure and outputs:
        fields = {item.name: len(item.bits) for item in outputs}
    values = {} if word == "where" else fields
    lets = {name: value for name, value in lets.items() if name not in {*entered, *values}}
    kind = {"where": "an input", "ensure": "an input or output"}.get(word, "an array or bit")
    signed = [{item.name for item in words if item.signed} for words in (inputs, outputs if ensure else ())]
    Scope(entered, values, lets, kind, *signed).check(line)
    if ensure:
        entering = {bit for item in inputs for bit in item.bits}
        for name in sorted(line.names, key=lambda name: name.token.column):
            out = next((item for item in outputs if item.name == name.text and not name.entered), None)
            if out is not None and not entering & set(out.bits) and not np.isin(out.bits, program.write_bits).any():
                raise WrongError(name.token, f"output '{name.text}' is never set: no rule writes its bits")
    return line.with_lets(lets)


def for_inputs(algorithm: Algorithm) -> str:
    """Returns `for all inputs with b < m`, from the `where` lines, or an empty string if there are none."""
    return f"for all inputs with {joined(algorithm.conditions)}" if algorithm.conditions else ""


def _checked(word: Word, layout: Layout, what: str) -> Word:
    """Checks a word and replaces its bits with their numbers."""
    if not isinstance(word.name, str) or not NAME.fullmatch(word.name):
        raise InputError(f"the name of an {what} must consist of letters, digits and _, got {word.name!r}")
    if not isinstance(word.signed, bool):
        raise InputError(f"signed of {what} '{word.name}' must be True or False, got {word.signed!r}")
    bits = bit_numbers(layout, word.bits, f"{what} '{word.name}'")
    if not bits:
        raise InputError(f"{what} '{word.name}' needs at least one bit")
    return replace(word, bits=bits)


def _got(value: object) -> str:
    return f"{type(value).__name__} {shorten(repr(value))}"


def check_inputs(program: str, names: Sequence[str], values: Mapping[str, int]) -> None:
    """Raises InputError unless there is exactly one value for each of these inputs."""
    for name in values:
        if not isinstance(name, str):
            raise InputError(f"the name of an input must be a str, got {type(name).__name__}")
        if name not in names:
            takes = f"takes {listing(names)}" if names else "takes no inputs"
            raise InputError(f"{program} has no input '{shorten(name)}'; it {takes}{suggestion(name, names)}")
    if missing := [name for name in names if name not in values]:
        form = " ".join(f"{name}=NUMBER" for name in missing[:5])
        raise InputError(f"{program} needs a value for {listing(missing)}; give {form}")


def port_problems(
    layout: Layout, inputs: Sequence[Word], outputs: Sequence[Word], start: Iterable[int]
) -> Iterator[tuple[str, str]]:
    """Yields problems with inputs, outputs and start bits, each with the keyword of its line."""
    for kind, words in (("input", inputs), ("output", outputs)):
        times = Counter(word.name for word in words)
        for name in sorted(name for name in times if times[name] > 1):
            yield kind, f"two {kind}s are called '{name}'; use different names"
    entered = [bit for word in inputs for bit in word.bits]
    if shared := repeated(layout, entered):
        yield "input", f"{shared} would be set by two inputs"
    if both := listing([layout.name_of(bit) for bit in sorted(set(entered) & set(start))]):
        yield "start", f"{both} would be set by both 'input' and 'start'"


def count_problems(program: Program, matches: int | None, examples: int | None) -> Iterator[tuple[str, str]]:
    """Yields invalid declarations of matches and examples, each with the keyword of its line."""
    if matches is not None:
        templates = np.bincount(program.template_block, minlength=program.blocks)
        always = int(np.count_nonzero(templates == 1 << np.diff(program.block_start)))
        if matches < max(1, always):
            why = ", the number of blocks with a template for every configuration" if always else ""
            yield "matches", f"matches must be at least {max(1, always):,}{why}; got {matches}"
    if examples is not None and examples > MAX_EXAMPLES:
        yield "examples", f"examples must be at most {MAX_EXAMPLES:,}, got {examples:,}"
    elif examples is not None and examples < program.templates:
        yield "examples", f"examples must be at least {program.templates:,}, one for each template; got {examples:,}"
