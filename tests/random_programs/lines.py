"""Random `ensure` lines: the evaluator, the automaton of the prover and a naive reading agree about random words."""

from collections import Counter
from random import Random

from random_programs.every_size import Run, is_true

from bitwright.common.errors import BitwrightError
from bitwright.proofs.function.affine import NoChainError
from bitwright.proofs.function.chain import SHORTEST, ChainProgram, class_of, read_chain
from bitwright.proofs.function.specification import Specification
from bitwright.rules import Algorithm, Word, parse
from bitwright.rules.text import RuleText

WORDS = 40  # that a line is about
SIZES = range(-1, 9)


class RandomLine:
    """A text whose outputs are words, parts of words, and single bits, signed or not; and a line about it."""

    def __init__(self, seed: int) -> None:
        self.random = random = Random(seed)
        self.top, self.k = random.choice(["l", "l", "l", "l+1", "l+3", "l-1", "2*l"]), random.choice([0, 1, 2, 3])
        n = self.top
        d = random.choice(["y", f"y[2..{n}]", f"y[1..{n}-1]", "g y", "y[1..2]", f"y[{n}]", "g"])
        e = random.choice(["w", "w[1..3]", f"w[{n}]", "h g2", f"w[{n}] w[1]"])
        words = [("input", "x", "x"), ("input", "z", "z"), ("output", "d", d), ("output", "e", e)]
        ports = [f"{kind} {random.choice(['', 'signed '])}{name} = {bits}" for kind, name, bits in words]
        self.line = self._local() if random.random() < 0.1 else self._truth(0)
        if " for " not in self.line and random.random() < 0.15:
            self.line += f" => {self._truth(0)}"
        rules = ["let l = 6", f"let k = {self.k}", f"bits x[{n}] z[{n}] y[{n}] w[{n}] g h g2", "block g h g2"]
        rules += [f"block x[i] z[i] y[i] w[i] for i in 1..{n}", "when g=1 write g h g2"]
        rules += [f"when x[i]=1 z[i]=0 write y[i] w[i] for i in 1..{n}", *ports, "steps 1", f"ensure {self.line}"]
        self.text = "\n".join(rules) + "\n"

    def _number(self, depth: int) -> str:
        random, n, way = self.random, self.top, self.random.random()
        if depth > 2 or way < 0.45:
            return random.choice(["x", "z", "d", "e", "in.x", "d", "e", "x"])
        if way < 0.55:
            powers = [f"2^({n})", f"2^({n}-1)", f"2^({n}+1)", f"2^({n}-2)"]
            return random.choice(["0", "1", "2", "5", "k", "-3", *powers])
        if way < 0.75:
            return f"({self._number(depth + 1)} {random.choice('+-')} {self._number(depth + 1)})"
        if way < 0.85:
            return f"{random.choice(['2', '3', '-1', '-2', 'k'])} * {self._number(depth + 2)}"
        if way < 0.93:
            by = random.choice(["2", "3", "5", f"2^({n})", f"2^({n}-1)", f"2^({n}+1)"])
            return f"({self._number(depth + 1)}) % {by}"
        return f"({self._number(depth + 1)}) // {random.choice('23')}"

    def _bit(self) -> str:
        return f"{self.random.choice(['x', 'z', 'd', 'e', 'in.z'])}[{self.random.choice(['1', '2', self.top])}]"

    def _truth(self, depth: int) -> str:
        random, way = self.random, self.random.random()
        if depth > 1 or way < 0.5:
            return f"({self._number(0)} {random.choice(['==', '!=', '<', '<=', '>', '>='])} {self._number(0)})"
        if way < 0.6:
            return self._bit()
        one, two = self._truth(depth + 1), random.choice([self._truth(depth + 1), self._bit()])
        return random.choice([f"({one} and {two})", f"({one} or {two})", f"(not {one})", f"({one} == {two})",
                              f"({one} != {two})", f"({two} or not {one})"])  # fmt: skip

    def _local(self) -> str:
        random = self.random
        one = f"{random.choice('xde')}[i+{random.choice('012')}]"
        two = f"{random.choice('xze')}[i+{random.choice('01')}]"
        ends = f"{random.choice('12')}..{self.top}-{random.choice('012')}"
        return f"{one} {random.choice(['==', '!='])} {two} for i in {ends}"


def check_line(seed: int, counts: Counter[str]) -> None:
    """Evaluator, automaton and naive reading say the same of random words of five positions and more."""
    made, at_size = RandomLine(seed), dict[int, Algorithm]()
    for size in SIZES:
        try:
            at_size[size] = parse(made.text, lets={"l": size})
        except BitwrightError:
            continue
    if 6 not in at_size:
        return
    try:
        chain = read_chain(RuleText.of(made.text))
        spec = Specification(chain, at_size[6].ensures[0])
    except NoChainError:
        counts["lines that are no automata"] += 1
        return
    counts["lines read as automata"] += 1
    long = [size for size in at_size if chain.length(size) >= SHORTEST]
    for _ in range(WORDS):
        size = made.random.choice(long)
        on, entered = _bits(made.random, at_size[size])
        run = _run(at_size[size], on, entered)
        true = is_true(made.line, run, {"l": size, "k": made.k})
        assert at_size[size].ensures[0].holds(run[0], run[1]) == true, (made.text, size, run)
        assert _read(chain, spec, at_size[size], chain.length(size), on, entered) == true, (made.text, size, run)
        counts[f"words, {true}"] += 1


def _bits(random: Random, algorithm: Algorithm) -> tuple[list[int], dict[int, int]]:
    """Which bits of a last state are on, and which of its inputs were; often some words are the same."""
    density = random.choice([0.5, 0.5, 0.5, 0.1, 0.9])
    on = [int(random.random() < density) for _ in range(algorithm.program.bits)]
    entered = {bit: int(random.random() < density) for bit in algorithm.input_bits.tolist()}
    fields = {item.name: item.bits().tolist() for item in algorithm.program.layout.fields}
    for source, target in (("x", "y"), ("z", "w"), ("x", "w")):
        if random.random() < 0.3:
            for one, other in zip(fields[source], fields[target], strict=True):
                on[other] = entered[one]
    return on, entered


def _run(algorithm: Algorithm, on: list[int], entered: dict[int, int]) -> Run:
    def value(word: Word, bits: dict[int, int]) -> int:
        top = word.signed * bits[word.bits[-1]] << len(word.bits)
        return sum(bits[bit] << place for place, bit in enumerate(word.bits)) - top

    last = dict(enumerate(on))
    inputs = {word.name: value(word, entered) for word in algorithm.inputs}
    return inputs, {word.name: value(word, last) for word in algorithm.outputs}


def _read(
    chain: ChainProgram, spec: Specification, algorithm: Algorithm, length: int, on: list[int], entered: dict[int, int]
) -> bool:
    """What the automaton makes of the word."""
    fields = {item.name: item.bits().tolist() for item in algorithm.program.layout.fields}
    letters, chosen = [0] * length, [0] * length
    for track, (array, growth, sub, shift) in enumerate(chain.places):
        for number, bit in enumerate(fields[array], 1):
            if (number + sub) % growth == 0:
                at = (number + sub) // growth - shift
                letters[at] |= on[bit] << track
                chosen[at] |= entered.get(bit, 0) << track
    state = sum(on[fields[name][0]] << number for number, name in enumerate(chain.globals))
    for node in spec.begin(state):
        for at in range(length):
            node = spec.read(node, class_of(at, length), letters[at], chosen[at]) if node is not None else None
        if node is not None and not spec.holds(node):
            return False
    return True
