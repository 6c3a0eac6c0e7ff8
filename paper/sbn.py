"""Figure 6: the SBN machines as block diagrams, and how many steps an instruction takes on them."""

from __future__ import annotations

from functools import partial
from typing import Any

from bitwright.engines.make import make_engine
from bitwright.machines import (
    Code,
    Instruction,
    Machine,
    Sizes,
    machine_a,
    machine_b,
)
from bitwright.machines.sbn.parts import ceil_log2
from paper.blocks import SBN_UNITS, block_drawing, block_kinds, links
from paper.drawing import Drawing, tip
from paper.figures import Figure, Setting, Tables
from paper.style import COLOURS, label
from paper.table import Row, Table

WORD = 16  # bits
SHOWN = Sizes(4, 4, 4)  # the machines of the diagrams; larger ones have more blocks of the same kinds
STEPS = (
    *("words", "instructions", "width", "machine_a_most", "machine_a_least", "machine_b"),
    *("measured_a_most", "measured_a_least", "measured_b_most", "measured_b_least"),
)
BLOCKS = ("machine", "from", "from_blocks", "to", "to_blocks", "templates")
MACHINES = {"A": machine_a, "B": machine_b}
DATA, FLAG, FIRST = "\N{BLACK SQUARE}", "\N{BLACK UP-POINTING TRIANGLE}", "\N{BLACK STAR}"  # the paper's shapes
_FLAGS = frozenset(  # words in the names of bits that hold no data
    (
        *(
            "to",
            "is",
            "counter",
            "sync",
            "clear",
            "match",
            "ok",
            "copy",
            "signal",
            "done",
            "overwrite",
            "store",
            "load",
        ),
        *("go", "wait", "ready", "begin", "then", "if", "HALT"),
    )
)


def steps_of_instruction(sizes: Sizes, address: int, instruction: Instruction) -> int:
    """Returns the number of steps of an instruction at an address; addresses start at 0."""
    s = sizes
    slower = max(2 * s.width - instruction.a, -instruction.b)
    return s.instructions + s.words + s.instruction_bits + s.word_bits + 2 * s.width + 9 - address + slower


def steps_per_instruction(sizes: Sizes) -> int:
    """Returns the steps of any instruction: n_I + n_M + 8, plus ceil(log2 n) for each n of l_I, l_M and n_C."""
    logs = sum(ceil_log2(n) for n in (sizes.instructions, sizes.words, sizes.width))
    return sizes.instruction_bits + sizes.word_bits + logs + 8


def tables(setting: Setting) -> Tables:
    """Steps by formula for every memory, and by running the machines for memories up to 64 words (full: 256)."""
    sizes = [Sizes(words, words, WORD) for words in (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)]
    rows: list[Row] = []
    for size in sizes:
        words = size.words
        slowest = steps_of_instruction(size, 0, Instruction(0, 0, 0))
        fastest = steps_of_instruction(size, words - 1, Instruction(words - 1, words - 1, 0))
        runs = [None] * 4
        if words <= (256 if setting.full else 64):
            runs = [*_measured(machine_a(size)), *_measured(machine_b(size))]  # type: ignore[list-item]
        rows.append((words, words, WORD, slowest, fastest, steps_per_instruction(size), *runs))
        setting.progress(len(rows), len(sizes))
    return {"sbn": Table.of(STEPS, rows), "sbn-blocks": Table.of(BLOCKS, _blocks())}


def _measured(machine: Machine) -> tuple[int, int]:
    """Steps between instructions, by running the templates: of the first instruction, and of the last on last words.

    The first instruction makes M[1] negative and jumps to the last one.
    """
    last = machine.sizes.words - 1
    nothing = Instruction(0, 0, 0)
    jump, end = Instruction(0, 1, last), Instruction(last, last, 0)
    found = []
    for code, wanted in (((nothing,) * (last + 1), 1), ((jump, *(nothing,) * (last - 1), end), 2)):
        start = machine.algorithm(Code(code, (1, *(0,) * last), machine.sizes.width)).state({})
        batch, times, step = make_engine("templates", machine.program).begin(start[None]), [0], 0
        while len(times) <= wanted:
            step += batch.leap(1, (machine.boundary,))
            if batch.bit(machine.boundary)[0]:
                times.append(step)
        found.append(times[-1] - times[-2])
    return found[0], found[1]


def _blocks() -> list[Row]:
    """Which kind of block writes to which, and by how many templates."""
    rows: list[Row] = []
    for name, make in MACHINES.items():
        program = make(SHOWN).program
        kinds, of = block_kinds(program)
        for (a, b), count in sorted(links(program, of).items()):
            one, two = kinds[a], kinds[b]
            rows.append((name, " ".join(one.names), one.count, " ".join(two.names), two.count, count))
    return rows


def draw_steps(pyplot: Any, given: Tables) -> Any:
    table = given["sbn"]
    words = table.numbers("words")
    figure, axes = pyplot.subplots(figsize=(7.2, 4.2))
    slow, fast, trees = (table.numbers(name) for name in ("machine_a_most", "machine_a_least", "machine_b"))
    axes.fill_between(words, fast, slow, color=COLOURS[1], alpha=0.18, linewidth=0)
    axes.plot(words, slow, "-", color=COLOURS[1], label="machine A, first instruction on first words")
    axes.plot(words, fast, "--", color=COLOURS[1], label="machine A, last instruction on last words")
    axes.plot(words, trees, "-", color=COLOURS[0], label="machine B, every instruction")
    for name, colour, marker in (("a_most", 1, "s"), ("a_least", 1, "s"), ("b_most", 0, "o"), ("b_least", 0, "o")):
        axes.plot(words, table.numbers(f"measured_{name}"), marker, mfc="white", color=COLOURS[colour], markersize=5)
    axes.plot([], [], "s", mfc="white", color="#555555", markersize=5, label="run and counted")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(words[::2], [f"{count:,.0f}" for count in words[::2]])
    title = "Delay chains (A) take linear time, trees (B) logarithmic"
    label(axes, title, f"words of memory ({WORD} bits each), and instructions", "steps per instruction")
    axes.legend(loc="upper left")
    return figure


def draw_machine(name: str, pyplot: Any, given: Tables) -> Any:  # noqa: ARG001
    """The diagram of a machine, drawn from its program."""
    title = f"SBN machine {name} with {SHOWN}"
    machine = MACHINES[name](SHOWN)
    first = machine.program.layout.name_of(machine.boundary).partition("[")[0]
    note = f"{DATA} holds data, {FLAG} is a flag, {FIRST} is on when an instruction begins."
    shape = partial(shape_of, first)
    drawing = block_drawing(machine.program, title, SBN_UNITS, shape, note)
    figure = pyplot.figure(figsize=(drawing.width / 110, drawing.height / 110))
    figure.set_layout_engine("none")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, drawing.width), ylim=(drawing.height, 0))
    axes.axis("off")
    _paint(axes, drawing)
    return figure


def shape_of(first: str, name: str) -> str:
    """A square for data, a triangle for a flag, a star for the bits that begin an instruction."""
    if name == first:
        return FIRST
    return FLAG if _FLAGS & set(name.split("_")) else DATA


def _paint(axes: Any, drawing: Drawing) -> None:
    from matplotlib.patches import FancyBboxPatch, PathPatch, Polygon
    from matplotlib.path import Path as Curve

    for order, arrow in enumerate(drawing.arrows):
        end, left, right = tip(arrow.route)
        route = [*arrow.route[:-1], ((left[0] + right[0]) / 2, (left[1] + right[1]) / 2)]
        curve = Curve(route, [Curve.MOVETO, *[Curve.CURVE4] * (len(route) - 1)])
        style = (0, (5, 2.2)) if arrow.back else "-"
        for colour, width, line in (("white", 2.8, "-"), (arrow.colour, 0.9, style)):
            axes.add_patch(
                PathPatch(curve, fill=False, edgecolor=colour, linewidth=width, linestyle=line, zorder=order)
            )
        axes.add_patch(Polygon([end, left, right], color=arrow.colour, linewidth=0, zorder=order))
    for box in drawing.boxes:
        look: dict[str, Any] = {
            "facecolor": box.colour if box.filled else "white",
            "edgecolor": box.colour,
            "linewidth": 1,
        }
        place, shape = ((box.x, box.y), box.width, box.height), "round,pad=0,rounding_size=4"
        axes.add_patch(FancyBboxPatch(*place, boxstyle=shape, zorder=len(drawing.arrows), **look))
    for text in drawing.texts:
        weight, size = "bold" if text.bold else "normal", 0.62 * text.size
        options = {"fontsize": size, "weight": weight, "color": text.colour, "zorder": len(drawing.arrows) + 1}
        axes.text(text.x, text.y, text.text, **options)


def caption(given: Tables) -> str:
    steps, blocks = given["sbn"], given["sbn-blocks"]
    counted = steps.numbers("measured_b_most")
    largest = int(max(words for words, run in zip(steps.numbers("words"), counted, strict=True) if run == run))
    last = dict(zip(steps.columns, steps.rows[-1], strict=True))
    return (
        f"**Figure 6, SBN.** Block diagrams of machines A and B with {SHOWN}, drawn from the programs "
        f"({len(blocks.where(machine='A'))} and {len(blocks.where(machine='B'))} links between kinds of blocks). "
        "Squares are data, triangles are flags, and a star marks the block that begins an instruction. The last "
        f"picture shows the steps per instruction against the memory, for words of {WORD} bits and as many "
        "instructions as words. Lines are formulas, and hollow marks are counts in runs of the templates, up to "
        f"{largest} words. With {last['words']:,} "
        f"words, machine A takes {last['machine_a_least']:,} to {last['machine_a_most']:,} steps, machine B "
        f"{last['machine_b']}."
    )


_MACHINES: dict[str, Any] = {f"sbn-machine-{name.lower()}": partial(draw_machine, name) for name in MACHINES}
_TITLE = "Figure 6: the SBN machines, and steps per instruction"
FIGURE = Figure(_TITLE, tables, {"sbn": draw_steps, **_MACHINES}, caption)
