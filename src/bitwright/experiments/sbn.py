"""Steps per SBN instruction against memory: the paper's delay chains (machine A) and trees (machine B)."""

from __future__ import annotations

from typing import Any

from bitwright.experiments.style import COLOURS
from bitwright.machines import Instruction, Sizes, steps_of_instruction, steps_per_instruction

COLUMNS = ("words", "instructions", "width", "machine_a_most", "machine_a_least", "machine_b")


def rows() -> list[tuple[int, ...]]:
    """One row a memory size; as many instructions as words, words of 16 bits.

    Machine A's time depends on where the instruction and its operands stand, so it has a range.
    """
    found: list[tuple[int, ...]] = []
    for words in (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096):
        sizes = Sizes(words, words, 16)
        slowest = steps_of_instruction(sizes, 0, Instruction(0, 0, 0))
        fastest = steps_of_instruction(sizes, words - 1, Instruction(words - 1, words - 1, 0))
        found.append((words, words, 16, slowest, fastest, steps_per_instruction(sizes)))
    return found


def draw(pyplot: Any) -> Any:
    table = rows()
    words = [row[0] for row in table]
    figure, axes = pyplot.subplots()
    slow, fast, trees = ([row[column] for row in table] for column in (3, 4, 5))
    axes.fill_between(words, fast, slow, color=COLOURS[1], alpha=0.2, linewidth=0)
    axes.plot(words, slow, "s-", color=COLOURS[1], label="machine A, delay chains (first to last instruction)")
    axes.plot(words, fast, "-", color=COLOURS[1], linewidth=0.8)
    axes.plot(words, trees, "o-", color=COLOURS[0], label="machine B, trees (every instruction)")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("words of memory, and instructions")
    axes.set_ylabel("steps per instruction")
    axes.set_title("An SBN instruction on words of 16 bits", loc="left", fontsize=11)
    axes.legend(loc="upper left")
    return figure
