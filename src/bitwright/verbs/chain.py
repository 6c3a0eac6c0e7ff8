"""The other links of a proof: what the rules compute, and the sizes whose cells all have proved kinds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from bitwright.common.errors import ProofError, counted
from bitwright.common.files.documents import check_fields, one_of, optional, table, text
from bitwright.proofs.claims import ONE_SIZE, Claim, Outcome
from bitwright.proofs.sizes import CoveredSizes
from bitwright.rules import Algorithm
from bitwright.rules.ensures import joined
from bitwright.verbs.progress import Teller
from bitwright.verbs.sizes import EVERY, InSizes, numbers_of

if TYPE_CHECKING:
    from bitwright.verbs.proof_target import ProofTarget

_NOT_TRIED = "not tried"
_ANY = table(lambda _: None)
_ADVICE = "docs/guides/proof.md#keep-a-trail may help"
_CLAIM = {
    "verdict": one_of(*get_args(Outcome)),
    "sizes": text(),
    "method": text(),
    "sentence": text(),
    "counterexample": optional(_ANY),
}


@dataclass(frozen=True)
class ClaimChain:
    """Claims about a program, with certificates for independent checkers."""

    claims: tuple[Claim, ...] = ()
    proofs: Mapping[str, Any] = field(default_factory=dict)  # by the subject of the claim

    @property
    def tried(self) -> bool:
        """Whether a proof of the function was tried."""
        return self.function is not None and self.function.method != _NOT_TRIED

    @property
    def function(self) -> Claim | None:
        """The claim about what the rules compute, if the program states it."""
        return next((claim for claim in self.claims if claim.about == "function"), None)

    @property
    def cells(self) -> Claim | None:
        """The claim about the sizes whose cells all have proved kinds."""
        return next((claim for claim in self.claims if claim.about == "sizes"), None)

    def common(self, sizes: CoveredSizes) -> CoveredSizes | None:
        """The given sizes whose cells also have proved kinds; None if there are none."""
        cells = None if self.cells is None else CoveredSizes.read(self.cells.sizes)
        return None if cells is None else sizes & cells

    def document(self) -> dict[str, Any]:
        """The links in the form of a certificate file."""
        return {claim.about: {"claim": claim.to_dict(), "proof": self.proofs.get(claim.about)} for claim in self.claims}

    @classmethod
    def read(cls, document: Mapping[str, Any], path: Path) -> ClaimChain:
        """The links in a certificate file, whose format is checked; `check` compares them with new ones."""
        claims, proofs = [], {}
        for about, link in document.items():
            check_fields({"link": link}, path, "a certificate", {"link": _ANY})
            check_fields(link, path, "a certificate", {"claim": _ANY, "proof": optional(_ANY)})
            check_fields(link["claim"], path, "a certificate", _CLAIM | {"about": one_of(about)})
            claims.append(Claim(**link["claim"]))
            if link["proof"] is not None:
                proofs[about] = link["proof"]
        return cls(tuple(claims), proofs)

    def check(self, claimed: ClaimChain) -> None:
        """Raises ProofError unless these links agree with the claims of a certificate."""
        again = {claim.about: claim for claim in self.claims}
        for claim in claimed.claims:
            if claim.verdict == "not stated":
                continue
            if (found := again.get(claim.about)) is None:
                raise ProofError(
                    f"the certificate has a claim about the {claim.about}, which this program does not state"
                )
            if claim != found:
                raise ProofError(
                    f"the certificate says of the {claim.about}: {claim.sentence}; but it is {found.sentence}"
                )
            if claimed.proofs.get(claim.about) != self.proofs.get(claim.about):
                raise ProofError(f"the certificate has another proof about the {claim.about} than is found now")


def prove_chain(target: ProofTarget, tell: Teller) -> ClaimChain:
    """The claims about one program: its function, if it states one, and where its cells have proved kinds."""
    algorithm, looked, graphs, proofs = target.stated, target.programs, target.graphs, dict[str, Any]()
    if not looked.programs:
        return ClaimChain()
    if algorithm is None or not algorithm.ensures:
        several = algorithm is None and graphs is None and len(looked.programs) > 1
        why = "a function is proved of one program at a time" if several else "the program has no ensure line"
        claims = [Claim("function", "not stated", "none", "none", f"not stated: {why}")]
    elif algorithm.computer is not None:
        sentence = "not tried: validate tests what the code of a machine computes"
        claims = [Claim("function", "not decided", "none", _NOT_TRIED, sentence)]
    else:
        with tell.working("proving what the rules compute"):
            claim, proofs["function"] = _function_claim(algorithm, looked)
        claims = [claim]
    if target.cells:
        claims.append(_sizes_claim(looked, len(target.pattern.kinds), graphs))
        proofs["sizes"] = None if looked.proof is None else looked.proof.certificate()
    return ClaimChain(tuple(claims), {name: json.loads(json.dumps(one)) for name, one in proofs.items() if one})


def _sizes_claim(looked: InSizes, kinds: int, graphs: str | None) -> Claim:
    if looked.proof is not None:
        found = looked.proof.claim()
        if graphs is None:
            return found
        sentence = f"all cells are of {counted(len(looked.proof.kinds), 'kind')} on every graph ({found.method})"
        return replace(found, sizes="every graph", sentence=sentence)
    where = [f"on {graphs}"] * (graphs is not None) + [f"at {looked.text}"] * (looked.text is not None)
    own = "in this program" if len(looked.programs) == 1 else "in these programs"
    sentence = f"all cells are of {counted(kinds, 'kind')} {', '.join(where) or own}"
    return Claim("sizes", "proved", looked.text or graphs or ONE_SIZE, "compared", sentence)


def _function_claim(algorithm: Algorithm, looked: InSizes) -> tuple[Claim, dict[str, Any] | None]:
    """The claim about the function: at every size if closure over windows proves it, otherwise size by size.

    A counterexample at a size that is not examined is only noted.
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
        return everywhere.claim(), everywhere.certificate
    chain = [one for one in everywhere.tried if one.startswith("no chain")]
    why = (everywhere.tried if len(everywhere.tried) == 1 else [*chain, f"no invariant was found; {_ADVICE}"])[0]
    if found is not None:
        why = everywhere.sentence()
    claim = _claim_at_sizes(several, looked.text if looked.text != EVERY else None)
    if claim.verdict == "proved" and not numbers_of(algorithm):
        return claim, None
    if claim.verdict == "proved":
        claim = replace(claim, sentence=f"{claim.sentence}; not at every size: {why}", counterexample=found)
    elif claim.verdict != "refuted":
        why = why if found is not None else f"{'; '.join(everywhere.tried)}; {_ADVICE}"
        claim = replace(claim, sentence=f"not decided: {joined(everywhere.lines)} ({why}; {claim.sentence})")
    return claim, None


def _claim_at_sizes(programs: Sequence[Algorithm], text: str | None) -> Claim:
    """The claim about all these sizes, or about the first size where it is not proved."""
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
