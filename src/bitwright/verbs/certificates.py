"""Certificates of proofs about a program and a network or the limit; they can be saved, loaded and checked again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bitwright.common.errors import Report, counted, thousandths
from bitwright.common.files.storage import as_path, write_atomically
from bitwright.common.files.storage import check_writable as check_writable
from bitwright.common.lazy import Shown
from bitwright.proofs.claims import ONE_SIZE, Claim, Outcome
from bitwright.rules.ensures import joined
from bitwright.verbs.certificate_reports import limit_report, network_report, network_statement

if TYPE_CHECKING:
    from bitwright.proofs.certificate import LimitVerdict, Verdict
    from bitwright.proofs.exhaustion.certificate import NetworkVerdict
    from bitwright.runs.progress import Progress
    from bitwright.verbs.certify import Provable
    from bitwright.verbs.progress import Teller
    from bitwright.verbs.sizes import SizesAsked, Subject

BitNames = Mapping[str, Sequence[str]]
_SHOWN = 3  # lines of a specification in a headline
_OUTCOMES: dict[str, Outcome] = {
    "certified": "proved",
    "refuted": "refuted",
    "not proved": "not decided",
}


@dataclass(frozen=True)
class ProvedProgram:
    """The program that a certificate was made or checked for. Reports show it, but it is not itself checked."""

    name: str = ""
    description: str = ""
    graphs: str | None = None  # for a node program: the graphs whose cells are all of proved kinds
    names: BitNames = field(default_factory=dict)  # for cells: the names of the pattern's bits in the program
    declared: int | None = None  # the author's bound on n
    ensures: tuple[str, ...] = ()  # the lines that state what it computes
    inputs: str = ""  # the inputs that the ensure lines cover, if not all

    @property
    def statement(self) -> str:
        """The first few `ensure` lines of the program."""
        more = len(self.ensures) - _SHOWN
        return joined(self.ensures[:_SHOWN]) + f" and {counted(more, 'more line')}" * (more > 0) + self.inputs

    @classmethod
    def read(cls, document: object, path: Path) -> ProvedProgram:
        """Reads the program from a certificate file, and checks its form."""
        from bitwright.common.files.documents import check_fields, each, optional, table, text, whole
        from bitwright.rules.algorithm import MAX_EXAMPLES

        if document is None:  # a file that does not name it
            return cls()
        check_fields({"program": document}, path, "a certificate", {"program": table(lambda _: None)})
        fields: Any = document
        form = dict.fromkeys(("name", "description", "inputs"), text()) | {"names": table(each(text()))}
        form |= {"graphs": optional(text()), "declared": optional(whole(0, MAX_EXAMPLES)), "ensures": each(text())}
        check_fields(fields, path, "a certificate", form)
        return cls(**{**fields, "ensures": tuple(fields["ensures"])})


@dataclass(frozen=True, repr=False)
class Certificate(Shown, Report):
    """The result of a proof about the limit or a network. `certify` makes it; `load` reads it from a file.

    `certified` is True if every claim is proved; `verdict` is "certified", "refuted" or "not proved", and `of` is
    "limit" or "network". The numbers of the proof, such as `states`, `margin` or `counterexample`, are attributes.
    Print a certificate to see its report.

    >>> from bitwright import addition, certify, multiplication
    >>> certificate = certify(multiplication(10), rounding="sign", padding=0)
    >>> certificate.verdict, certificate.examples, certificate.examples_needed
    ('refuted', 202, 272)
    >>> certify(addition(10)).save("addition.json")
    >>> Certificate.load("addition.json").check(addition(10)).holds
    True
    """

    own: LimitVerdict | NetworkVerdict  # the proof about the limit or the network
    function: Claim | None = None  # what the rules compute
    coverage: Claim | None = None  # the sizes at which all cells are of proved kinds
    about: ProvedProgram = field(default_factory=ProvedProgram, compare=False)
    holds: bool = field(default=False, compare=False)  # whether `check` has proved every claim again

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "own":
            raise AttributeError(name)
        return getattr(self.own, name)

    def __bool__(self) -> bool:
        return self.certified

    @property
    def verdict(self) -> Verdict:
        """The verdict of the weakest claim."""
        function, own = self.function, self.own.verdict
        if function is None or function.verdict in ("proved", "not stated") or own == "refuted":
            return own
        return "refuted" if function.verdict == "refuted" else "not proved"

    @property
    def certified(self) -> bool:
        """Whether every claim is proved."""
        return self.verdict == "certified"

    @property
    def of(self) -> str:
        """The subject of the proof: "limit" or "network"."""
        return getattr(self.own, "of", "limit")

    @property
    def cells(self) -> bool:
        """Whether the proof is about networks of cells."""
        own: Any = self.own
        return bool(own.n_source == "cells" if self.of == "limit" else own.kinds is not None)

    @property
    def premises(self) -> tuple[Claim, ...]:
        """The claims about the program, without the network or the limit."""
        return tuple(claim for claim in (self.function, self.coverage) if claim is not None)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claims: what the rules compute, at which sizes, and that the network or the limit takes every step.

        >>> from bitwright import addition, certify
        >>> [(claim.about, claim.verdict) for claim in certify(addition(10)).claims]
        [('function', 'proved'), ('limit', 'proved')]
        """
        named = self.coverage.sizes if self.sizes == "all" and self.coverage is not None else self.sizes
        own: Any = self.own
        last = (_limit_claim if self.of == "limit" else _network_claim)(own, named or self.about.graphs or ONE_SIZE)
        return (*self.premises, last)

    @property
    def sentence(self) -> str:
        """The verdict and its subject: the function that a network computes, if proved, or otherwise its steps."""
        if self.of == "network":
            return f"{self.verdict}: {network_statement(self)}"
        return replace(self.own, verdict=self.verdict).sentence

    def text(self) -> str:
        """Returns the text of the certificate file, with every number of the proof.

        >>> from bitwright import addition, certify
        >>> '"certified": true' in certify(addition(10)).text()
        True
        """
        from bitwright.proofs.certificate_file import claims_of

        links: dict[str, Any] = {one.about: {"claim": one.to_dict(), "proof": one.proof} for one in self.premises}
        return claims_of(self.own, links | ({"program": asdict(self.about)} if self.about.name else {}))

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the certificate to a JSON file, which `load` reads.

        >>> from bitwright import addition, certify
        >>> certify(addition(10)).save("addition.json")
        """
        write_atomically(as_path(path, "a certificate file"), self.text().encode())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Certificate:
        """Reads a certificate from a file. Only its format is checked; `check` proves its claims again.

        For a network's file or folder, reads the certificate next to it: certificate.json, or the same name with .json.

        >>> from bitwright import addition, certify
        >>> certify(addition(10)).save("addition.json")
        >>> Certificate.load("addition.json").report() == certify(addition(10)).report()
        True
        """
        from bitwright.proofs.certificate_file import read_verdict
        from bitwright.verbs.claims import read_claims
        from bitwright.verbs.folder import certificate_beside

        file = certificate_beside(as_path(path, "a certificate file"))
        own, links = read_verdict(file)
        program = links.pop("program", None) if isinstance(links, dict) else None
        claims = read_claims(links, file)
        return cls(own, claims.get("function"), claims.get("sizes"), ProvedProgram.read(program, file))

    def check(
        self,
        what: Subject | Sequence[Subject],
        network: Provable | None = None,
        *,
        sizes: SizesAsked | None = None,
        tile: int | None = None,
        device: str | None = None,
        workers: str | int = "1",
        progress: Teller | Progress | bool | None = None,
    ) -> Certificate:
        """Proves every claim again and returns the certificate with `holds` set; raises ProofError if one fails.

        A certificate about cells at certain sizes is checked at those sizes, and for the given program.

        Args:
            what: the program or programs that the certificate is about.
            network: the network that the certificate is about; None for the limit.
            sizes, tile, device, workers, progress: as for `certify`.

        >>> from bitwright import addition, certify, train
        >>> adder = train(addition(4))
        >>> certify(addition(9), adder).check(addition(30), adder).sizes
        'all'
        """
        from bitwright.verbs.certify import check

        return check(self, what, network, sizes, tile, device, str(workers), progress)

    def to_dict(self) -> dict[str, Any]:
        """Returns the certificate as `bitwright certify --json` prints it.

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
        own: Any = self.own
        numbers = {"of": self.of} | {one.name: _plain(getattr(own, one.name)) for one in fields(own)}
        numbers |= {"verdict": self.verdict, "certified": self.certified}
        if numbers.get("model", self) is None:
            del numbers["model"]
        if not self.cells:
            del numbers["sizes"]
            return named | numbers | more
        numbers["pattern_id"] = self.program_id
        if self.of == "network":
            shown = [one for one in (own.closest, own.counterexample) if one is not None]
            bits = dict.fromkeys(bit for one in shown for bit in (one.bit, *one.on))
            names = {bit: list(self.about.names[bit]) for bit in bits if bit in self.about.names}
            numbers |= {"local_states": own.states, "names": names}
        return named | numbers | more

    def report(self) -> list[str]:
        """Returns the lines of the report.

        >>> from bitwright import addition, certify
        >>> certify(addition(2)).report()[1]
        '  function  proved at every size (laws, 311 windows)'
        """
        headline, *rows = limit_report(self) if self.of == "limit" else network_report(self)
        return [headline, *(f"  {claim.about:<9} {claim.sentence}" for claim in self.premises), *rows]


def _limit_claim(own: LimitVerdict, where: str) -> Claim:
    """Returns the claim about the limit."""
    found = None if own.witness is None else {"on": list(own.witness), "bit": own.fails_bit}
    sentence = f"{own.sentence}; margin {own.margin_enclosure} at n = {own.worst_n:,}"
    return Claim("limit", _OUTCOMES[own.verdict], where, f"{own.rounding} rounding", sentence, found)


def _network_claim(own: NetworkVerdict, where: str) -> Claim:
    """Returns the claim about the network."""
    states = counted(own.states, "state" if own.kinds is None else "local state")
    counts = {"wrong": own.wrong, "not decided": own.undecided}
    sentence = ", ".join(f"{what} in {count:,} of {states}" for what, count in counts.items() if count)
    sentence = sentence or f"right in {'all ' * (own.states != 1)}{states}"
    if own.margin is not None and not own.wrong:
        sentence += f"; smallest margin {thousandths(own.margin)}"
    found = None if own.counterexample is None else asdict(own.counterexample)
    return Claim("network", _OUTCOMES[own.verdict], where, "every state tried", sentence, found)


def _plain(value: Any) -> Any:
    return asdict(value) if hasattr(value, "__dataclass_fields__") else value
