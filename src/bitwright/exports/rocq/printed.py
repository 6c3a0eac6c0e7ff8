"""Networks, rules, cells, proofs and what a step makes of each bit, as text for Rocq."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from bitwright.exports.rocq.families import Bit, Families, Item, Link, Listed, Piece, Segment
from bitwright.exports.rocq.forms import ROW, NotAffineError, argument, natural
from bitwright.exports.rocq.templates import Templates
from bitwright.networks import IntegerNetwork
from bitwright.proofs.kinds.affine import Affine
from bitwright.rules.pattern import Pattern

MOST_BY_LISTS = 500_000  # local states times width: some ten seconds
IMPORTS = "From Coq Require Import List Bool ZArith Lia Arith String.\n"


_FORM = Templates("network")


def network_text(network: IntegerNetwork, pattern: Pattern, file_sha256: str | None) -> str:
    """The tensors, the pattern, and the check of all local states by the kernel."""
    kinds = []
    for kind in pattern.kinds:
        blocks = ";\n         ".join(
            f"({bits}, [{';'.join(_values(config, bits) for config in configs)}])" for bits, configs in kind.blocks
        )
        kinds.append(f"Kind [{blocks}]\n        [{';'.join(listing(map(str, port), ';') for port in kind.ports)}]")
    weights = sorted({int(weight) for tensor in (network.first, network.last) for weight in np.unique(tensor)})
    tensors = "".join(f"Definition {_weight(weight)} := {weight}.\n" for weight in weights) + "".join(
        f"Definition {name} : list (list Z) :=\n  {_rows(getattr(network, name).tolist(), write)}.\n\n"
        for name, write in (("first", _weight), ("last", _weight), ("thresholds", str))
    )
    return _FORM(
        "net",
        digest=network.digest,
        file=f"\n    from the file with sha256 {file_sha256}" if file_sha256 else "",
        tensor_digests="".join(f"\n    {name} {digest}" for name, digest in network.tensors_sha256.items()),
        pattern=network.origin.program_id,
        kinds=_lines(kinds),
        tensors=tensors,
        states=f"{pattern.local_states:,}",
        right=_FORM.line("right_large" if is_large(pattern, network.shape.width) else "right"),
    )


def is_large(pattern: Pattern, width: int) -> bool:
    """Whether lists of Z are too slow for the check: it then takes machine integers, and the axioms about them."""
    return pattern.local_states * width > MOST_BY_LISTS


def program_text(name: str, about: str, program: Listed, compare: int | None) -> str:
    """One size written out: every run by cells is a run of the rules; nothing is proved by hand."""
    rules = []
    for rule in program.rules:
        tests = (f"({_bit(bit)}, {_bool(value)})" for bit, value in zip(rule.ordered[0], rule.form, strict=True))
        rules.append(f"when_write {listing(tests)} {listing(map(_bit, rule.others[0]))}")
    cells = []
    for cell in program.cells:
        lists = [listing(listing(map(_bit, bits)) for bits in own) for own in (cell.ordered, cell.others)]
        cells.append(f"Cell {cell.form[0]} {lists[0]} {lists[1]}")
    families = "" if compare is None else " Families"
    pieces = {"about": comment(about), "name": name, "rules": _lines(rules), "cells": _lines(cells)}
    text = _FORM("program", families=families, **pieces)
    return text if compare is None else text + _FORM("compared", size=compare)


def families_text(name: str, about: str, found: Families) -> str:
    """Rules and cells as functions of l, and the proof that the rules consist of the cells at every size."""
    each, cells = "", []
    for number, segment in enumerate(found.cells, 1):
        lists = [listing(map(_item, items)) for items in segment.ordered]
        wires = listing(map(_written, segment.others))
        given = "l" if segment.single else "l i"
        each += _FORM("cell", number=number, given=given, kind=segment.form[0], blocks=listing(lists), wires=wires)
        cells.append(_family(segment, f"cell_{number} l", f"(cell_{number} l)"))

    def in_cell(piece: Piece, k: str) -> str:
        row = "" if found.cells[piece.target].single else f" {argument(piece.row)}"
        return f"in_nth_cell {piece.target} (cell_{piece.target + 1} l{row}) {piece.template}"

    return _FORM(
        "families",
        about=comment(about),
        compared=found.compared_sizes,
        name=name,
        rules=rules_text(found),
        each_cell=each,
        cells=" ++ ".join(cells),
        least=found.least,
        rules_in_cells="".join(cases(link, in_cell) for link in found.to_cell),
        cells_in_rules="".join(cases(link, nth_rule) for links in found.to_rule for link in links),
    )


def rules_text(found: Families) -> str:
    """Rules as a function of l."""
    rules = []
    for segment in found.rules:
        tests = (f"({_item(item)}, {_bool(value)})" for item, value in zip(segment.ordered[0], segment.form, strict=True))
        rule = f"when_write {listing(tests)} {_written(segment.others[0])}"
        rules.append(_family(segment, rule, f"(fun i => {rule})"))
    separator = " ++\n  "
    return f"Definition rules (l : nat) : rules name :=\n  {separator.join(rules)}.\n"


def nth_rule(piece: Piece, k: str) -> str:
    """That a rule is in this row of this segment of the program's rules."""
    return f"nth_rule {piece.target} {argument(piece.row)}"


def cases(link: Link, tactic: Callable[[Piece, str], str], bullet: str = "  -") -> str:
    """The case distinction: which residue, and up to which row."""
    k = "i" if len(link) == 1 else "k"
    parts = []
    for *before, last in link:
        case = tactic(last, k)
        for piece in reversed(before):
            case = f"up_to {k} {argument(piece.last)}; [{tactic(piece, k)} | {case}]"
        parts.append(case)
    text = parts[0] if len(link) == 1 else f"residue i {len(link)}; [{' | '.join(parts)}]"
    return f"{bullet} {text}.\n"


def _family(segment: Segment, row: str, function: str) -> str:
    if segment.single:
        return f"[{row}]"
    return f"rows {argument(segment.first)} {argument(segment.last)} {function}"


def _written(items: Sequence[Item]) -> str:
    single = listing(_item(item) for item in items if not item.whole)
    wholes = [f'all "{item.array}" {argument(item.index)}' for item in items if item.whole and item.index]
    if not wholes:
        return single
    return "(" + " ++ ".join([*([single] if single != "[]" else []), *wholes]) + ")"


def _item(item: Item) -> str:
    return f'flag "{item.array}"' if item.index is None else f'at_ "{item.array}" {argument(item.index)}'


def _bit(bit: Bit) -> str:
    return f'("{bit[0]}", [{"; ".join(map(str, bit[1]))}])'


def _bool(value: object) -> str:
    return "true" if value else "false"


def _values(config: int, bits: int) -> str:
    return listing((_bool(bool(config >> place & 1)) for place in range(bits)), ";")


def comment(text: str) -> str:
    """A name in a comment, which it can neither end nor go on after."""
    return " ".join(text.replace("*", "+").replace('"', "'").split())


def listing(parts: Iterable[str], between: str = "; ") -> str:
    """A list, as Rocq writes it."""
    return "[" + between.join(parts) + "]"


def _lines(parts: Sequence[str]) -> str:
    return "[" + ";\n   ".join(parts) + "]"


def _rows(rows: Sequence[Sequence[int]], write: Callable[[int], str]) -> str:
    return _lines([listing(map(write, row), ";") for row in rows])


def _weight(weight: int) -> str:
    return f"{'m' if weight < 0 else 'p'}{abs(weight)}"


def bit_text(array: str, single: bool) -> str:
    """A bit without an index, or bit i of an array."""
    return f'flag "{array}"' if single else f'at_ "{array}" i'


def next_lemmas(arrays: Iterable[tuple[str, bool]], rules: Sequence[Segment], of: str, name: str) -> str:
    """A lemma for each array, given with whether it is a single bit: `of` are the rules as Rocq has them."""
    text = ""
    for array, single in arrays:
        writers = [matches(rule, item) for rule in rules for item in rule.others[0] if item.array == array]
        value = " || (".join(writers) + ")" * (len(writers) - 1) if writers else "false"
        pieces = {"name": name, "array": array, "more": "" if single else " i", "bit": bit_text(array, single)}
        text += _FORM("next", of=of, value=value, **pieces)
    return text


def matches(rule: Segment, item: Item) -> str:
    """That a rule which writes this bit matches; its row is the one that writes bit i."""
    (tested,) = rule.ordered
    guards, back = [], Affine()
    if item.whole:
        if not rule.single or item.index is None:
            raise NotAffineError(f"rules at many places write all of {item.array}")
        guards += ["(1 <=? i)", f"(i <=? {natural(item.index)})"]
    elif item.index is not None and rule.single:
        guards.append(f"(i =? {natural(item.index)})")
    elif not rule.single:
        if item.index is None or not item.index["i"]:
            raise NotAffineError(f"rules at many places write one bit of {item.array}")
        if item.index["i"] != 1:
            raise NotAffineError(f"a rule writes {item.array} in steps of {item.index['i']}")
        back = item.index - ROW
        row = natural(ROW - back)
        guards += [f"({natural(rule.first)} <=? {row})", f"({row} <=? {natural(rule.last)})"]
    texts = [(_tested(bit, back), value) for bit, value in zip(tested, rule.form, strict=True)]
    conditions = " && (".join(text if value else f"negb ({text})" for text, value in texts) + ")" * (len(texts) - 1)
    guard = f" && ({' && '.join(guards)})" if guards else ""
    return f"(({conditions}){guard})"


def _tested(bit: Item, back: Affine) -> str:
    """A bit that a rule tests, with its row counted from the bit that it writes."""
    if bit.index is None:
        return f's (flag "{bit.array}")'
    return f's (at_ "{bit.array}" ({natural(bit.index - back * bit.index["i"])}))'
