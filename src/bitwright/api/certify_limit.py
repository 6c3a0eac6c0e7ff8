"""Proofs of the limit, the mean of infinitely wide networks, and checks of their certificates."""

from __future__ import annotations

from collections.abc import Sequence

from bitwright.api.arguments import pattern_asked
from bitwright.api.certificates import Claimed, LimitCertificate, chained, limit_certificate
from bitwright.api.chain import links_of
from bitwright.api.claimed import Subject, by_algorithm, claimed_sizes, in_those_sizes, opened_subjects, telling_of
from bitwright.api.engines import EngineChoice
from bitwright.api.sizes import InSizes, SizesAsked, check_covers, in_sizes
from bitwright.api.telling import Teller, teller
from bitwright.engines.cells.trained import as_algorithm
from bitwright.engines.cells.wiring import tile_of
from bitwright.errors import InputError, option
from bitwright.program import Algorithm, NodeProgram
from bitwright.program.cells import Tile
from bitwright.program.pattern import is_pattern, pattern_of
from bitwright.proofs import certificate
from bitwright.proofs.certificate_file import check_certificate
from bitwright.proofs.ranges import matches_range
from bitwright.running.progress import Progress
from bitwright.theory.rounding import check_rounding


def certify_limit(
    what: Subject | Sequence[Subject],
    sizes: SizesAsked | None,
    rounding: str | None,
    n: str | None,
    padding: int | None,
    tile: Tile | None,
    tell: Teller,
    function: bool,
) -> LimitCertificate:
    chosen, subjects = check_rounding(rounding or "calibrated"), opened_subjects(what)
    if tile is None:
        single = sizes is None and len(subjects) == 1 and isinstance(subjects[0], Algorithm)
        tile = "all" if single else 1
    if tile != "all":
        with tell.working("looking for kinds of cells"):
            looked = in_those_sizes(subjects, sizes)
            algorithms = [one.algorithm for one in looked.programs]
            pattern = pattern_asked(algorithms, tile, n, padding)
        algorithm = as_algorithm(pattern, f"cells of {algorithms[0].name}")
        examples = EngineChoice(rounding=chosen, padding=padding).examples(algorithm)
        with tell.working("checking") as step:
            found = certificate.certify_cells(pattern, chosen, examples, step)
        check_covers(looked, pattern, algorithms[0].name, tile)
        graphs = looked.graphs if tile == 1 else None
        links = links_of(_single(subjects), looked, len(pattern.kinds), tell, function, graphs)
        return chained(limit_certificate(found, algorithm, looked.text, Claimed(graphs=graphs, links=links)))
    if sizes is not None or any(isinstance(one, NodeProgram) for one in subjects):
        raise InputError(f"sizes and node programs are proved by their cells; leave out {option('tile')} all")
    pattern_asked(by_algorithm(subjects), "all", n, padding)  # refuses several
    (algorithm,) = by_algorithm(subjects)
    examples = EngineChoice(rounding=chosen, padding=padding).examples(algorithm)
    with tell.working("checking") as step:
        within = matches_range(algorithm, n, step)
        found = certificate.certify(algorithm.program, chosen, within, examples, step)
    links = links_of(algorithm, in_sizes(algorithm), None, tell, function)
    return chained(limit_certificate(found, algorithm, None, Claimed(links=links)))


def _single(subjects: Sequence[Algorithm | NodeProgram]) -> Algorithm | None:
    return subjects[0] if len(subjects) == 1 and isinstance(subjects[0], Algorithm) else None


def check_limit(
    claimed: LimitCertificate,
    what: Subject | Sequence[Subject],
    sizes: SizesAsked | None = None,
    tile: Tile | None = None,
    progress: Teller | Progress | bool | None = None,
) -> LimitCertificate:
    """Proves a certificate of the limit again; raises ProofError at the first claim that does not hold."""
    tell, subjects = teller(progress), opened_subjects(what)
    algorithm, looked, kinds = by_algorithm(subjects)[0], InSizes(None, ()), None
    if claimed.cells and not is_pattern(algorithm.program):
        with tell.working("looking for kinds of cells"), telling_of(algorithm, "limit"):
            looked = claimed_sizes(claimed.sizes, subjects, sizes)
        pattern = pattern_of([one.algorithm.program for one in looked.programs], 1 if tile is None else tile)
        if sizes is None and claimed.sizes is not None:
            for one in by_algorithm(subjects):
                tile_of(one.program, pattern)  # refuses cells of other kinds
        algorithm, kinds = as_algorithm(pattern, f"cells of {algorithm.name}"), len(pattern.kinds)
    elif sizes is not None or tile is not None:
        raise InputError(f"the certificate is not one of cells; leave out {option('sizes')} and {option('tile')}")
    with tell.working("checking") as step, telling_of(algorithm, "limit"):
        check_certificate(claimed.own, algorithm, step)
    about, tried = looked if kinds else in_sizes(subjects[0]), claimed.about.links.tried
    graphs = looked.graphs if tile in (None, 1) else None
    links = links_of(_single(subjects), about, kinds, tell, tried, graphs)
    if not is_pattern(by_algorithm(subjects)[0].program):  # which says nothing of the program that it is of
        with telling_of(algorithm, "limit"):
            links.check(claimed.about.links)
    held = Claimed(graphs=graphs, holds=True, links=links)
    return chained(limit_certificate(claimed.own, algorithm, looked.text, held))
