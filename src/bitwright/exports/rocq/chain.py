"""Writes the file for a chain: its certificate, the equality of its rules and the program's, and the theorem.

Rocq checks the chain, its certificate and its laws by computation, the equality of the rules with tactics, and the
implication from the checker's result to the statement by arithmetic (`lines`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bitwright.exports.rocq.families import Link, Place, Row, link
from bitwright.exports.rocq.forms import FITTED, NotAffineError, natural, value_at
from bitwright.exports.rocq.lines import CertifiedChain, ChainLines, ScaledSum
from bitwright.exports.rocq.program import SizedProgram
from bitwright.exports.rocq.templates import each, render
from bitwright.proofs.function.chain import SHORTEST, class_of
from bitwright.rules.algorithm import FIXED_POINT

FUEL = 4000


def function_text(program: SizedProgram, certificate: Mapping[str, Any]) -> str:
    """Returns the text of the file, with marks for names; raises NotAffineError if the program cannot be exported."""
    if program.algorithm.halt == FIXED_POINT:
        raise NotAffineError("runs must end after a number of steps or at a bit, not at a fixed point")
    if any(power is None for *_, power in certificate["laws"]):
        raise NotAffineError("the proof uses a law modulo a power of two, which cannot be exported yet")
    chained = CertifiedChain.of(certificate)
    if program.algorithm.halt is None and any(
        one.steps != value_at(chained.steps, l) for l, one in program.sized.items()
    ):
        raise NotAffineError("the number of steps is not an affine function of the size")
    claim, words, families = ChainLines(chained, program), program.words, program.families
    long = max(families.least, next(l for l in range(1, 99) if value_at(chained.positions, l) >= SHORTEST))
    sizes = range(families.least, long)
    if any(value_at(chained.steps, size) < 1 for size in sizes):
        raise NotAffineError(f"a run must take at least one step, even at size {sizes[0]}")
    missing = [k for k, (_, _, offset) in enumerate(chained.tracks) if offset == 0]
    chain_links, rule_links = _links(chained, program)
    halt = claim.halt and claim.halt.bit("").strip()[1:-1]
    statements = [f"s ({halt}) = true"] * bool(halt) + [line.truth.statement for line in claim.lines]
    firsts = {word: chained.place((part.array, (1,))) or (0, 0) for word, part in words.inputs.items()}
    return render(
        "chain",
        **program.pieces,
        long=long,
        sizes=sizes,
        fuel=FUEL,
        chained=chained,
        lines=claim.lines,
        halt=halt,
        conclusion=" /\\\n  ".join(f"({statement})" for statement in statements),
        halting=claim.halting,
        missing=missing,
        formulas=[*claim.formulas, *(f"Not (First {k})" for k in missing)],
        parts=["HH"] * bool(claim.halt) + [f"H{at}" for at in range(len(claim.lines))] + [f"A{k}" for k in missing],
        laws=[_law(law, claim) for law in claim.laws],
        chain_links=chain_links,
        rule_links=rule_links,
        entries=" | ".join(
            f"{track} => Words.bit_of {words.variables[word]} {'i' if first else '(i + 1)'}"
            for word, (track, first) in firsts.items()
        ),
        bit_outputs=[word for word, parts in words.outputs.items() if all(part.length is None for part in parts)],
        **_certified(chained.certificate, chained.flags),
    )


def _certified(certificate: Mapping[str, Any], flags: Sequence[str]) -> dict[str, object]:
    """Returns the lists of a certificate as template values."""
    delay, count = certificate["clock"]["delay"], len(flags)

    def state_text(state: int) -> str:
        return f"({state & ((1 << count) - 1)}, {state >> count})"

    def weights(factors: Sequence[int]) -> str:
        return each([(k, factor) for k, factor in enumerate(factors) if factor], "({0}, ({1})%Z)")

    letters = ["", *(f"({c}, ({t + delay}, ({i}, {b})))" for c, t, i, b in certificate["letters"])]
    return {
        "certificate": certificate,
        "sweeps": [(way == "up", rate) for way, rate in certificate["clock"]["sweeps"]],
        "states": [state_text(state) for state, _ in certificate["windows"]],
        "windows": [
            (state_text(state), f"Some {letters[number]}" if number else "None", each(letters[a] for a in after))
            for state, own in certificate["windows"]
            for number, after in own
        ],
        "certified": [
            (constant, power, weights(tracks), weights(inputs))
            for tracks, inputs, constant, power in certificate["laws"]
        ],
        "verdicts": [
            (state_text(state), each(signs, "({0})%Z")) for state, own in certificate["verdicts"] for signs in own
        ],
        "flags": [
            f'at_ "{head}" {rest}' if rest else f'flag "{head}"'
            for head, _, rest in (flag.removesuffix("]").partition("[") for flag in flags)
        ],
    }


def _links(chained: CertifiedChain, program: SizedProgram) -> tuple[list[Link], list[Link]]:
    """Returns links from the chain's rules to the program's rules at every length, and in the opposite direction."""
    chain, families = chained.certificate["chain"], program.families
    numbers = {  # (part of the chain's rules, mask, value): the index of the rule in this part
        (int(c) - 1, rule[0], rule[1]): at
        for c, own in chain["classes"].items()
        for at, rule in enumerate(own["rules"])
    } | {(5, mask, value): at for at, (mask, value, _) in enumerate(chain["global_rules"])}
    to_chain: list[dict[int, list[Place]]] = [{} for _ in families.rules]
    to_rule: dict[tuple[int, int], dict[int, list[Place]]] = {}
    for l in FITTED:
        n = value_at(chained.positions, l)
        for rule, (segment, i) in zip(program.listed(l).rules, families.places[l], strict=True):
            part, mask, value, position = _place(chained, rule, n)
            number = numbers[part, mask, value]
            to_chain[segment].setdefault(l, []).append((i, part, number, position))
            to_rule.setdefault((part, number), {}).setdefault(l, []).append((position, segment, 0, i))
    return [link(to_rule[key]) for key in sorted(to_rule)], list(map(link, to_chain))


def _place(chained: CertifiedChain, rule: Row, n: int) -> tuple[int, int, int, int]:
    """Returns the part of the chain's rules (classes 1 to 5, globals), mask, value, and position."""
    places = [chained.place(bit) for bit in rule.lists[0]]
    numbers = [
        place[0] if place is not None else chained.flags.index(bit[0] + "".join(f"[{at}]" for at in bit[1]))
        for place, bit in zip(places, rule.lists[0], strict=True)
    ]
    if numbers != sorted(numbers):
        raise NotAffineError("the bits of a block are in a different order than in the chain")
    mask, value = sum(1 << k for k in numbers), sum(on << k for k, on in zip(numbers, rule.form, strict=True))
    if places[0] is None:
        return 5, mask, value, 0
    c = class_of(places[0][1], n)
    return c - 1, mask, value, places[0][1] if c == 3 else 0


def _law(law: ScaledSum, claim: ChainLines) -> dict[str, object]:
    """Returns a law for the checker, its value in terms of words, and the facts about words that its proof needs."""
    chained, words = claim.chain, claim.words
    facts, ends, n = "", "", f"({natural(chained.positions)})"
    for word in law.words:
        for part in words.parts(word):
            if part.length is None:
                _, end, track = claim.end(part)
                facts += f"  end_bit s {track}%N ({part.bit('')}).\n"
                if end == "last":
                    ends += f"top_bit ({natural(part.exponent)})%nat {n}%nat. destruct ({part.bit('s')}); cbn [Z.b2z]; "
                continue
            track, first = chained.place((part.array, (1,))) or (0, 0)
            if part.length + first != chained.positions:
                raise NotAffineError(f"{word[1]} must have a bit at every position of the chain of {part.array}")
            entered = f"entered_word chain {track}%N {words.variables[word[1]]}" if word[0] else ""
            fact = entered or f'track_word s {track}%N "{part.array}"'
            facts += f"  {fact} ({natural(part.length)})%nat {first}%nat.\n"
    summed = "".join(f" + ({factor}) * {words.value(word)}" for word, factor in law.words.items())
    return {
        "text": claim.law_text(law),
        "value": f"{law.scale} * ({law.constant}{summed})",
        "facts": facts,
        "ends": ends,
        "outputs": [word for word in words.outputs if (False, word) in law.words],
    }
