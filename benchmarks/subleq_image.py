"""A SUBLEQ image of someone else on machine V: the same output as the plain interpreter, and how long it takes.

    python -m benchmarks.subleq_image IMAGE.dec --input TEXT [--words 65536 --width 16 --dialect howerj] [--out FILE]

Every byte of output and the number of instructions are compared, for the templates and for the limit under the sign
rule.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.measure import peak_memory
from bitwright.engines.make import make_engine
from bitwright.machines.subleq import Interpreter, Shape, find_dialect, load_image, machine_v
from bitwright.machines.subleq.computer import Computer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("image", type=Path)
    parser.add_argument("--input", default="2 3 + .\n: square dup * ; 7 square .\nbye\n")
    parser.add_argument("--words", type=int, default=65_536)
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--dialect", default="howerj")
    parser.add_argument("--engines", nargs="*", default=["templates", "limit"])
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    image = load_image(arguments.image)
    shape = Shape(arguments.words, arguments.width, find_dialect(arguments.dialect))
    lines: list[dict[str, Any]] = [
        {
            "what": "image",
            "name": arguments.image.name,
            "sha256": hashlib.sha256(arguments.image.read_bytes()).hexdigest(),
            "words": len(image),
            "machine": {"words": shape.words, "width": shape.width, "dialect": shape.dialect.flags},
            "input": arguments.input,
            "python": platform.python_version(),
        }
    ]

    def note(line: dict[str, Any]) -> None:
        lines.append(line)
        print(json.dumps(line), flush=True)
        if arguments.out:
            arguments.out.write_text("\n".join(map(json.dumps, lines)) + "\n")

    print(json.dumps(lines[0]), flush=True)
    supply, output = list(arguments.input.encode()), bytearray()
    begin = time.perf_counter()
    plain = Interpreter(shape, image, lambda: supply.pop(0) if supply else None, output.append)
    halted = plain.run(1 << 40)
    note(
        {
            "what": "plain interpreter",
            "halted": halted,
            "instructions": plain.executed,
            "output": output.decode("latin-1"),
            "seconds": round(time.perf_counter() - begin, 1),
        }
    )
    begin, cpu = time.perf_counter(), time.process_time()
    machine = machine_v(shape)
    program = machine.program
    note(
        {
            "what": "building machine V",
            "blocks": program.blocks,
            "bits": program.bits,
            "templates": program.templates,
            "seconds": round(time.perf_counter() - begin, 1),
            "cpu_seconds": round(time.process_time() - cpu, 1),
            "peak_gigabytes": round(peak_memory(), 2),
        }
    )
    for name in arguments.engines:
        note(run(machine, image, name, arguments.input, bytes(output), plain))


def run(machine: Any, image: list[int], name: str, text: str, wanted: bytes, plain: Interpreter) -> dict[str, Any]:
    engine = make_engine(name, machine.program, rounding="sign")
    supply, output, answered = list(text.encode()), bytearray(), []

    def write(byte: int) -> None:
        output.append(byte)
        if byte == 10:  # a line of the answer: when, and after how many instructions
            answered.append((round(time.process_time() - cpu, 1), computer.tally.instructions))

    begin, cpu = time.perf_counter(), time.process_time()
    computer = Computer(machine, engine, machine.start(image), lambda: supply.pop(0) if supply else None, write)
    shown = time.monotonic()

    def look(tally: Any) -> bool:
        nonlocal shown
        if time.monotonic() - shown > 30:
            shown = time.monotonic()
            print(f"{name}: {tally.instructions:,} of {plain.executed:,} instructions", file=sys.stderr, flush=True)
        return True

    ending = computer.run(look=look)
    spent, tally = time.process_time() - cpu, ending.tally
    return {
        "what": "machine V",
        "engine": name,
        "rounding": engine.rounding,
        "ended": ending.reason,
        "same_output": bytes(output) == wanted,
        "same_memory": ending.memory == plain.memory and ending.pc == plain.pc,
        "instructions": tally.instructions,
        "same_instructions": tally.instructions == plain.executed,
        "steps": tally.steps,
        "n": [tally.least, tally.most],
        "margin": tally.margin,
        "seconds": round(time.perf_counter() - begin, 1),
        "cpu_seconds": round(spent, 1),
        "steps_per_cpu_second": round(tally.steps / spent),
        "instructions_per_cpu_second": round(tally.instructions / spent),
        "lines": answered,
        "peak_gigabytes": round(peak_memory(), 2),
    }


if __name__ == "__main__":
    main()
