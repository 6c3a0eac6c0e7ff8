"""Networks, rules, cells, proofs and what a step makes of each bit, as text for Rocq."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from bitwright.api.export.rocq.fitting import AffineIndex, FittedFamilies, Item, Link, NotAffineError, Piece, Segment
from bitwright.api.export.rocq.listed import Bit, Listed
from bitwright.networks import IntegerNetwork
from bitwright.program.pattern import Pattern

MOST_BY_LISTS = 500_000  # local states times width: some ten seconds
IMPORTS = "From Coq Require Import List Bool ZArith Lia Arith String.\n"


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
    digests = "".join(f"\n    {name} {digest}" for name, digest in network.tensors_sha256.items())
    whole = f"\n    from the file with sha256 {file_sha256}" if file_sha256 else ""
    return (
        f"(** The integer network with sha256 {network.digest}{whole}.\n"
        f"    The sha256 of its tensors, row by row, lowest byte first:{digests}\n"
        f"    It was trained for the pattern {network.origin.program_id}. Written by bitwright.\n"
        "    Rocq reads names three times as fast as numerals, so every weight has one: p43 is 43, m43 is -43. *)\n"
        "From Coq Require Import List ZArith Bool.\nFrom Bitwright Require Import Rules.\nImport ListNotations.\n\n"
        f"Definition kinds : pattern :=\n  [{(';' + chr(10) + '   ').join(kinds)}].\n\n"
        f"Local Open Scope Z_scope.\n{tensors}Close Scope Z_scope.\n"
        "Definition net : network := Network first last thresholds.\n\n"
        + _check(pattern, network.shape.width)
        + "Theorem kinds_proper : forallb proper kinds = true.\nProof. vm_compute. reflexivity. Qed.\n"
    )


def is_large(pattern: Pattern, width: int) -> bool:
    """Whether lists of Z are too slow for the check: it then takes machine integers, and the axioms about them."""
    return pattern.local_states * width > MOST_BY_LISTS


def _check(pattern: Pattern, width: int) -> str:
    said = f"(** The kernel evaluates the network in all {pattern.local_states:,} local states"
    if is_large(pattern, width):
        return (
            f"{said}, with machine integers:\n    this rests on the standard library's axioms about them. *)\n"
            "From Bitwright Require Fast.\nTheorem net_right : right net kinds = true.\n"
            "Proof. apply Fast.right_fast_ok. vm_cast_no_check (eq_refl true). Qed.\n\n"
        )
    return f"{said}. *)\nTheorem net_right : right net kinds = true.\nProof. vm_cast_no_check (eq_refl true). Qed.\n\n"


def program_text(name: str, about: str, program: Listed, compare: int | None) -> str:
    """One size written out: every run by cells is a run of the rules; nothing is proved by hand."""
    rules = [
        f"when_write [{'; '.join(f'({_bit(bit)}, {_bool(value)})' for bit, value in zip(rule.groups[0], rule.form, strict=True))}] "
        f"{listing(map(_bit, rule.groups[1]))}"
        for rule in program.rules
    ]
    cells = [
        f"Cell {cell.form[0]} {listing(listing(map(_bit, block)) for block in cell.groups[: cell.ordered])} "
        f"{listing(listing(map(_bit, wire)) for wire in cell.groups[cell.ordered :])}"
        for cell in program.cells
    ]
    text = (
        f"(** {comment(about)}: its rules and cells as bitwright has them. *)\n{IMPORTS}"
        f"From Bitwright Require Import Rules Words Compare.\nFrom {name} Require Net"
        f"{'' if compare is None else ' Families'}.\nImport ListNotations.\nLocal Open Scope string_scope. Local Open Scope list_scope.\n\n"
        f"Definition program : rules name :=\n  {_lines(rules)}.\n"
        f"Definition cells : list (cell name) :=\n  {_lines(cells)}.\n\n"
        "Theorem program_consists_of : consists_of program Net.kinds cells.\n"
        "Proof. apply consists_ofb_ok. vm_compute. reflexivity. Qed.\n\n"
        "(** In every state and for every number of steps, the network in its cells does what the rules say. *)\n"
        "Theorem network_steps : forall n s b, run_by_cells Net.net Net.kinds cells n s b = run program n s b.\n"
        "Proof. exact (cells_run _ _ _ _ Net.net_right Net.kinds_proper program_consists_of). Qed.\n"
        "Print Assumptions network_steps.\n"
    )
    if compare is not None:
        text += (
            "\n(** The same rules and cells as the families give at this size. *)\n"
            f"Example same_rules : same_rulesb program (Families.rules {compare}) = true.\n"
            "Proof. vm_compute. reflexivity. Qed.\n"
            f"Example same_cells : same_cellsb cells (Families.cells {compare}) = true.\n"
            "Proof. vm_compute. reflexivity. Qed.\n"
        )
    return text


def families_text(name: str, about: str, found: FittedFamilies) -> str:
    """Rules and cells as functions of l, and the proof that the rules consist of the cells at every size."""
    l = found.least
    cells = "".join(
        f"Definition cell_{number} (l{'' if segment.single else ' i'} : nat) : cell name :=\n  {_cell(segment)}.\n"
        for number, segment in enumerate(found.cells, 1)
    )
    listed = [
        f"[cell_{number} l]"
        if segment.single
        else f"rows {segment.first.argument()} {segment.last.argument()} (cell_{number} l)"
        for number, segment in enumerate(found.cells, 1)
    ]
    compared = found.compared_sizes
    return (
        f"(** {comment(about)}: rules and cells as functions of l.\n"
        f"    bitwright compared both with its own at the sizes {compared}. *)\n{IMPORTS}"
        f"From Bitwright Require Import Rules Words Cover.\nFrom {name} Require Net.\nImport ListNotations.\n"
        "Local Open Scope string_scope. Local Open Scope list_scope.\n\n"
        f"{rules_text(found)}\n{cells}Definition cells (l : nat) : list (cell name) :=\n  {' ++ '.join(listed)}.\n\n"
        f"Section Size.\nVariable l : nat.\nHypothesis large : {l} <= l.\n\n"
        "Lemma cells_fit : Forall (fits Net.kinds) (cells l).\n"
        "Proof. apply Forall_forall. unfold cells. intros c I. each_rule; (split; [repeat constructor | reflexivity]). Qed.\n\n"
        "Lemma rules_in_cells : within (rules l) (rules_of Net.kinds (cells l)).\n"
        f"Proof.\n  apply within_intro. unfold rules. intros t I. each_rule.\n{_rules_in_cells(found)}Qed.\n\n"
        "Lemma cells_in_rules : within (rules_of Net.kinds (cells l)) (rules l).\n"
        "Proof.\n  apply within_intro. unfold rules_of, cells. intros t I. apply in_flat_map in I as (c & Ic & It).\n"
        "  each_rule; spell_in It; unfold rules; each_rule.\n"
        f"{_cells_in_rules(found)}Qed.\n\n"
        "(** At every size the rules consist of these cells. *)\n"
        "Theorem consists : consists_of (rules l) Net.kinds (cells l).\n"
        "Proof. split; [exact cells_fit|]. split; [exact rules_in_cells | exact cells_in_rules]. Qed.\n\n"
        "(** So every run by cells of this network is a run of the rules, from every state. *)\n"
        "Theorem network_runs : forall n s b, run_by_cells Net.net Net.kinds (cells l) n s b = run (rules l) n s b.\n"
        "Proof. exact (cells_run _ _ _ _ Net.net_right Net.kinds_proper consists). Qed.\nEnd Size.\n"
        "Print Assumptions network_runs.\n"
    )


def rules_text(found: FittedFamilies) -> str:
    """Rules as a function of l."""
    rules = " ++\n  ".join(_family(segment, _rule(segment)) for segment in found.rules)
    return f"Definition rules (l : nat) : rules name :=\n  {rules}.\n"


def _rules_in_cells(found: FittedFamilies) -> str:
    """For every segment of rules the cells that have it, and which of their templates it is."""

    def tactic(piece: Piece, k: str) -> str:
        row = "" if found.cells[piece.target].single else f" {piece.row.argument(k)}"
        return f"in_nth_cell {piece.target} (cell_{piece.target + 1} l{row}) {piece.template}"

    return "".join(cases(link, tactic) for link in found.to_cell)


def _cells_in_rules(found: FittedFamilies) -> str:
    """For every template of every segment of cells the rule that it is."""
    links = [link for links in found.to_rule for link in links]
    return "".join(cases(link, lambda piece, k: f"nth_rule {piece.target} {piece.row.argument(k)}") for link in links)


def cases(link: Link, tactic: Callable[[Piece, str], str], bullet: str = "  -") -> str:
    """The case distinction: which residue, and up to which row."""
    k = "i" if link.modulus == 1 else "k"
    parts = []
    for residue in range(link.modulus):
        *before, last = [piece for piece in link.pieces if piece.residue == residue]
        case = tactic(last, k)
        for piece in reversed(before):
            case = f"up_to {k} {piece.last.argument()}; [{tactic(piece, k)} | {case}]"
        parts.append(case)
    text = parts[0] if link.modulus == 1 else f"residue i {link.modulus}; [{' | '.join(parts)}]"
    return f"{bullet} {text}.\n"


def _family(segment: Segment, text: str) -> str:
    if segment.single:
        return f"[{text}]"
    return f"rows {segment.first.argument()} {segment.last.argument()} (fun i => {text})"


def _rule(segment: Segment) -> str:
    tested, written = segment.items
    conditions = "; ".join(f"({_item(item)}, {_bool(value)})" for item, value in zip(tested, segment.form, strict=True))
    return f"when_write [{conditions}] {_written(written)}"


def _cell(segment: Segment) -> str:
    own, wires = segment.items[: segment.ordered], segment.items[segment.ordered :]
    return (
        f"Cell {segment.form[0]} {listing(listing(map(_item, block)) for block in own)}\n"
        f"    {listing(map(_written, wires))}"
    )


def _written(items: Sequence[Item]) -> str:
    single = listing(_item(item) for item in items if not item.whole)
    wholes = [f'all "{item.array}" {item.index.argument()}' for item in items if item.whole and item.index]
    if not wholes:
        return single
    return "(" + " ++ ".join([*([single] if single != "[]" else []), *wholes]) + ")"


def _item(item: Item) -> str:
    return f'flag "{item.array}"' if item.index is None else f'at_ "{item.array}" {item.index.argument()}'


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


def next_lemmas(arrays: Iterable[tuple[str, bool]], rules: Sequence[Segment], of: str, name: str) -> str:
    """A lemma for each array, given with whether it is a single bit: `of` are the rules as Rocq has them."""
    text = ""
    for array, single in arrays:
        bit, more = (f'flag "{array}"', "") if single else (f'at_ "{array}" i', " i")
        writers = [matches(rule, item) for rule in rules for item in rule.items[1] if item.array == array]
        text += (
            f"Lemma {name}{array}' l s{more} : step ({of} l) s ({bit}) =\n  {' || ('.join(writers) + ')' * (len(writers) - 1) if writers else 'false'}.\n"
            f"Proof. next_of {of} s. Qed.\n"
        )
    return text


def matches(rule: Segment, item: Item) -> str:
    """That a rule which writes this bit matches; its row is the one that writes bit i."""
    tested, _ = rule.items
    guards, back = [], AffineIndex(0, 0, 0)
    if item.whole:
        if not rule.single or item.index is None:
            raise NotAffineError(f"rules at many places write all of {item.array}")
        guards += ["(1 <=? i)", f"(i <=? {item.index.text()})"]
    elif item.index is not None and rule.single:
        guards.append(f"(i =? {item.index.text()})")
    elif not rule.single:
        if item.index is None or not item.index.row:
            raise NotAffineError(f"rules at many places write one bit of {item.array}")
        if item.index.row != 1:
            raise NotAffineError(f"a rule writes {item.array} in steps of {item.index.row}")
        back = AffineIndex(0, item.index.size, item.index.constant)
        row = AffineIndex(1, 0, 0).plus(back, -1).text()
        guards += [f"({rule.first.text()} <=? {row})", f"({row} <=? {rule.last.text()})"]
    texts = [(_tested(bit, back), value) for bit, value in zip(tested, rule.form, strict=True)]
    conditions = " && (".join(text if value else f"negb ({text})" for text, value in texts) + ")" * (len(texts) - 1)
    guard = f" && ({' && '.join(guards)})" if guards else ""
    return f"(({conditions}){guard})"


def _tested(bit: Item, back: AffineIndex) -> str:
    """A bit that a rule tests, with its row counted from the bit that it writes."""
    if bit.index is None:
        return f's (flag "{bit.array}")'
    return f's (at_ "{bit.array}" ({bit.index.plus(back, -bit.index.row).text()}))'
