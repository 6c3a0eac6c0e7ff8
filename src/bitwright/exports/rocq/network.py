"""Rocq text for a network, and for a program at one size and at every size."""

from __future__ import annotations

import numpy as np

from bitwright.exports.rocq.families import Bit, Listed, Piece, ProgramSegments, Row
from bitwright.exports.rocq.forms import argument
from bitwright.exports.rocq.templates import each, render, weight
from bitwright.networks import IntegerNetwork
from bitwright.rules.pattern import Pattern

MOST_BY_LISTS = 500_000  # local states times width: some ten seconds


def network_text(network: IntegerNetwork, pattern: Pattern, file_sha256: str | None) -> str:
    """Returns the tensors, the pattern, and the kernel's check of all local states."""
    kinds, between = [], ";\n         "
    for kind in pattern.kinds:
        tables = [
            (bits, each((each(_values(config, bits), between=";") for config in table), between=";"))
            for bits, table in kind.blocks
        ]
        ports = each((each(port, between=";") for port in kind.ports), between=";")
        kinds.append("\n        ".join([f"Kind {each(tables, '({0}, {1})', between)}", ports]))
    tensors = {name: getattr(network, name) for name in ("first", "last", "thresholds")}
    return render(
        "net",
        network=network,
        file_sha256=file_sha256,
        kinds=kinds,
        weights=sorted({int(one) for name in ("first", "last") for one in np.unique(tensors[name])}),
        tensors=[
            (name, [each(row if name == "thresholds" else map(weight, row), between=";") for row in tensor.tolist()])
            for name, tensor in tensors.items()
        ],
        states=f"{pattern.local_states:,}",
        large=is_large(pattern, network.shape.width),
    )


def is_large(pattern: Pattern, width: int) -> bool:
    """Whether lists of Z are too slow, so that the check uses machine integers and the axioms about them."""
    return pattern.local_states * width > MOST_BY_LISTS


def program_text(name: str, about: str, program: Listed, size: int | None) -> str:
    """Returns the theorem at one size that every run by cells is a run of the rules.

    Args:
        size: of the families to compare with, if there are any.
    """
    rules = [
        f"when_write {each(zip(map(_bit, rule.lists[0]), map(bool, rule.form), strict=True), '({0}, {1})')} "
        f"{each(map(_bit, rule.lists[1]))}"
        for rule in program.rules
    ]
    cells = [
        " ".join(["Cell", str(cell.form[0]), *(each(each(map(_bit, bits)) for bits in own) for own in _parted(cell))])
        for cell in program.cells
    ]
    return render("program", name=name, about=about, rules=rules, cells=cells, size=size)


def families_text(name: str, about: str, families: ProgramSegments) -> str:
    """Returns rules and cells as functions of l, and the proof that the rules consist of the cells at every size."""

    def in_cell(piece: Piece) -> str:
        row = "" if families.cells[piece.target].single else f" {argument(piece.row)}"
        return f"in_nth_cell {piece.target} (cell_{piece.target + 1} l{row}) {piece.template}"

    return render("families", name=name, about=about, families=families, in_cell=in_cell)


def _parted(cell: Row) -> tuple[tuple[tuple[Bit, ...], ...], ...]:
    return cell.lists[: cell.ordered], cell.lists[cell.ordered :]


def _bit(bit: Bit) -> str:
    return f'("{bit[0]}", {each(bit[1])})'


def _values(config: int, bits: int) -> list[bool]:
    return [bool(config >> place & 1) for place in range(bits)]
