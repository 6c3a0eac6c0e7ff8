"""Certificates: the verdict, the program it is about, its file, and checking it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from bitwright.api.certificate_reports import limit_report, network_report, network_statement, state_report
from bitwright.api.chain import Links
from bitwright.errors import InputError, counted, short_repr, thousandths
from bitwright.files.storage import as_path, write_atomically
from bitwright.files.storage import check_writable as check_writable
from bitwright.lazy import Shown
from bitwright.program import Algorithm
from bitwright.proofs.certificate import LimitVerdict, Verdict
from bitwright.proofs.certificate_file import claims_of
from bitwright.proofs.claims import ONE_SIZE, Claim, Outcome
from bitwright.proofs.exhaustion import NetworkVerdict
from bitwright.proofs.exhaustion.certificate_file import read_verdict
from bitwright.proofs.exhaustion.one_state import OneState

if TYPE_CHECKING:
    from bitwright.api.asked import Provable
    from bitwright.api.claimed import Subject
    from bitwright.api.sizes import SizesAsked
    from bitwright.api.telling import Teller
    from bitwright.networks.foreign.model import Given, Model
    from bitwright.running.progress import Progress

BitNames = Mapping[str, Sequence[str]]
OUTCOMES: dict[str, Outcome] = {
    "certified": "proved",
    "refuted": "refuted",
    "tested": "tested",
    "not proved": "not decided",
}
Whole = TypeVar("Whole", "LimitCertificate", "NetworkCertificate")


@dataclass(frozen=True)
class Claimed:
    """The program that a certificate was made or checked for; a certificate file does not contain it."""

    name: str = ""
    description: str = ""
    graphs: str | None = None  # of a node program: the graphs on which its cells are of the proved kinds
    names: BitNames = field(default_factory=dict)  # of cells: what the bits of the pattern are called in the program
    declared: int | None = None  # the author's bound on n
    holds: bool = False  # whether it was checked again
    links: Links = field(default_factory=Links)  # what else is claimed: what the rules compute, and at which sizes
    alone: Verdict | None = None  # of the network or the limit by itself, if these links are worse


class Certificate(Shown):
    """What was proved or refuted: of the limit, or of one network. `certify` makes it, `load` reads it from a file.

    `certified` says whether it is proved, `verdict` is "certified", "refuted", "tested" (every state, by a runtime) or
    "not proved", and `of` is "limit" or "network". Printing it gives a report.

    >>> from bitwright import addition, certify, multiplication
    >>> certificate = certify(multiplication(10), rounding="sign", padding=0)
    >>> certificate.verdict, certificate.examples, certificate.examples_needed
    ('refuted', 202, 272)
    >>> certify(addition(10)).save("addition.json")
    >>> Certificate.load("addition.json").check(addition(10)).holds
    True
    """

    certified: bool
    verdict: Verdict
    sizes: str | None
    about: Claimed

    @property
    def own(self) -> Self:
        """The proof of the network or of the limit alone, without the other links of the chain."""
        alone = self.about.alone
        return self if alone is None else replace(self, verdict=alone, certified=alone == "certified")  # type: ignore[type-var]

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The chain: what the rules compute, at which sizes, and that the network or the limit takes every step.

        >>> from bitwright import addition, certify
        >>> [(claim.about, claim.verdict) for claim in certify(addition(10)).claims]
        [('function', 'proved'), ('limit', 'proved')]
        """
        return (*self.about.links.claims, self.own._claim())

    def _claim(self) -> Claim:
        """The link that is about the network or the limit."""
        raise NotImplementedError

    @property
    def holds(self) -> bool:
        """Whether `check` has proved every claim again."""
        return self.about.holds

    def text(self) -> str:
        """The certificate as its file contains it, with every number it rests on.

        >>> from bitwright import addition, certify
        >>> print(certify(addition(10)).text()[:21])
        {
          "certified": true
        """
        kind = NetworkVerdict if isinstance(self, NetworkVerdict) else LimitVerdict
        return claims_of(self.own, kind, self.about.links.document())

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the certificate to a JSON file, which `load` reads.

        >>> from bitwright import addition, certify
        >>> certify(addition(10)).save("addition.json")
        """
        write_atomically(as_path(path, "a certificate file"), self.text().encode())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> LimitCertificate | NetworkCertificate:
        """The certificate in a file, of the limit or of a network, checked for form; `check` proves its claims.

        For a network's file or folder it reads the one next to it: certificate.json, or the same name with .json.

        >>> from bitwright import addition, certify
        >>> certify(addition(10)).save("addition.json")
        >>> Certificate.load("addition.json").sentence
        'certified'
        """
        from bitwright.api.folder import certificate_beside

        file = certificate_beside(as_path(path, "a certificate file"))
        found, links = read_verdict(file)
        kind = NetworkCertificate if isinstance(found, NetworkVerdict) else LimitCertificate
        made: Any = kind(**vars(found), about=Claimed(links=Links.read(links, file)))
        return chained(made)  # type: ignore[no-any-return]

    def check(
        self,
        what: Subject | Sequence[Subject],
        network: Provable | None = None,
        *,
        sizes: SizesAsked | None = None,
        tile: int | None = None,
        device: str | None = None,
        workers: str | int = "1",
        yes: bool = False,
        oracle: Model | Given | None = None,
        progress: Teller | Progress | bool | None = None,
    ) -> LimitCertificate | NetworkCertificate:
        """Proves every claim again, and gives the certificate with `holds` set; raises ProofError otherwise.

        The certificate of a network is checked for that `network`, or its file. A certificate of cells that names sizes
        is checked at those sizes, and for the program that is given. The options are those of `certify`.

        >>> from bitwright import addition, certify, train
        >>> adder = train(addition(4))
        >>> certify(addition(9), adder).check(addition(30), adder).sizes
        'all'
        """
        from bitwright.api import certify, certify_limit

        if isinstance(self, LimitCertificate):
            if network is not None:
                raise InputError("this is a certificate of the limit, which is proved without a network; leave it out")
            return certify_limit.check_limit(self, what, sizes, tile, progress)
        assert isinstance(self, NetworkCertificate)
        if network is None:
            raise InputError("this is the certificate of a network; give the network too, or its file")
        return certify.check_network(self, what, network, sizes, device, workers, yes, progress, oracle)

    def to_dict(self) -> dict[str, Any]:
        """The certificate as `bitwright certify --json` prints it.

        >>> from bitwright import addition, certify
        >>> certify(addition(10)).to_dict()["verdict"]
        'certified'
        """
        named = {"name": self.about.name} if self.about.name else {}
        more: dict[str, Any] = {"claims": [claim.to_dict() for claim in self.claims]}
        if self.about.graphs is not None:
            more["graphs"] = self.about.graphs
        if self.holds:
            more["holds"] = True
        return named | self._numbers() | more

    def _numbers(self) -> dict[str, Any]:
        """What its file contains, and what follows from that, for JSON."""
        raise NotImplementedError

    def report(self, see: str = "") -> Iterator[str]:
        """Its report, line by line; `see` is how to look at the state of a counterexample.

        >>> from bitwright import addition, certify
        >>> next(certify(addition(2)).report())
        'CERTIFIED: addition (add two 2-bit numbers by ripple carry), the limit, calibrated rounding'
        """
        if isinstance(self, LimitCertificate):
            return limit_report(self)
        assert isinstance(self, NetworkCertificate)
        return network_report(self, see or f"certify(what, network, state={self.shown_by!r})")

    __repr__ = short_repr

    def __str__(self) -> str:
        return "\n".join(self.report())

    def _where(self) -> str:
        """The sizes that a claim covers: every size, some sizes, some graphs, or the program's own."""
        cells = self.about.links.cells
        named = cells.sizes if self.sizes == "all" and cells is not None else self.sizes
        return named or self.about.graphs or ONE_SIZE


@dataclass(frozen=True, repr=False)
class LimitCertificate(Certificate, LimitVerdict):
    """The certificate of the limit, for one program or for all programs made of the same kinds of cells."""

    about: Claimed = field(default_factory=Claimed, compare=False)
    of: ClassVar[str] = "limit"

    @property
    def cells(self) -> bool:
        """Whether it is about the limit of networks of cells."""
        return self.n_source == "cells"

    def _claim(self) -> Claim:
        """The link that is about the limit."""
        found = None if self.witness is None else {"on": list(self.witness), "bit": self.fails_bit}
        sentence = f"{self.sentence}; margin {self.margin_enclosure} at n = {self.worst_n:,}"
        return Claim("limit", OUTCOMES[self.verdict], self._where(), f"{self.rounding} rounding", sentence, found)

    def _numbers(self) -> dict[str, Any]:
        claims = {one.name: getattr(self, one.name) for one in fields(LimitVerdict) if one.name != "sizes"}
        cells = {"sizes": self.sizes, "pattern_id": self.program_id} if self.cells else {}
        return {"of": self.of, **claims, **cells}


@dataclass(frozen=True, repr=False)
class NetworkCertificate(Certificate, NetworkVerdict):
    """The certificate of one network, for all states of a domain."""

    about: Claimed = field(default_factory=Claimed, compare=False)

    @property
    def cells(self) -> bool:
        """Whether it is about a network of cells."""
        return self.kinds is not None

    def _claim(self) -> Claim:
        """The link that is about the network."""
        states = counted(self.states, "local state" if self.cells else "state")
        counts = {"wrong": self.wrong, "not decided": self.undecided}
        sentence = ", ".join(f"{what} in {count:,} of {states}" for what, count in counts.items() if count)
        margin = "" if self.margin is None or self.wrong else f"; smallest margin {thousandths(self.margin)}"
        found = None if self.counterexample is None else _plain(self.counterexample)
        how = "every state tried"
        if self.verdict == "tested" and self.model is not None:
            how = f"every state tried with {self.arithmetic} on {self.model['machine']}"
            margin += f"; with {self.arithmetic} on this machine, which is no proof"
        sentence = (sentence or f"right in {'all ' * (self.states != 1)}{states}") + margin
        return Claim("network", OUTCOMES[self.verdict], self._where(), how, sentence, found)

    @property
    def sentence(self) -> str:
        """The verdict and its subject: the function that the network computes if that is proved, else its steps."""
        return f"{self.verdict}: {network_statement(self)}"

    @property
    def shown_by(self) -> str:
        """The bits that are on in the counterexample, as `state` takes them."""
        found = self.counterexample
        if found is None:
            return ""
        # with no bit on, the kind says which cell it is
        return " ".join(found.on) or (found.bit.partition("_")[0] if self.about.names else "none")

    def _numbers(self) -> dict[str, Any]:
        claims = {one.name: _plain(getattr(self, one.name)) for one in fields(NetworkVerdict)}
        if self.model is None:
            del claims["model"]
        if self.kinds is None:
            del claims["sizes"]
            return claims
        states = [one for one in (self.closest, self.counterexample) if one is not None]
        bits = dict.fromkeys(bit for one in states for bit in (one.bit, *one.on))
        names = {bit: list(self.about.names[bit]) for bit in bits if bit in self.about.names}
        return {**claims, "local_states": self.states, "pattern_id": self.program_id, "names": names}


@dataclass(frozen=True)
class StateLookedAt(OneState):
    """What a network gives for every bit of one state, next to what the rules give."""

    about: Claimed = field(default_factory=Claimed, compare=False, repr=False)

    @property
    def sentence(self) -> str:
        """How many examples match, and whether the network is right."""
        return f"n = {self.n}: {counted(self.n, 'example')} matched, {'right' if self.right else 'WRONG'}"

    def to_dict(self) -> dict[str, Any]:
        """The state as `bitwright certify --state --json` prints it."""
        own = {*self.on, *(one.bit for one in self.bits)}
        names = {bit: list(names) for bit, names in self.about.names.items() if bit in own}
        found = {"name": self.about.name} | asdict(self) | ({"names": names} if self.about.names else {})
        del found["about"]
        return found

    __repr__ = short_repr

    def __str__(self) -> str:
        return "\n".join([self.sentence, *state_report(self)])


def chained(found: Whole) -> Whole:
    """The certificate with the verdict of its weakest link."""
    function = found.about.links.function
    if (
        function is None
        or not found.about.links.tried
        or function.verdict in ("proved", "not stated")
        or found.verdict == "refuted"
    ):
        return found
    verdict: Verdict = "refuted" if function.verdict == "refuted" else "not proved"
    about = replace(found.about, alone=found.verdict)
    return replace(found, verdict=verdict, certified=False, about=about)


def limit_certificate(
    verdict: LimitVerdict, algorithm: Algorithm, sizes: str | None, about: Claimed
) -> LimitCertificate:
    """The certificate of this verdict, about an algorithm or a pattern of cells."""
    own = replace(about, name=algorithm.name, description=algorithm.description, declared=algorithm.matches)
    return LimitCertificate(**{**vars(verdict), "sizes": sizes, "about": own})


def _plain(value: Any) -> Any:
    return asdict(value) if hasattr(value, "__dataclass_fields__") else value
