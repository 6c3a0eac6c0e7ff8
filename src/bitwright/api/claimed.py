"""The programs that a proof is about, in the sizes that are asked for or that a certificate names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import Any

from bitwright.api.open import subject
from bitwright.api.sizes import EVERY, InSizes, ProgramAtSize, SizesAsked, in_sizes, numbers_of
from bitwright.errors import EffortError, InputError, ProofError, option
from bitwright.program import Algorithm, NodeProgram, Program

Subject = Algorithm | Program | NodeProgram | str | PathLike[str]


def opened_subjects(what: Subject | Sequence[Subject]) -> list[Algorithm | NodeProgram]:
    several: Sequence[Any] = what if isinstance(what, list | tuple) else [what]
    if not several:
        raise InputError("give at least one program, whose cells are meant")
    return [subject(one) for one in several]


def by_algorithm(subjects: Sequence[Algorithm | NodeProgram]) -> list[Algorithm]:
    """These programs; a node program as the schemas that together have all its kinds of cells."""
    return [own for one in subjects for own in (one.schemas() if isinstance(one, NodeProgram) else [one])]


def in_those_sizes(subjects: Sequence[Algorithm | NodeProgram], sizes: SizesAsked | None) -> InSizes:
    """These programs in the sizes asked for; only one program has sizes to choose."""
    if len(subjects) == 1:
        return in_sizes(subjects[0], sizes)
    if sizes is not None:
        raise InputError(f"{option('sizes')} goes with one program, got {len(subjects):,}")
    return InSizes(None, tuple(ProgramAtSize(one, None) for one in by_algorithm(subjects)))


def claimed_sizes(
    claimed: str | None, subjects: Sequence[Algorithm | NodeProgram], sizes: SizesAsked | None
) -> InSizes:
    """The programs in the sizes that a certificate names; raises ProofError if they do not exist there."""
    if claimed is None:
        return in_those_sizes(subjects, sizes)
    if sizes is not None and sizes != claimed and in_those_sizes(subjects, sizes).text != claimed:
        raise InputError(
            f"the certificate names the sizes {claimed}, which {option('check')} looks at; leave out {option('sizes')}"
        )
    known = numbers_of(subjects[0]) or (claimed == EVERY and isinstance(subjects[0], NodeProgram))
    if sizes is None and (len(subjects) > 1 or not known):
        return in_those_sizes(subjects, None)
    try:
        return in_those_sizes(subjects, claimed)
    except EffortError:  # which says nothing about the claim
        raise
    except InputError as error:
        raise ProofError(f"the certificate says sizes = {claimed}, but {error}") from None


@contextmanager
def telling_of(algorithm: Algorithm, of: str) -> Iterator[None]:
    """Adds to a ProofError the program that the claim was checked for."""
    try:
        yield
    except ProofError as error:
        raise ProofError(str(error), name=algorithm.name, of=of, program_id=algorithm.program.id) from None
