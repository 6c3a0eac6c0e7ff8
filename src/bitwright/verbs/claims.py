"""Claims about a program: what its rules compute, and at which sizes all its cells are of proved kinds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from bitwright.common.errors import ProofError, counted
from bitwright.proofs.claims import ONE_SIZE, Claim, Outcome
from bitwright.rules.ensures import joined
from bitwright.verbs.sizes import EVERY, InSizes, numbers_of

if TYPE_CHECKING:
    from bitwright.rules import Algorithm
    from bitwright.verbs.progress import Teller
    from bitwright.verbs.proof_target import ProofTarget

_ADVICE = "docs/guides/proof.md#keep-a-trail may help"


def prove_function(target: ProofTarget, tell: Teller) -> Claim | None:
    """Proves what the rules compute, if a single program states it; returns None for a pattern of cells by itself."""
    algorithm, looked = target.stated, target.programs
    if not looked.programs:
        return None
    if algorithm is None or not algorithm.ensures or algorithm.computer is not None:
        why = "the program has no ensure line"
        if algorithm is None and target.graphs is None and len(looked.programs) > 1:
            why = "only one function can be proved at a time"
        elif algorithm is not None and algorithm.computer is not None:
            why = "what a machine's code computes is tested by validate"
        return Claim("function", "not stated", "none", "none", f"not stated: {why}")
    with tell.working("proving what the rules compute"):
        return _prove_function(algorithm, looked)


def prove_sizes(target: ProofTarget) -> Claim | None:
    """For cells, proves at which sizes all cells of the programs are of proved kinds."""
    looked, graphs = target.programs, target.graphs
    if not target.cells or not looked.programs:
        return None
    if looked.proof is not None:
        found = replace(looked.proof.claim(), proof=looked.proof.certificate() or None)
        if graphs is None:
            return found
        sentence = f"all cells are of {counted(len(looked.proof.kinds), 'kind')} on every graph ({found.method})"
        return replace(found, sizes="every graph", sentence=sentence)
    where = [f"on {graphs}"] * (graphs is not None) + [f"at {looked.text}"] * (looked.text is not None)
    own = "in this program" if len(looked.programs) == 1 else "in these programs"
    sentence = f"all cells are of {counted(len(target.pattern.kinds), 'kind')} {', '.join(where) or own}"
    return Claim("sizes", "proved", looked.text or graphs or ONE_SIZE, "compared", sentence)


def read_claims(document: Any, path: Path) -> dict[str, Claim]:
    """Reads the claims in a certificate file by subject, and checks their form."""
    from bitwright.common.files.documents import check_fields, one_of, optional, table, text

    anything = table(lambda _: None)
    form = {
        "about": one_of("function", "sizes"),
        "verdict": one_of(*get_args(Outcome)),
        "sizes": text(),
        "method": text(),
        "sentence": text(),
        "counterexample": optional(anything),
    }
    check_fields({"links": document}, path, "a certificate", {"links": anything})
    claims = {}
    for about, link in document.items():
        check_fields({"link": link}, path, "a certificate", {"link": anything})
        check_fields(link, path, "a certificate", {"claim": anything, "proof": optional(anything)})
        check_fields(link["claim"], path, "a certificate", form | {"about": one_of(about)})
        claims[about] = Claim(**link["claim"], proof=link["proof"])
    return claims


def check_claims(claimed: Iterable[Claim], found: Iterable[Claim]) -> None:
    """Raises ProofError unless the claims of a certificate are those proved now."""
    again = {claim.about: claim for claim in found}
    for claim in claimed:
        if claim.verdict == "not stated":
            continue
        if (now := again.get(claim.about)) is None:
            raise ProofError(f"the certificate has a claim about the {claim.about}, which this program lacks")
        if claim.to_dict() != now.to_dict():
            raise ProofError(
                f"the certificate claims about the {claim.about}: {claim.sentence}; now it is {now.sentence}"
            )
        if json.dumps(claim.proof, sort_keys=True) != json.dumps(now.proof, sort_keys=True):
            raise ProofError(f"the certificate's proof about the {claim.about} differs from the proof found now")


def _prove_function(algorithm: Algorithm, looked: InSizes) -> Claim:
    """Proves the function at every size, by closure over windows, or otherwise size by size.

    A counterexample at a size that is not examined is only mentioned.
    """
    from bitwright.proofs.function.prove import prove_function

    several = [algorithm] if looked.text == EVERY else looked.programs or [algorithm]
    everywhere = prove_function(several[0])
    found, covered = everywhere.counterexample, everywhere.sizes
    if covered is not None and not all(numbers_of(one) in covered for one in several):
        everywhere = replace(everywhere, verdict="not decided", sizes=None, tried=(f"proved for {covered} only",))
    examined = [list(numbers_of(one).values()) for one in looked.programs]
    if everywhere.verdict == "proved" or (
        found is not None and (looked.text == EVERY or [*found["lets"].values()] in examined)
    ):
        return replace(everywhere.claim(), proof=everywhere.certificate or None)
    if found is not None:
        why = everywhere.sentence()
    elif everywhere.method == "closure" and covered is None:
        why = f"no invariant was found; {_ADVICE}"
    else:
        why = everywhere.tried[0]
    claim = _claim_at_sizes(several, looked.text if looked.text != EVERY else None)
    if claim.verdict == "proved" and not numbers_of(algorithm):
        return claim
    if claim.verdict == "proved":
        claim = replace(claim, sentence=f"{claim.sentence}; not at every size: {why}", counterexample=found)
    elif claim.verdict != "refuted":
        why = why if found is not None else f"{'; '.join(everywhere.tried)}; {_ADVICE}"
        claim = replace(claim, sentence=f"not decided: {joined(everywhere.lines)} ({why}; {claim.sentence})")
    return claim


def _claim_at_sizes(programs: Sequence[Algorithm], text: str | None) -> Claim:
    """Returns the claim about all these sizes, or about the first size at which it is not proved."""
    from bitwright.proofs.unrolling import prove_at_size

    for one in programs:
        claim = prove_at_size(one)
        if claim.verdict == "refuted":
            return claim
        if claim.verdict != "proved":
            at = "" if claim.sizes == ONE_SIZE else f"at size {claim.sizes}: "
            return Claim("function", "not decided", "none", "closure", f"{at}{claim.method}")
    if text is None or len(programs) == 1:
        return claim
    return replace(claim, sizes=text, sentence=f"proved at the sizes {text} ({claim.method})")
