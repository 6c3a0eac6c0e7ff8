"""Programs are recognised by their names, and by nothing less than their id."""

import numpy as np
import pytest

from bitwright import Algorithm, addition, multiplication, permutation
from bitwright.rules.algorithms.arithmetic import known_algorithm, order_of


def recognised(algorithm: Algorithm, **change: object) -> Algorithm | None:
    program = algorithm.program
    told: dict[str, object] = {
        "bits": program.layout.names,
        "templates": [program.template_text(t) for t in range(program.templates)],
        "program_id": program.id,
    }
    return known_algorithm(**{**told, **change})  # type: ignore[arg-type]


@pytest.mark.parametrize("l", [1, 2, 7, 12])
def test_every_length(l: int) -> None:
    order = (np.random.default_rng(l).permutation(l) + 1).tolist()
    for own in (addition(l), addition(l, counter=True), multiplication(l), permutation(order)):
        found = recognised(own)
        assert found is not None
        assert found.same_as(own)
        assert found.name == own.name
    assert order_of(permutation(order)) == order


def test_what_is_told_wrongly() -> None:
    own, other = permutation([2, 1, 3]), addition(2)
    assert recognised(own, program_id=other.program.id) is None
    assert recognised(own, templates=[]) is None
    assert recognised(own, templates=["when p[9]=1 write p[1]", "lie", "when p[1]=1 write p[99]"]) is None
    assert recognised(other, bits=["multiplier[1]"] * 30_000) is None  # more than there can be
    assert recognised(other, bits=["x"]) is None
    assert recognised(other, bits=[]) is None
