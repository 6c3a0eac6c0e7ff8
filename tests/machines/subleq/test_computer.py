"""Machine V with a host: examples against the interpreter, limits, checkpoints, a trained network as the computer."""

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cases import for_each
from long import LONG
from subleq_interpreter import Interpreter
from subleq_lockstep import compare, machine_of, random_image, reader
from whole import engine_of

from bitwright.common.bits import BoolArray
from bitwright.engines.make import make_engine
from bitwright.engines.protocol import Batch
from bitwright.engines.table import batch
from bitwright.machines.subleq import (
    DIALECTS,
    MachineV,
    Shape,
    assemble_sq,
    find_dialect,
    load_sq,
    machine_v,
)
from bitwright.machines.subleq.computer import (
    Computer,
    MachineEnding,
    MachineTally,
    load_checkpoint,
    save_checkpoint,
)
from bitwright.networks import Recipe, quantize, train

EXAMPLES = Path(__file__).parents[3] / "examples" / "subleq"
PRINTS = {
    "hello": "Hello, world!\n",
    "echo": "one line\nand another",
    "count": "one line\nand another20 1\n",
    "sort": "".join(sorted("bubblesorted")) + "\n",
    "sieve": " ".join(str(n) for n in range(2, 50) if all(n % d for d in range(2, n))) + " \n",
    "matrix": "4 18 8 \n13 39 20 \n22 24 23 \n",
    "interpreter": "guest's word",
}


def finish(machine: MachineV, image: list[int], engine: str, text: bytes, rounding: str) -> tuple[MachineEnding, bytes]:
    said = bytearray()
    chosen = make_engine(engine, machine.program, rounding=rounding)
    computer = Computer(machine, chosen, machine.start(image), reader(text), said.append)
    return computer.run(), bytes(said)


@for_each("name", PRINTS)
def test_examples_print_what_the_interpreter_prints(name: str) -> None:
    program, text = load_sq(EXAMPLES / f"{name}.sq"), b"one line\nand another"
    v, said = machine_of(program), bytearray()
    truth = Interpreter(v.shape, program.image, reader(text), said.append)
    assert truth.run(100_000)
    assert bytes(said).decode() == PRINTS[name]
    for engine, rounding in (("templates", "calibrated"), ("limit", "calibrated"), ("limit", "sign")):
        if v.program.templates > 5_000 and rounding == "sign":  # a step takes milliseconds
            continue
        ending, printed = finish(v, program.image, engine, text, rounding)
        assert (ending.reason, printed) == ("halt", bytes(said))
        assert (ending.tally.instructions, ending.pc) == (truth.executed, truth.pc)
        assert ending.memory == truth.memory
        if engine == "limit":
            assert ending.tally.margin is not None
            assert ending.tally.margin == 0.5 if rounding == "calibrated" else 0 < ending.tally.margin < 0.1


def test_every_example_is_tested() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.sq")} == set(PRINTS)


def test_n_is_the_range_of_all_steps() -> None:
    v = machine_v(Shape(16, 6, DIALECTS["plain"]))
    image = [9, 10, 3, 11, 11, 0, 0, 0, 0, 1, 20, 0, 0, 0, 0, 0]
    computer = Computer(v, make_engine("templates", v.program), v.start(image))
    ending = computer.run(instructions=6)
    assert (ending.reason, ending.tally.instructions) == ("limit", 6)
    batch = make_engine("templates", v.program).begin(v.start(image)[np.newaxis])
    n = []
    for _ in range(ending.tally.steps):
        n.append(len(v.program.match(batch.states()[0])))
        batch.step()
    assert (ending.tally.least, ending.tally.most) == (min(n), max(n))
    assert (computer.state() == batch.states()[0]).all()


LOOP = "loop: in x\nout x\nadd #1, x\njle x, end\njmp loop\nend: halt\nx: .data 0"


def test_a_run_in_pieces_is_the_whole_run(tmp_path: Path) -> None:
    v = machine_v(Shape(64, 8, DIALECTS["howerj"]))
    image, text = assemble_sq(LOOP).image, b"in pieces"
    whole, said = finish(v, image, "limit", text, "sign")
    supply, printed, state, tally = reader(text), bytearray(), v.start(image), MachineTally()
    for piece in range(1, 40):
        engine = make_engine("limit", v.program, rounding="sign")
        computer = Computer(v, engine, state, supply, printed.append, tally)
        ending = computer.run(instructions=piece)
        save_checkpoint(tmp_path / "run.npz", v, computer.state(), computer.tally, "")
        state, tally, _ = load_checkpoint(tmp_path / "run.npz", v)
        assert (state == computer.state()).all()
        assert tally == computer.tally
        if ending.reason == "halt":
            break
    assert ending.reason == "halt"
    assert bytes(printed) == said
    assert (ending.memory, ending.pc) == (whole.memory, whole.pc)
    assert (tally.instructions, tally.inputs, tally.outputs) == (
        whole.tally.instructions,
        whole.tally.inputs,
        whole.tally.outputs,
    )


def test_a_reader_that_is_interrupted_leaves_a_run_that_can_go_on() -> None:
    v = machine_v(Shape(64, 8, DIALECTS["howerj"]))
    said = bytearray()

    def stop() -> int | None:
        raise KeyboardInterrupt

    first = Computer(v, make_engine("templates", v.program), v.start(assemble_sq(LOOP).image), stop, said.append)
    with pytest.raises(KeyboardInterrupt):
        first.run()
    assert first.interrupted().reason == "stopped"
    second = Computer(
        v, make_engine("templates", v.program), first.state(), reader(b"ok"), said.append, first.interrupted().tally
    )
    assert second.run().reason == "halt"
    assert bytes(said) == b"ok\xff"


def test_time_limits_and_looks() -> None:
    v = machine_v(Shape(8, 5, DIALECTS["plain"]))
    forever = [7, 7, 0]
    ending = Computer(v, make_engine("templates", v.program), v.start(forever)).run(seconds=0.0)
    assert ending.reason == "time"
    ending = Computer(v, make_engine("templates", v.program), v.start(forever)).run(look=lambda _: False)
    assert ending.reason == "stopped"


@for_each(("words", "width", "dialect"), [(16, 6, "plain"), (32, 8, "howerj"), (20, 8, "kth"), (4, 5, "howerj")])
@for_each("worth", [1, 10_000])
def test_wherever_it_is_stopped_the_state_is_that_of_whole_instructions(
    words: int, width: int, dialect: str, worth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At a limit, by `look` and inside a request: address and memory are those of the interpreter."""
    monkeypatch.setattr(batch, "_WORTH", worth)  # steps of a leap that use the cache of instructions
    v, rng = machine_v(Shape(words, width, find_dialect(dialect))), random.Random(3)
    engine, reasons = make_engine("templates", v.program), set()
    for _ in range(12):
        image, text = random_image(rng, v.shape), rng.randbytes(20)
        for limit, looks in ((0, 99), (1, 99), (7, 99), (99, 0), (99, 5), (99, 11)):
            left, said = [looks], bytearray()

            def look(_: MachineTally, left: list[int] = left) -> bool:
                left[0] -= 1
                return left[0] >= 0

            computer = Computer(v, engine, v.start(image), reader(text), said.append)
            ending = computer.run(limit, look=look)
            expected = bytearray()
            truth = Interpreter(v.shape, image, reader(text), expected.append)
            while truth.executed < ending.tally.instructions:
                assert truth.step()
            assert (ending.pc, computer.memory()) == (truth.pc, truth.memory)
            assert said[: len(expected)] == expected
            reasons.add(ending.reason)
    assert "limit" in reasons
    assert "stopped" in reasons or v.ports is None  # there one leap leads to the limit, without a look


POINTER = "get: subleq 0, total\ninc get\njmp get\ntotal: .data 0"  # sums all of memory, its own code included


@for_each("image", [assemble_sq(POINTER).image, assemble_sq("loop: in x\nout x\njmp loop\nx: .data 0").image])
def test_a_cache_of_instructions_changes_nothing(image: list[int]) -> None:
    """A program that changes its own code, and one with ports: the state, the tally and the output are the same."""
    v, results = machine_v(Shape(64, 8, DIALECTS["howerj"])), []
    for cached in (True, False):
        printed = bytearray()
        engine = make_engine("templates", v.program)
        computer = Computer(v, engine, v.start(image), reader(bytes(range(200)) * 3), printed.append)
        computer._batch.memo = computer._batch.memo if cached else None  # type: ignore[attr-defined]
        tally = computer.run(instructions=5_000).tally
        results.append((computer.state().tolist(), replace(tally, seconds=0.0), computer.memory(), bytes(printed)))
    assert results[0] == results[1]
    truth = Interpreter(v.shape, image, reader(bytes(range(200)) * 3))
    truth.run(5_000)
    assert (truth.memory, truth.executed) == (results[0][2], results[0][1].instructions)


class _Watched:
    """A batch that remembers the smallest margin."""

    def __init__(self, batch: Batch, margins: list[float]) -> None:
        self._batch, self._margins = batch, margins

    def step(self) -> None:
        self._batch.step()
        found = self._batch.margin()
        assert found is not None
        self._margins.append(float(found.min()))

    def states(self) -> BoolArray:
        return self._batch.states()


# Words, their bits, a network's width, and a program that halts.
TRAINED = [
    (4, 4, 4_096, [1, 15, 0, 7]),  # the last word counts up from -8; up to 0 the jump goes back
    (8, 5, 8_192, [6, 7, 6, 5, 5, 0, 1, 3]),  # the last word counts down; at 0 the jump goes to 6: nothing fits there
]


@for_each(("words", "bits", "width", "image"), TRAINED if LONG else TRAINED[:1])
def test_a_trained_network_is_the_computer(words: int, bits: int, width: int, image: list[int]) -> None:
    """One network, every step its own: memory and address as the interpreter has them."""
    v = machine_v(Shape(words, bits, DIALECTS["plain"]))
    network, _ = quantize(train(v.program, Recipe(width, tolerance=1e-2))[0], v.program)
    engine, margins = engine_of(v.program, network), []
    rng = random.Random(1)
    images = [random_image(rng, v.shape) for _ in range(24)]
    found = compare(v, images, most=5, begin=lambda states: _Watched(engine.begin(states), margins))  # type: ignore[arg-type, return-value]
    assert found.mismatches == []
    assert found.instructions > 30
    assert min(margins) > 0.02
    truth = Interpreter(v.shape, image)
    assert truth.run(50)
    ending = Computer(v, engine, v.start(image), truth=make_engine("templates", v.program)).run()
    assert (ending.reason, ending.memory, ending.tally.wrong) == ("halt", truth.memory, 0)
    assert ending.tally.instructions == truth.executed > 4
