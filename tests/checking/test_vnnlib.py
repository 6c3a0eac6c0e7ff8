"""Properties for verifiers are satisfiable just where the network is wrong, as a reader of such files sees them."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bitwright import Algorithm, InputError, addition, parse, train_cells
from bitwright.app.cells import as_algorithm
from bitwright.checking.exhaustion import certify_network
from bitwright.checking.exhaustion.domains import CellsDomain, StatesDomain
from bitwright.checking.exhaustion.judges import Truth
from bitwright.checking.exhaustion.vnnlib import save_vnnlib
from bitwright.engines.integer.sums import ExactSums
from bitwright.networks import IntegerNetwork, Plan, Recipe, train
from bitwright.networks.onnx_file import save_sums_onnx
from bitwright.networks.quantize import quantize

onnx = pytest.importorskip("onnx")
# What simple readers of such files take, which look at one statement with regular expressions.
ONE_DISJUNCTION = re.compile(r"\(assert \(or (\(and (\((<=|>=) [XY]_\d+ -?\d+\))+\))+\)\)$")
ODD = """
bits mode x[2] full
block mode x[2]
block x[1]
block full
when mode=1 x[2]=0 write x[1]
when mode=1 x[2]=1 write x[2] full
when x[1]=1 write x[2]
when full=0 write full
when full=1 write x[1]
input x
start mode
steps 3
"""


def whole(algorithm: Algorithm, width: int = 256) -> IntegerNetwork:
    network, _ = train(algorithm.program, Recipe(width, plan=Plan(momentum=True)))
    return quantize([network], algorithm.program)[0]


def parsed(text: str) -> list[Any]:
    """The statements of a file as nested lists, comments left out."""
    stack: list[list[Any]] = [[]]
    for token in re.findall(r"[()]|[^\s()]+", re.sub(";[^\n]*", "", text)):
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    (statements,) = stack
    return statements


def holds(clause: Any, values: dict[str, float]) -> bool:
    head, *rest = clause
    if head in ("and", "or"):
        return (all if head == "and" else any)(holds(part, values) for part in rest)
    left, right = (values[name] if name in values else float(name) for name in rest)
    return left <= right if head == "<=" else {">=": left >= right}[head]


def points(clauses: list[Any], inputs: int) -> list[list[float]]:
    """The inputs that the clauses speak of: each is bounded from both sides to one number."""
    found = []
    for clause in clauses:
        low, high = np.full(inputs, -np.inf), np.full(inputs, np.inf)
        for sign, name, value in clause[1:]:
            if name.startswith("X_"):
                (high if sign == "<=" else low)[int(name[2:])] = float(value)
        assert (low == high).all()
        found.append(low.tolist())
    return [list(point) for point in dict.fromkeys(map(tuple, found))]


def outputs(path: Path, inputs: Any) -> Any:
    if find_spec("onnxruntime") is not None:
        import onnxruntime

        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        return session.run(None, {"inputs": inputs})[0]
    from onnx.reference import ReferenceEvaluator

    return ReferenceEvaluator(onnx.load(path)).run(None, {"inputs": inputs})[0]


def solutions(algorithm: Algorithm, network: IntegerNetwork, folder: Path) -> tuple[int, int]:
    """In how many states of the files the property holds, which is the wrong ones, of how many."""
    save_vnnlib(network, algorithm.program, folder / "p.vnnlib")
    save_sums_onnx(network, algorithm.program, folder / "p.onnx")
    text = (folder / "p.vnnlib").read_text()
    assert ONE_DISJUNCTION.search(re.sub(r"\) ", ")", " ".join(re.sub(";[^\n]*", "", text).split())))
    *declared, asserted = parsed(text)
    names = [name for word, name, kind in declared if (word, kind) == ("declare-const", "Real")]
    K, k = algorithm.program.templates, algorithm.program.bits
    assert names == [f"X_{j}" for j in range(K)] + [f"Y_{i}" for i in range(k)]
    word, (junction, *clauses) = asserted
    assert (word, junction) == ("assert", "or")
    assert all(clause[0] == "and" and all(part[0] in ("<=", ">=") for part in clause[1:]) for clause in clauses)
    states = points(clauses, K)
    sums = outputs(folder / "p.onnx", np.array(states, dtype=np.float32))
    wrong = sum(
        holds([junction, *clauses], dict(zip(names, [*state, *map(float, row)], strict=True)))
        for state, row in zip(states, sums, strict=True)
    )
    return wrong, len(states)


@pytest.mark.parametrize("algorithm", [addition(1), addition(2), parse(ODD)], ids=["addition 1", "addition 2", "odd"])
def test_satisfiable_just_where_the_network_is_wrong(algorithm: Algorithm, tmp_path: Path) -> None:
    network = whole(algorithm)
    certificate = certify_network(algorithm, network)
    nothing = {n: count for n, count, _ in certificate.by_n}.get(0, 0)
    assert certificate.certified
    assert solutions(algorithm, network, tmp_path) == (0, certificate.states - nothing)
    for bit in range(algorithm.program.bits):
        last = network.last.copy()
        last[bit] = -last[bit]
        broken = replace(network, last=last)
        found = certify_network(algorithm, broken)
        assert solutions(algorithm, broken, tmp_path) == (found.wrong, found.states - nothing)
    assert certify_network(algorithm, replace(network, last=-network.last)).wrong > 0


@pytest.mark.parametrize("must", [True, False])
@pytest.mark.parametrize("above", [0, 1])
def test_at_the_threshold(must: bool, above: int, tmp_path: Path) -> None:
    """A sum that equals its threshold is not above it, one more is: for bits that must be on, and that must not."""
    algorithm = addition(2)
    network, domain, sums = whole(algorithm), StatesDomain(algorithm.program), []

    def look(matched: Any, *_: Any) -> None:
        full = matched[matched.sum(axis=1) == 4]
        sums.extend(ExactSums(network, algorithm.program)(full)[Truth(algorithm.program)(full) == must].tolist())

    domain.visit(0, domain.size, look)
    thresholds = network.thresholds.copy()
    thresholds[3] = (min(sums) if must else max(sums)) - above
    moved = replace(network, thresholds=thresholds)
    found = certify_network(algorithm, moved)
    assert found.certified == (must == bool(above))
    assert solutions(algorithm, moved, tmp_path) == (found.wrong, found.states - 1)


def test_too_many_states(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"a property of 262144 states has 231211008 comparisons, more than the 10,000"
    ):
        save_vnnlib(whole(addition(6), 64), addition(6).program, tmp_path / "p.vnnlib")
    assert not list(tmp_path.iterdir())


def test_sums_beyond_float32(tmp_path: Path) -> None:
    network = whole(addition(2), 64)
    high = replace(network, thresholds=np.full_like(network.thresholds, (1 << 24) - 1))
    with pytest.raises(InputError, match="float32 is exact below 16,777,216 only"):
        save_vnnlib(high, addition(2).program, tmp_path / "p.vnnlib")
    assert not list(tmp_path.iterdir())


def test_a_network_of_cells_is_asked_for_its_local_states_alone(tmp_path: Path) -> None:
    """Side by side, where no network was ever asked, its cells need not be right."""
    cells = train_cells(addition(4))
    pattern = as_algorithm(cells.pattern)
    found = certify_network(pattern, cells.network)
    nothing = {n: count for n, count, _ in found.by_n}.get(0, 0)
    assert (found.domain, found.certified) == ("cells", True)
    assert solutions(pattern, cells.network, tmp_path) == (0, found.states - nothing)
    assert (tmp_path / "p.vnnlib").read_text().startswith("; A local state of one kind of cells, and a port of it")
    ports = []
    domain = CellsDomain(pattern.program)
    domain.visit(
        0, domain.size, lambda matched, *_: ports.append(matched.any(axis=1).sum() * (_[-1].stop - _[-1].start))
    )
    assert save_vnnlib(cells.network, pattern.program, tmp_path / "p.vnnlib").cases == sum(ports)  # its own ports only
    broken = replace(cells.network, last=-cells.network.last)
    assert solutions(pattern, broken, tmp_path)[0] == certify_network(pattern, broken).wrong > 0
