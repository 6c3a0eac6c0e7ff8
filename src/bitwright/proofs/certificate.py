"""Certificates for the limit: for every possible n, its mean rounds to the correct bits (Theorem 5.1).

The proof uses interval arithmetic and covers all states at once. A bit with c writers must round to 1 if m >= 1 of them
match, and to 0 if m = 0. With `sign` rounding this means c w0 + m (w1 - w0) > 0 >= w0 for every possible (n, c, m);
with `calibrated` rounding it means w1 - w0 > 0.

A network of cells is trained on a pattern, where K counts the templates of the pattern and n the matches of a cell. A
cell matches only templates of its kind, and only these write its ports. For the limit, the pattern is therefore
equivalent to that kind alone, with the templates of the other kinds as padding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import flint
import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.common.errors import BitwrightError
from bitwright.rules import Program
from bitwright.rules.layout import IntArray
from bitwright.rules.pattern import Pattern
from bitwright.theory.decisions import Range, blocks_range, cells_range, check_examples, deciding_kinds
from bitwright.theory.intervals import Ball, enclose, precision
from bitwright.theory.proof import Proof, Situation, check_range, prove_calibrated, prove_sign, smallest_examples_within
from bitwright.theory.rounding import Rounding, check_rounding
from bitwright.version import __version__

FORMAT = "bitwright certificate 2"
Progress = Callable[[int, int], None]
Verdict = Literal["certified", "refuted", "not proved"]
_VERDICTS = ("refuted", "not proved", "certified")  # worst first


@dataclass(frozen=True)
class LimitVerdict:
    """The verdict for a program, a rounding, a size of the training set and a range of n.

    If the verdict is `refuted`, `witness` is a state with a wrong result. If it is `not proved`, such states exist
    within a bound on n that is declared or was seen in runs, but it is unknown whether any run reaches one of them.
    """

    certified: bool
    verdict: Verdict
    assumption: str | None  # the unproved assumption, such as n <= 71
    covers: str  # the states that the verdict covers
    rounding: Rounding
    examples: int  # K with padding
    padding: int
    blocks: int
    bits: int
    writers_max: int
    writers_bit: str  # the first bit with that many writers
    n_min: int
    n_max: int
    n_source: str
    n_scope: str
    margin: float  # lower bound on the distance of the worst set bit's mean above its threshold, in output units
    margin_enclosure: str  # the same number with its radius
    margin_unset: float | None  # the same for unset bits below the threshold; None if no such bit has variance (n >= 2)
    worst_bit: str
    worst_n: int
    worst_writers: int
    worst_matches: int
    fails_from: int | None  # the smallest n at which a state is rounded wrong
    fails_bit: str | None
    fails_writers: int | None
    fails_matches: int | None
    witness: tuple[str, ...] | None  # such a state: the bits that are on
    masked_bits: int  # bits that nothing writes; under `sign` they are fixed to 0
    examples_needed: int  # the smallest K that would certify this range of n
    proposal: str | None
    program_id: str
    sizes: str | None = None  # for cells: the sizes of a program with exactly these kinds
    version: str = __version__
    arithmetic: str = f"python-flint {flint.__version__}, 128-bit balls"
    format: str = FORMAT

    def __bool__(self) -> bool:
        return self.certified

    @property
    def sentence(self) -> str:
        """The verdict and its assumptions, in a few words."""
        if self.assumption:
            return f"{self.verdict}{' even' * (not self.certified)} assuming {self.assumption}"
        return f"{self.verdict} for {self.covers}" if self.n_source == "reachable" else self.verdict


def certify(
    program: Program,
    rounding: Rounding,
    within: Range | None = None,
    examples: int | None = None,
    progress: Progress | None = None,
    ports: bool = False,
) -> LimitVerdict:
    """Proves or refutes that the limit, trained on `examples` examples, rounds correctly in every state of the range.

    With `ports`, only written bits are checked, as for a single cell.
    """
    within = within or blocks_range(program)
    rounding = check_rounding(rounding)
    K = check_examples(program, examples)
    feasible = check_range(program, within)
    proof = prove_sign(feasible, K, progress) if rounding == "sign" else prove_calibrated(feasible, K, progress, ports)
    name_of, worst, failing = program.layout.name_of, proof.worst, proof.failing
    verdict = _verdict(proof, within)
    state = None
    if failing is not None and verdict == "refuted":
        state = witness(program, failing.bit, failing.n, failing.matching)
        _replay(program, state, failing)
    needed = smallest_examples_within(feasible) if rounding == "sign" else program.templates
    return LimitVerdict(
        certified=verdict == "certified",
        verdict=verdict,
        assumption=within.assumption,
        covers=within.covers,
        rounding=rounding,
        examples=K,
        padding=K - program.templates,
        blocks=program.blocks,
        bits=program.bits,
        writers_max=int(program.writers.max()),
        writers_bit=name_of(int(program.writers.argmax())),
        n_min=feasible.first,
        n_max=feasible.last,
        n_source=within.source,
        n_scope=within.scope,
        margin=proof.margin,
        margin_enclosure=proof.margin_enclosure,
        margin_unset=proof.margin_unset,
        worst_bit=name_of(worst.bit),
        worst_n=worst.n,
        worst_writers=worst.writers,
        worst_matches=worst.matching,
        fails_from=None if failing is None else failing.n,
        fails_bit=None if failing is None else name_of(failing.bit),
        fails_writers=None if failing is None else failing.writers,
        fails_matches=None if failing is None else failing.matching,
        witness=None if state is None else tuple(name_of(int(bit)) for bit in np.flatnonzero(state)),
        masked_bits=int(np.count_nonzero(program.writers == 0)) if rounding == "sign" and not ports else 0,
        examples_needed=needed,
        proposal=None if failing is None else _proposal(program, feasible.last, K, needed),
        program_id=program.id,
    )


def _verdict(proof: Proof, within: Range) -> Verdict:
    if proof.failing is None:
        return "certified"
    return "refuted" if proof.certainly_fails and within.source == "blocks" else "not proved"


def _replay(program: Program, state: BoolArray, failing: Situation) -> None:
    """Raises BitwrightError unless these numbers of templates match the state and write the bit."""
    matched = program.match(state).tolist()
    if (len(matched), sum(failing.bit in program.writes(t) for t in matched)) != (failing.n, failing.matching):
        raise BitwrightError("bitwright could not confirm its counterexample; please report this bug")


def _proposal(program: Program, n_max: int, examples: int, needed: int) -> str:
    """Suggests remedies: more padding, calibrated rounding, or few enough writers for one match at the largest n."""
    writers = int(program.writers.max())
    with precision():
        rho = enclose(n_max, examples).rho
        allowed = int(float(((examples + 2 * Ball.pi() - 1) / rho).lower().floor().lower()))
    return (  # stored in certificates
        f"pad to {needed:,} examples (--padding {needed - program.templates}); or use calibrated rounding, which needs "
        f"no padding; or split rules so that at most {allowed:,} instead of {writers:,} write one bit"
    )


def witness(program: Program, bit: int, matches: int, matching: int) -> BoolArray:  # (k,)
    """Returns a state with n = `matches`, in which `matching` templates, the fewest possible or one, write the bit.

    Blocks match without writing the bit if they can. Otherwise, blocks that write it are chosen: if that many matches
    are needed, open blocks that always write the bit, and otherwise a single block of any kind.
    """
    templates = np.bincount(program.template_block, minlength=program.blocks)
    full = templates == np.left_shift(1, np.diff(program.block_start))
    writes = np.zeros(program.templates, dtype=bool)
    writes[np.searchsorted(program.write_start, np.flatnonzero(program.write_bits == bit), side="right") - 1] = True
    writer, other = _first(program, writes), _first(program, ~writes)  # for each block, -1 if none

    choice = np.where(full, np.where(other >= 0, other, writer), -1)
    bound = (writer >= 0) & (other < 0)  # blocks that write the bit whenever they match
    wanted = matching - np.count_nonzero(full & bound)
    crowded = matches - np.count_nonzero(templates) + np.count_nonzero(~full & bound) > 0
    kinds = [~full & bound] if crowded else [full & ~bound, ~full & bound, ~full & ~bound]
    candidates = np.concatenate([np.flatnonzero(kind & (writer >= 0)) for kind in kinds])
    writing = candidates[:wanted]
    choice[writing] = writer[writing]
    idle = np.flatnonzero((choice < 0) & (other >= 0))[: matches - np.count_nonzero(choice >= 0)]
    choice[idle] = other[idle]

    config = np.where(choice >= 0, program.template_config[choice], _unmatched(program))
    state = np.zeros(program.bits, dtype=bool)
    state[program.block_bits] = config[program.block_of[program.block_bits]] >> program.position[program.block_bits] & 1
    return state


def _first(program: Program, chosen: BoolArray) -> IntArray:  # (b,)
    """Returns the first chosen template of each block, or -1."""
    first = np.full(program.blocks, -1, dtype=np.int64)
    backwards = np.flatnonzero(chosen)[::-1]
    first[program.template_block[backwards]] = backwards  # the last assignment remains
    return first


def _unmatched(program: Program) -> IntArray:  # (b,)
    """Returns the smallest configuration of each block without a template; for a full block, one beyond the last."""
    first = np.searchsorted(program.template_block, np.arange(program.blocks))
    in_order = np.arange(program.templates) - first[program.template_block] == program.template_config
    return np.bincount(program.template_block[in_order], minlength=program.blocks)


def certify_cells(
    pattern: Pattern, rounding: Rounding, examples: int | None = None, progress: Progress | None = None
) -> LimitVerdict:
    """Proves or refutes that the limit is right in every local state; numbers refer to the worst kind."""
    program, within = pattern.program, cells_range(pattern)
    K = program.templates if examples is None else examples
    kinds = [certify(pattern.alone(kind), rounding, None, K, progress, ports=True) for kind in deciding_kinds(pattern)]
    worst = min(kinds, key=lambda kind: (_VERDICTS.index(kind.verdict), kind.margin))
    crowded = max(kinds, key=lambda kind: kind.writers_max)
    needed = max([program.templates, *(kind.examples_needed for kind in kinds)])
    return replace(
        worst,
        covers=within.covers,
        padding=K - program.templates,
        blocks=program.blocks,
        bits=program.bits,
        writers_max=crowded.writers_max,
        writers_bit=crowded.writers_bit,
        n_min=min(kind.n_min for kind in kinds),
        n_max=max(kind.n_max for kind in kinds),
        n_source=within.source,
        n_scope=within.scope,
        examples_needed=needed,
        proposal=None
        if worst.proposal is None
        else f"add --padding {needed - program.templates}; or use calibrated rounding, which needs none",
        program_id=program.id,
    )
