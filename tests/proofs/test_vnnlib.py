"""Properties for verifiers are satisfiable just where the network is wrong: by a naive reader, and by Marabou."""

import re
import warnings
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import for_each
from long import LONG
from whole import whole

import bitwright
from bitwright import Algorithm, InputError, addition, parse
from bitwright.networks import IntegerNetwork
from bitwright.networks.integer import columns_of
from bitwright.proofs.exhaustion.certificate import certify_network
from bitwright.proofs.exhaustion.domains import StatesDomain
from bitwright.proofs.exhaustion.vnnlib import save_vnnlib
from bitwright.rules import Program
from bitwright.rules.pattern import every_cell

onnx = pytest.importorskip("onnx")
needs_marabou = pytest.mark.skipif(find_spec("maraboupy") is None, reason="needs Marabou: pip install maraboupy")
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


def parsed(text: str) -> list[Any]:
    """The statements of a file as nested lists; a comment is a line of its own."""
    stack: list[list[Any]] = [[]]
    for token in re.findall(r"[()]|[^\s()]+", "\n".join(row for row in text.split("\n") if not row.startswith(";"))):
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    (statements,) = stack
    return statements


def read_property(text: str) -> tuple[int, int, list[float], list[tuple[str, int, float]]]:
    """Numbers of inputs and outputs, the point that inputs are fixed to, and the comparisons of which one must hold."""
    statements = parsed(text)
    declared = [name for word, name, *_ in statements if word == "declare-const"]
    inputs = [name for name in declared if name.startswith("X_")]
    assert declared == [f"X_{j}" for j in range(len(inputs))] + [f"Y_{i}" for i in range(len(declared) - len(inputs))]
    assert all(kind == "Real" for word, _, *more in statements if word == "declare-const" for kind in more)
    *bounds, (junction, *clauses) = [what for word, what, *_ in statements if word == "assert"]
    assert junction == "or"
    assert all(len(clause) == 2 and clause[0] == "and" for clause in clauses)
    asked = [(sign, int(name.removeprefix("Y_")), float(value)) for _, (sign, name, value) in clauses]
    return len(inputs), len(declared) - len(inputs), point(bounds, r"X_(\d+)", len(inputs)), asked


def point(bounds: list[Any], form: str, inputs: int) -> list[float]:
    """Each input is bounded from both sides to one number."""
    low, high = np.full(inputs, -np.inf), np.full(inputs, np.inf)
    for sign, name, value in bounds:
        found = re.fullmatch(form, name)
        assert found
        (high if sign == "<=" else low)[int(found[1])] = float(value)
    assert (low == high).all()
    return list(low.tolist())


def outputs(path: Path, inputs: list[float]) -> Any:
    given = {"inputs": np.array([inputs], dtype=np.float32)}
    if find_spec("onnxruntime") is not None:
        import onnxruntime

        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        return session.run(None, given)[0][0]
    from onnx.reference import ReferenceEvaluator

    return ReferenceEvaluator(onnx.load(path)).run(None, given)[0][0]


def instances(folder: Path) -> dict[int, tuple[Path, Path]]:
    """The model and the property of every state that a folder has one of."""
    found = {}
    for line in (folder / "instances.csv").read_text().splitlines():
        model, property_, seconds = line.split(",")
        assert int(seconds) > 0
        found[int(Path(property_).stem.removeprefix("state_"))] = folder / model, folder / property_
    assert len(found) == len(list((folder / "vnnlib").iterdir()))
    return found


def wrong_states(network: IntegerNetwork, program: Program) -> tuple[set[int], set[int]]:
    """States in which a bit is wrong by definition, G > T against the rules, and all in which something matches."""
    wrong, some, columns = set(), set(), columns_of(network, program)
    domain = StatesDomain(every_cell(program))

    def look(matched: Any, numbers: Any, _step: int, _times: int, own: slice) -> None:
        for number, row in zip(numbers.tolist(), matched.astype(np.int64), strict=True):
            if not row.any():
                continue
            some.add(number)
            G = network.last.astype(np.int64) @ np.maximum(network.first.astype(np.int64) @ row, 0)
            is_on = network.thresholds[row.sum() - 1][columns] < G
            must = [any(row[j] and bit in program.writes(j) for j in range(len(row))) for bit in range(program.bits)]
            if (is_on != must)[own].any():
                wrong.add(number)

    domain.visit(0, domain.size, look)
    return wrong, some


def solutions(algorithm: Algorithm, network: IntegerNetwork, folder: Path) -> set[int]:
    """The states whose property has a solution, as a naive reader sees it; there is one for each that matches."""
    place = folder / network.digest
    covered = save_vnnlib(network, algorithm.program, place)
    found = instances(place)
    assert len(found) == covered.properties
    assert set(found) == wrong_states(network, algorithm.program)[1]
    sat = set()
    for number, (model, property_) in found.items():
        inputs, count, at, asked = read_property(property_.read_text())
        assert (inputs, count) == (algorithm.program.templates, algorithm.program.bits)
        sums = outputs(model, at)
        if any(sums[bit] <= limit if sign == "<=" else sums[bit] >= limit for sign, bit, limit in asked):
            sat.add(number)
    return sat


@for_each("algorithm", [addition(1), parse(ODD), *[addition(2)] * LONG])
def test_satisfiable_just_where_the_network_is_wrong(algorithm: Algorithm, tmp_path: Path) -> None:
    network = whole(algorithm.program, 256)
    assert certify_network(algorithm, network).certified
    assert solutions(algorithm, network, tmp_path) == set()
    for bit in range(algorithm.program.bits):
        last = network.last.copy()
        last[bit] = -last[bit]
        broken = replace(network, last=last)
        wrong = wrong_states(broken, algorithm.program)[0]
        assert solutions(algorithm, broken, tmp_path) == wrong
        assert len(wrong) == certify_network(algorithm, broken).wrong
    assert certify_network(algorithm, replace(network, last=-network.last)).wrong > 0


def by_marabou(folder: Path) -> dict[int, str]:
    """What Marabou answers for each state that a folder has a property of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a reader of other files that is not installed
        from maraboupy import Marabou, MarabouCore
    answers = {}
    for number, (model, property_) in instances(folder).items():
        query = Marabou.read_onnx(str(model)).getInputQuery()
        MarabouCore.loadProperty(query, str(property_))
        answers[number] = MarabouCore.solve(query, Marabou.createOptions(verbosity=0), "")[0]
    return answers


def one_weight_off(algorithm: Algorithm) -> IntegerNetwork:
    """The network with one weight of the last layer changed, so that just one state comes out wrong."""
    network = whole(algorithm.program, 64)
    for bit, unit in np.ndindex(network.last.shape):
        for value in (127, -127):
            last = network.last.copy()
            last[bit, unit] = value
            broken = replace(network, last=last)
            if len(wrong_states(broken, algorithm.program)[0]) == 1:
                return broken
    raise AssertionError("no weight does it")


@needs_marabou
def test_marabou_finds_the_state_that_is_wrong_and_no_other(tmp_path: Path) -> None:
    algorithm = addition(1)
    good, broken = whole(algorithm.program, 64), one_weight_off(algorithm)
    assert np.count_nonzero(good.last != broken.last) == 1
    save_vnnlib(good, algorithm.program, tmp_path / "good")
    assert by_marabou(tmp_path / "good") == dict.fromkeys(range(1, 8), "unsat")  # 0 matches nothing
    save_vnnlib(broken, algorithm.program, tmp_path / "broken")
    (wrong,) = wrong_states(broken, algorithm.program)[0]
    assert by_marabou(tmp_path / "broken") == dict.fromkeys(range(1, 8), "unsat") | {wrong: "sat"}


def test_what_a_folder_covers(tmp_path: Path) -> None:
    network, program = whole(addition(2).program, 64), addition(2).program
    covered = save_vnnlib(network, program, tmp_path / "all")
    assert sorted(instances(tmp_path / "all")) == list(range(1, 64))
    assert "State 60 of 64" in (tmp_path / "all" / "vnnlib" / "state_60.vnnlib").read_text()
    assert covered.text == "63 files with properties of all 64 states; 1 matches no example and needs no property"
    with pytest.raises(InputError, match=r"folder.*empty"):
        save_vnnlib(network, program, tmp_path / "all")
    network, program = whole(addition(6).program, 64), addition(6).program
    with pytest.raises(InputError, match=r"262144.*10,000.*cells"):
        save_vnnlib(network, program, tmp_path / "p")
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize("threshold", [(1 << 24) - 1, 1 << 23])
def test_sums_beyond_float32(threshold: int, tmp_path: Path) -> None:
    network = whole(addition(2).program, 64)
    high = replace(network, thresholds=np.full_like(network.thresholds, threshold))
    with pytest.raises(InputError, match=r"exact (in float32 |only )?below (16,777,216|8,388,608)"):
        save_vnnlib(high, addition(2).program, tmp_path / "p")
    assert not list(tmp_path.iterdir())


def test_a_network_of_cells_is_asked_for_its_local_states_alone(tmp_path: Path) -> None:
    """Side by side, where no network was ever asked, its cells need not be right."""
    cells = bitwright.train(addition(4))
    pattern = Algorithm("cells", cells.pattern.program)
    found = certify_network(pattern, cells.weights)
    assert (found.domain, found.certified) == ("cells", True)
    assert solutions(pattern, cells.weights, tmp_path) == set()
    place = tmp_path / cells.weights.digest
    assert (place / "vnnlib" / "state_1.vnnlib").read_text().startswith("; Local state 1 of ")
    ports = 0
    domain = StatesDomain(cells.pattern)

    def look(matched: Any, _numbers: Any, _step: int, _times: int, own: slice) -> None:
        nonlocal ports
        ports += int(matched.any(axis=1).sum()) * (own.stop - own.start)

    domain.visit(0, domain.size, look)
    asked = [read_property(property_.read_text())[3] for _, property_ in instances(place).values()]
    assert sum(map(len, asked)) == ports  # its own ports only
    broken = replace(cells.weights, last=-cells.weights.last)
    assert len(solutions(pattern, broken, tmp_path)) == certify_network(pattern, broken).wrong > 0
