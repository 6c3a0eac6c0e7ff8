"""Certificates beyond what a program has: kinds that it lacks, and more sizes than can be looked at."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bitwright import InputError, Network, certify, multiplication, parse, train
from bitwright.networks import IntegerNetwork
from bitwright.verbs.certificates import Certificate


def test_a_counterexample_in_a_kind_that_the_program_lacks_is_named_as_such() -> None:
    """A product of one-bit numbers has no cell of kind 4."""
    trained = train(multiplication(4))
    assert trained.pattern is not None
    assert isinstance(trained.weights, IntegerNetwork)
    for kind, said in ((3, True), (4, False)):
        last = trained.weights.last.copy()
        last[trained.pattern.port_bits(kind)] = 0
        broken = Network(replace(trained.weights, last=last), trained.pattern)
        found = certify(multiplication(1), broken, sizes="1")
        assert found.verdict == "refuted"
        assert ("has no cell of kind4 at these sizes, so this state cannot occur in it" in str(found)) == said
        assert "has no cell" not in str(certify(multiplication(4), broken, sizes="4"))


def test_too_many_sizes_are_refused_before_they_are_looked_at(tmp_path: Path) -> None:
    """Also those that a certificate names: that it cannot be checked does not mean that it does not hold."""
    each = "for i in 1..n"
    copy = parse(f"let n = 4\nbits p[n]\nblock p[i] {each}\nwhen p[i]=1 write p[i] {each}\ninput p\noutput p\nsteps 1")
    network = train(copy)
    with pytest.raises(InputError, match=r"n=1\.\.9999.*9,999"):
        certify(copy, network, sizes="n=1..9999")
    file = tmp_path / "copy.json"
    certify(copy, network, sizes="n=1..9").save(file)
    file.write_text(json.dumps(json.loads(file.read_text()) | {"sizes": "n=1..9999"}))
    with pytest.raises(InputError, match="examine"):
        Certificate.load(file).check(copy, network)
