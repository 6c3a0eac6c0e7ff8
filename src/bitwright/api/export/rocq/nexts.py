"""What a step makes of each bit, as equations for Rocq: the rules of all families that write it, each with its range."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bitwright.api.export.rocq.fitting import AffineIndex, Item, NotAffineError, Segment


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
        row = AffineIndex(1, -back.size, -back.constant).text()
        guards += [f"({rule.first.text()} <=? {row})", f"({row} <=? {rule.last.text()})"]
    values: Sequence[bool] = rule.form  # type: ignore[assignment]
    texts = [(_tested(bit, back), value) for bit, value in zip(tested, values, strict=True)]
    conditions = " && (".join(text if value else f"negb ({text})" for text, value in texts) + ")" * (len(texts) - 1)
    guard = f" && ({' && '.join(guards)})" if guards else ""
    return f"(({conditions}){guard})"


def _tested(bit: Item, back: AffineIndex) -> str:
    """A bit that a rule tests, with its row counted from the bit that it writes."""
    if bit.index is None:
        return f's (flag "{bit.array}")'
    at = bit.index
    moved = AffineIndex(at.row, at.size - at.row * back.size, at.constant - at.row * back.constant)
    return f's (at_ "{bit.array}" ({moved.text()}))'
