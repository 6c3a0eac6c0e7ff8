"""The limit of networks that are trained on a pattern, kind by kind: K is the pattern's, n the cell's own.

A cell matches templates of its own kind alone, and no others write its ports. So the limit sees of the pattern what it
sees of that kind, with the templates of the others as padding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from typing import Any

from bitwright.errors import InputError
from bitwright.program import Program
from bitwright.program.pattern import Pattern
from bitwright.proofs.certificate import LimitVerdict, Progress, certify
from bitwright.theory.ensemble import EnsembleSize, Scope, calibrated_size, check_delta, sign_size
from bitwright.theory.ranges import cells_range
from bitwright.theory.rounding import Rounding

_VERDICTS = ("refuted", "not proved", "certified")  # the worst first


def certify_cells(
    pattern: Pattern, rounding: Rounding, examples: int | None = None, progress: Progress | None = None
) -> LimitVerdict:
    """Proves or refutes that the limit is right in every local state; the numbers are those of the worst kind."""
    program, within = pattern.program, cells_range(pattern)
    K = program.templates if examples is None else examples
    found = [certify(pattern.alone(kind), rounding, None, K, progress, ports=True) for kind in _deciding(pattern)]
    worst = min(found, key=lambda one: (_VERDICTS.index(one.verdict), one.margin))
    crowded = max(found, key=lambda one: one.writers_max)
    needed = max([program.templates, *(one.examples_needed for one in found)])
    return replace(
        worst,
        covers=within.covers,
        padding=K - program.templates,
        blocks=program.blocks,
        bits=program.bits,
        writers_max=crowded.writers_max,
        writers_bit=crowded.writers_bit,
        n_min=min(one.n_min for one in found),
        n_max=max(one.n_max for one in found),
        n_source=within.source,
        n_scope=within.scope,
        examples_needed=needed,
        proposal=None if worst.proposal is None else _proposal(needed - program.templates),
        program_id=program.id,
    )


def _deciding(pattern: Pattern) -> list[int]:
    """The kinds that have ports: of others there is nothing to decide."""
    found = [number for number, kind in enumerate(pattern.kinds) if kind.ports]
    if not found:
        raise InputError("no cell of this program writes anything, so there is nothing to decide")
    return found


def _proposal(padding: int) -> str:
    return f"add --padding {padding}; or use calibrated rounding, which needs none"


def cell_sizes(
    pattern: Pattern, delta: float, scope: Scope = "inputs", *, padding: int | None = None
) -> dict[str, Any]:
    """How many networks of a pattern must be averaged so that no local state of any kind is wrong, ready for JSON.

    Each kind has an equal share of delta; what is asked of the kind that needs the most is enough for all.
    """
    check_delta(delta)
    kinds, K = _deciding(pattern), pattern.program.templates + (padding or 0)
    within, share = cells_range(pattern), delta / len(kinds)
    alone = [pattern.alone(kind) for kind in kinds]

    def largest(size: Callable[[Program], EnsembleSize]) -> dict[str, Any]:
        return asdict(_largest(size(program) for program in alone))

    return {
        "delta": delta,
        "scope": scope,
        "n_max": within.n_max,
        "n_source": within.source,
        "assumption": within.assumption,
        "covers": within.covers,
        "examples": {"calibrated": K, "sign": K},
        "sign": largest(lambda program: sign_size(program, share, scope, examples=K)),
        "sign_tight": largest(lambda program: sign_size(program, share, scope, printed=False, examples=K)),
        "calibrated": largest(lambda program: calibrated_size(program, share, scope, examples=K)),
        "kinds": len(pattern.kinds),
        "local_states": pattern.local_states,
        "program_id": pattern.program.id,
    }


def _largest(sizes: Iterable[EnsembleSize]) -> EnsembleSize:
    """The size that is enough for all; None is more than any number."""
    return max(sizes, key=lambda size: (size.networks is None, size.networks or 0, size.ratio or 0))
