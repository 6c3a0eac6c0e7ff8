"""What all units of machine V use: rules that may write nothing, strobes, and trees of ANDs and ORs."""

from __future__ import annotations

from bitwright.machines.sbn.parts import Wires
from bitwright.machines.subleq.timing import Terms, check_levels
from bitwright.program import Builder, Condition, Ref, span


def rule(b: Builder, *conditions: Condition, to: Wires) -> None:
    """A rule, unless it writes nothing: then it would not be a template."""
    if to:
        b.when(*conditions).write(*to)


def and_tree(b: Builder, name: str, inputs: int, levels: int, to: Wires, family: str = "") -> list[Ref]:
    """Blocks of two (an odd one alone) in exactly `levels` levels; sets `to` when all inputs are on together."""
    widths = [inputs]
    for _ in range(levels):
        widths.append(-(-widths[-1] // 2))
    layers = [b.bits(f"{name}_{level}", width, family=family or name) for level, width in enumerate(widths[:-1])]
    for level, layer in enumerate(layers):
        above = layers[level + 1] if level + 1 < levels else None
        pairs, odd = divmod(widths[level], 2)
        if pairs:
            i = span(1, pairs)
            b.block(layer[2 * i - 1], layer[2 * i])
            b.when(layer[2 * i - 1] == 1, layer[2 * i] == 1).write(*([above[i]] if above else to))
        if odd:
            b.block(layer[widths[level]])
            b.when(layer[widths[level]] == 1).write(*([above[pairs + 1]] if above else to))
    return [layers[0][i] for i in range(1, inputs + 1)]


class Check:
    """An OR of ANDs over the bits of a number: it sets `to` a fixed number of steps after the bits were set."""

    def __init__(self, b: Builder, name: str, terms: Terms, to: Wires) -> None:
        ands, ors = check_levels(terms)
        widths = [len(terms)]
        for _ in range(ors):
            widths.append(-(-widths[-1] // 2))
        nodes = [
            b.bits(f"{name}_or_{level}", width, family=f"{name}_or") for level, width in enumerate(widths[1:], start=1)
        ]
        for level, layer in enumerate(nodes):
            i = span(1, widths[level + 1])
            b.block(layer[i])
            b.when(layer[i] == 1).write(*([nodes[level + 1][(i + 1) // 2]] if level + 1 < ors else to))
        self._leaves: dict[int, Wires] = {}
        for number, term in enumerate(terms, start=1):
            out = [nodes[0][(number + 1) // 2]] if nodes else to
            inputs = and_tree(b, f"{name}_and_{number}", len(term), ands, out, f"{name}_and") if ands else out
            for bit, leaf in zip(term, inputs, strict=True):
                self._leaves.setdefault(bit, []).append(leaf)

    def leaves(self, bit: int) -> Wires:
        """What to set when this bit of the number is on."""
        return self._leaves.get(bit, [])
