"""Proofs about code on SBN machine B: a lemma about each instruction, for every memory, then the paths of the code.

The lemma for an instruction: from every state in which it begins, another instruction begins after a fixed number of
steps, with the interpreter's memory and address; after the last instruction the machine halts with unchanged memory.
Runs of the code then follow the interpreter's rule alone, with symbolic words, branch by branch.
"""

from __future__ import annotations

from collections.abc import Sequence

from bitwright.common.errors import counted
from bitwright.machines.sbn.machine_b import steps_per_instruction
from bitwright.machines.sbn.sbn_machine import Loaded
from bitwright.proofs.unrolling import numbers
from bitwright.proofs.unrolling.graph import FALSE, TRUE, AndGraph, Literal
from bitwright.proofs.unrolling.numbers import Blasted
from bitwright.proofs.unrolling.runs import NODES, RunTooLargeError, Stepper, start_state, value
from bitwright.proofs.unrolling.solver import Lemma, Prover, UndecidedError
from bitwright.rules import Algorithm, Word
from bitwright.rules.ensures import EnsureLine
from bitwright.rules.expressions import Combined, names_in

MOST_INSTRUCTIONS = 2_000  # limit over all paths together
Memory = list[tuple[Literal, ...]]  # words, lowest bit first


class CodeProof:
    """The proof of one code on machine B."""

    def __init__(self, algorithm: Algorithm, prover: Prover) -> None:
        self.algorithm, self.prover = algorithm, prover
        loaded: Loaded = algorithm.computer
        self.machine, self.code = loaded
        self.halt = -1 if self.machine.halt is None else self.machine.halt
        self.memory_bits: list[list[int]] = self.machine.memory_bits.tolist()
        self.memory = {bit for row in self.memory_bits for bit in row}
        self.operands = [bit for rows in self.machine.operands.values() for bit in rows.ravel().tolist()]
        self.paths = 0
        self.failing: list[bool] | None = None  # the input bits of a path with a wrong result

    def prove(self) -> str:
        """Proves every `ensure` line; returns the method. Raises UndecidedError or RunTooLargeError."""
        if self._is_changed():
            raise UndecidedError("the algorithm is not just its code, loaded on machine B")
        instructions = self._lemmas()
        for line in self.algorithm.ensures:
            self._follow(line)
        return f"{counted(instructions, 'lemma')} about instructions, {counted(self.paths, 'path')}"

    def _is_changed(self) -> bool:
        """Whether a run starts or ends differently from the machine with this code."""
        algorithm, machine = self.algorithm, self.machine
        if algorithm.program != machine.program or algorithm.halt != self.halt or algorithm.steps is not None:
            return True
        _, (begins, *_) = self._execution(0, set())
        return {bit for bit, on in enumerate(begins) if on} - self.memory != {*algorithm.start} - self.memory

    # The machine executes an instruction like the interpreter.

    def _lemmas(self) -> int:
        """Proves the lemma of every instruction, and of the address after the last one."""
        loose: set[int] = set()  # bits besides memory with either value when an instruction begins
        while True:
            more: set[int] = set()
            for at in range(len(self.code.instructions)):
                graph, states = self._execution(at, loose)
                more |= self._left_over(graph, states[-1], loose)
                if not more:
                    self._executes(at, graph, states)
            if not more:
                break
            loose |= more
        self._halts(loose)
        return len(self.code.instructions) + 1

    def _execution(self, at: int, loose: set[int]) -> tuple[AndGraph, list[list[Literal]]]:
        """The steps of one instruction, from every state in which it begins."""
        graph, fixed = AndGraph(), set(self.machine.always_on)
        stepper = Stepper(self.machine.program, graph)
        for entry, instruction in enumerate(self.code.instructions):
            for operand in "abc":
                row = self.machine.operands[operand][entry].tolist()
                fixed |= {bit for place, bit in enumerate(row) if getattr(instruction, operand) >> place & 1}
        fixed |= {bit for place, bit in enumerate(self.machine.address_bits) if at >> place & 1}
        loose = loose | self.memory
        state = [graph.input() if bit in loose else int(bit in fixed) for bit in range(self.machine.program.bits)]
        states = [state]
        for _ in range(steps_per_instruction(self.machine.sizes)):
            states.append(stepper.step(states[-1]))
            if len(graph) > NODES:
                raise RunTooLargeError(f"the graph of one instruction has more than {NODES:,} nodes")
        return graph, states

    def _left_over(self, graph: AndGraph, state: Sequence[Literal], loose: set[int]) -> set[int]:
        """The bits besides memory, code and address that may be on when the next instruction begins."""
        machine = self.machine
        known = {*loose, *machine.always_on, *machine.address_bits, self.halt, *self.memory, *self.operands}
        on = {bit: literal for bit, literal in enumerate(state) if literal != FALSE and bit not in known}

        def is_off(literal: Literal) -> bool:
            if literal == TRUE or graph.is_input(literal):
                return False
            return self.prover.prove("off", graph, [literal ^ 1]).verdict == "proved"

        return {bit for bit, literal in on.items() if not is_off(literal)}

    def _executes(self, at: int, graph: AndGraph, states: Sequence[Sequence[Literal]]) -> None:
        """Proves that the steps of an instruction agree with the interpreter, and do not halt."""
        first, last, instruction = states[0], states[-1], self.code.instructions[at]
        memory = [tuple(first[bit] for bit in row) for row in self.memory_bits]
        result = self._result(graph, memory, at)
        memory[instruction.b] = result
        length = len(self.machine.address_bits)
        following = (at + 1) % (1 << length)
        goals = [
            graph.differ(last[row[j]], word[j]) ^ 1
            for j in range(self.code.width)
            for row, word in zip(self.memory_bits, memory, strict=True)
        ]
        for place, bit in enumerate(self.machine.address_bits):
            wanted = graph.choose(result[-1], instruction.c >> place & 1, following >> place & 1)
            goals.append(graph.differ(last[bit], wanted) ^ 1)
        goals += [graph.differ(last[bit], first[bit]) ^ 1 for bit in self.operands]
        goals += [last[bit] for bit in self.machine.always_on]
        goals += [state[self.halt] ^ 1 for state in states]
        _decided(self.prover.prove(f"instruction-{at}", graph, goals), f"instruction {at}")

    def _halts(self, loose: set[int]) -> None:
        """Proves that the halt bit rises after the last instruction, and that memory is then unchanged."""
        graph, states = self._execution(len(self.code.instructions), loose)
        first = next((state for state in states if state[self.halt] != FALSE), states[0])
        goals = [first[self.halt]]
        goals += [graph.differ(first[bit], states[0][bit]) ^ 1 for row in self.memory_bits for bit in row]
        _decided(self.prover.prove("halt", graph, goals), "the end")

    # The code, by the interpreter's rule.

    def _result(self, graph: AndGraph, memory: Memory, at: int) -> tuple[Literal, ...]:
        """M[b] - M[a], two's complement, within a word."""
        a, b = memory[self.code.instructions[at].a], memory[self.code.instructions[at].b]
        found = numbers.subtract(graph, b, a)
        return (found + found[-1:] * self.code.width)[: self.code.width]

    def _follow(self, line: EnsureLine) -> None:
        """Follows every path of the code and proves the claims at its end, of `A => B` from inputs with A only."""
        graph = AndGraph()
        state = start_state(self.algorithm, graph)
        inputs = {word.name: value(state, word) for word in self.algorithm.inputs}
        start: Memory = [tuple(state[bit] for bit in row) for row in self.memory_bits]
        premise = _premise(line, self.algorithm.outputs)
        allowed = [] if premise is None else Blasted(graph, premise, inputs, inputs).goals()
        ahead: list[tuple[int, Memory, list[Literal]]] = [(0, start, allowed)]
        executed = 0
        while ahead:
            at, memory, given = ahead.pop()
            if at == len(self.code.instructions):
                self._ends(line, graph, state, memory, given, inputs)
                continue
            executed += 1
            if at > len(self.code.instructions) or executed > MOST_INSTRUCTIONS:
                raise UndecidedError(f"a path of {self.code.name} exceeds {MOST_INSTRUCTIONS:,} instructions")
            instruction = self.code.instructions[at]
            result = self._result(graph, memory, at)
            after = [result if place == instruction.b else word for place, word in enumerate(memory)]
            following = (at + 1) % (1 << len(self.machine.address_bits))
            if instruction.c == following:
                ahead.append((following, after, given))
                continue
            for negative, target in ((1, instruction.c), (0, following)):
                taken = result[-1] if negative else result[-1] ^ 1
                if taken != FALSE and self.prover.prove("no-path", graph, [taken ^ 1], given).verdict != "proved":
                    ahead.append((target, after, given if taken == TRUE else [*given, taken]))

    def _ends(
        self,
        line: EnsureLine,
        graph: AndGraph,
        state: Sequence[Literal],
        memory: Memory,
        given: list[Literal],
        inputs: dict[str, numbers.Number],
    ) -> None:
        """Proves a line at the end of one path."""
        final = list(state)
        for row, word in zip(self.memory_bits, memory, strict=True):
            for bit, literal in zip(row, word, strict=True):
                final[bit] = literal
        outputs = {word.name: value(final, word) for word in self.algorithm.outputs}
        goals = Blasted(graph, line, inputs, outputs).goals()
        self.paths += 1
        lemma = self.prover.prove(f"path-{self.paths}", graph, goals, given)
        if lemma.verdict == "refuted":
            self.failing = [bool(lemma.failing[node]) for node in graph.inputs]
        _decided(lemma, f"path {self.paths}")


def _premise(line: EnsureLine, outputs: Sequence[Word]) -> EnsureLine | None:
    """The A of `A => B`, if it depends on inputs alone."""
    truth = line.truth
    if line.ranges or not isinstance(truth, Combined) or truth.sign != "=>":
        return None
    taken = {word.name for word in outputs}
    if any(not name.entered and name.text in taken for name in names_in(truth.left)):
        return None
    return EnsureLine(truth.left, lets=line.lets)


def _decided(lemma: Lemma, what: str) -> None:
    if lemma.verdict != "proved":
        raise UndecidedError(f"{what} was not proved: {lemma.verdict}")
