"""bitwright and the sceptic side by side: what each makes of the same network, rules and certificate."""

import importlib.util
import io
import json
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any

from checking import SCEPTIC, checked

import bitwright
from bitwright import Algorithm, Certificate, addition, certify
from bitwright.common.errors import InputError, ProofError
from bitwright.networks import IntegerNetwork, Recipe, load_network, quantize, save_network, train

CHECKER = SCEPTIC / "check_network.py"
INFORMATION = {"margin", "members", "sizes", "version"}  # of a certificate: what the sceptic does not look at


@cache
def sceptic() -> Any:
    """The sceptic's file as a module."""
    spec = importlib.util.spec_from_file_location("check_network", CHECKER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def sceptic_says(*files: Path) -> tuple[int, str]:
    """Its exit code, and what it prints; an exception is what its last lines turn into 2."""
    *others, certificate = map(str, files)
    with redirect_stdout(io.StringIO()) as said:
        try:
            sceptic().main(*others, certificate=certificate)
        except SystemExit as end:
            return int(end.code or 0), said.getvalue()
        except Exception as error:
            return 2, f"{type(error).__name__}: {error}"
    raise AssertionError("the sceptic says nothing")


def bitwright_says(algorithm: Algorithm, network: Path, certificate: Path) -> tuple[int, str]:
    """The same for `certify --check`; any other exception is a defect."""
    try:
        found = Certificate.load(certificate)
        found.check(algorithm, load_network(network, algorithm.program))
    except ProofError as error:
        return 1, str(error)
    except InputError as error:
        return 2, str(error)
    return (0 if found.certified else 1), found.verdict


@cache
def _trained(domain: str) -> tuple[Algorithm, str, IntegerNetwork]:
    """What is proved, the rules of which it is derived, and a network."""
    if domain == "cells":
        cells = bitwright.train(addition(3))
        return Algorithm("cells", cells.pattern.program), addition(3).text(), cells.weights
    algorithm = addition(1)
    network = train(algorithm.program, Recipe(128))[0]
    return algorithm, algorithm.text(), quantize(network, algorithm.program)[0]


class Files:
    """What a sceptic is given: a network, its certificate, and rules: those of the algorithm, or `texts`."""

    def __init__(
        self, folder: Path, algorithm: Algorithm, network: IntegerNetwork, domain: str = "cells", *texts: str
    ) -> None:
        self.network, self.certificate, self.folder = folder / "n.safetensors", folder / "cert.json", folder
        save_network(network, algorithm.program, self.network)
        self.rules = self.write(*(texts or [algorithm.text()]))[0]
        self.claimed = certify(algorithm, network, domain=domain)
        self.claimed.save(self.certificate)

    def write(self, *texts: str) -> list[Path]:
        paths = [self.folder / f"{number}.bw" for number in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text)
        return paths

    def check(self, *texts: str) -> tuple[int, str]:
        """The exit code of the sceptic, and what it prints; for rules in place of those there are."""
        done = checked("check_network.py", self.network, *(self.write(*texts) or [self.rules]), self.certificate)
        assert done.err == "" or done.err.startswith("not checked: ")
        return done.code, done.out

    def alter(self, **claims: Any) -> None:
        document = json.loads(self.certificate.read_text())
        self.certificate.write_text(json.dumps(document | claims))


class Both(Files):
    """Sound files of one domain in a folder, to be altered and shown to both."""

    def __init__(self, folder: Path, domain: str) -> None:
        self.algorithm, text, network = _trained(domain)
        super().__init__(folder, self.algorithm, network, domain, text)
        self.network_bytes, self.claims = self.network.read_bytes(), json.loads(self.certificate.read_text())
        self.claims.pop("links", None)  # about the program, which other checkers look at

    def codes(self, network: bytes | None = None, certificate: bytes | str | None = None) -> tuple[int, int]:
        """The exit codes of both, with one of the files altered; everything else is sound."""
        self.network.write_bytes(self.network_bytes if network is None else network)
        given = json.dumps(self.claims) if certificate is None else certificate
        self.certificate.write_bytes(given if isinstance(given, bytes) else given.encode("utf-8", "surrogatepass"))
        ours = bitwright_says(self.algorithm, self.network, self.certificate)
        theirs = sceptic_says(self.network, self.rules, self.certificate)
        assert "\n" not in ours[1], ours[1]
        return ours[0], theirs[0]

    def agree_on(self, network: bytes | None = None, certificate: bytes | str | None = None) -> tuple[int, int]:
        """The same; raises AssertionError where one takes what the other refuses.

        The sceptic takes certificates in which only information was altered.
        """
        codes = ours, theirs = self.codes(network, certificate)
        if (ours == 0) != (theirs == 0):
            assert certificate is not None, codes
            assert theirs == 0, codes
            claims = json.loads(certificate)
            assert all(claims[name] == claim for name, claim in self.claims.items() if name not in INFORMATION), codes
        return codes
