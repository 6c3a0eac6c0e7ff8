"""Many images on one machine: each ends as it does alone, and as the interpreter says."""

import random
from typing import Any

import pytest
from subleq_lockstep import random_image

from bitwright import InputError, train
from bitwright.engines.make import make_engine
from bitwright.engines.rules import RuleEngine
from bitwright.machines.subleq import DIALECTS, Interpreter, MachineV, Shape, find_dialect, machine_v
from bitwright.machines.subleq.computer import Computer
from bitwright.machines.subleq.images import ImageRun, run_images

SHAPES = [
    Shape(16, 6, DIALECTS["plain"]),
    Shape(32, 8, DIALECTS["howerj"]),
    Shape(20, 8, DIALECTS["kth"]),
    Shape(8, 3, find_dialect("range,io")),
]


def alone(machine: MachineV, image: list[int], text: bytes, limit: int) -> ImageRun:
    supply, said = list(text), bytearray()
    engine = make_engine("templates", machine.program)
    computer = Computer(machine, engine, machine.start(image), lambda: supply.pop(0) if supply else None, said.append)
    ending = computer.run(instructions=limit)
    tally, memory = ending.tally, computer.memory()
    assert ending.memory in ([], memory)
    return ImageRun(ending.reason, ending.pc, memory, bytes(said), tally.instructions, tally.steps)


def interpreted(shape: Shape, image: list[int], text: bytes, limit: int) -> tuple[object, ...]:
    supply, said = list(text), bytearray()
    truth = Interpreter(shape, image, lambda: supply.pop(0) if supply else None, said.append)
    for _ in range(limit):
        if not truth.step():
            break
    return truth.pc, truth.memory, bytes(said), truth.executed


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_together_as_alone_and_as_the_interpreter(shape: Shape) -> None:
    rng, machine = random.Random(5), machine_v(shape)
    programs = [random_image(rng, shape) for _ in range(70)]
    texts = [rng.randbytes(rng.randrange(9)) for _ in programs]
    reasons = set()
    for limit in (0, 1, 2, 30):
        together = run_images(machine, programs, texts, max_instructions=limit)
        for image, text, found in zip(programs, texts, together, strict=True):
            assert found == alone(machine, image, text, limit)
            assert (found.pc, found.memory, found.output, found.instructions) == interpreted(shape, image, text, limit)
            reasons.add(found.reason)
            assert found.halted == (found.reason in ("halt", "fault"))
    assert reasons == {"limit", "halt", *(["fault"] if shape.dialect.strict else [])}


class ThreeAtATime(RuleEngine):
    chunk = 3


def test_other_engines_and_pieces_give_the_same() -> None:
    rng, machine = random.Random(6), machine_v(SHAPES[0])
    programs = [random_image(rng, machine.shape) for _ in range(10)]
    wanted = run_images(machine, programs, max_instructions=9)
    engines: list[Any] = [make_engine("limit", machine.program), RuleEngine(machine.program, compiled=False)]
    engines += [train(machine.program).engine(machine.program, evaluate=True), None]
    for engine in (*engines, ThreeAtATime(machine.program)):
        assert run_images(machine, programs, engine=engine, max_instructions=9) == wanted
    assert [run_images(machine, [image], max_instructions=9)[0] for image in programs] == wanted


def test_what_does_not_fit() -> None:
    machine, other = machine_v(SHAPES[0]), machine_v(SHAPES[2])
    assert run_images(machine, []) == []
    with pytest.raises(InputError, match=r"2.*images.*1"):
        run_images(machine, [[1], [2]], [b""])
    with pytest.raises(InputError, match=r"max_instructions.*0.*-1"):
        run_images(machine, [[1]], max_instructions=-1)
    with pytest.raises(InputError, match=r"another.*program"):
        run_images(machine, [[1]], engine=make_engine("templates", other.program))
    wrong: list[tuple[Any, Any, dict[str, Any], str]] = [
        (machine, [1, 2], {}, "images must be several lists of integers"),
        (machine, 3, {}, "images must be several lists of integers"),
        (machine, ["abc"], {}, "word 0 of the image must be an integer, got 'a'"),
        (machine, [[1, 1.5]], {}, "word 1 of the image must be an integer, got 1.5"),
        (machine, [[1]], {"inputs": b"a"}, "inputs must be several bytes"),
        (machine, [[1]], {"inputs": ["a"]}, "inputs must be bytes, one value for each image, got a str"),
        (machine, [[1]], {"max_instructions": "x"}, "max_instructions must be an integer, got 'x'"),
        (machine, [[1]], {"max_instructions": 2.5}, "max_instructions must be an integer, got 2.5"),
        (machine, [[1]], {"start": 10**30}, "the first address must fit in"),
    ]
    for on, images, more, message in wrong:
        with pytest.raises(InputError, match=message):
            run_images(on, images, **more)
    with pytest.raises(InputError, match=r"machine.*16"):
        run_images(machine, [[1] * 17])
