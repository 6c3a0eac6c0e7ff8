"""Networks made elsewhere: their operators against float32 in many orders of summation, and against onnxruntime."""

import itertools
import pickle
from pathlib import Path

import numpy as np
import pytest
from own_networks import as_function, as_module, as_onnx, layers_of

from bitwright import InputError, Model, addition, export, train
from bitwright.networks.external import as_model
from bitwright.networks.external.graph import Node, OperatorGraph

EVERY = np.array(list(itertools.product((0, 1), repeat=8)))


def in_float32(graph: OperatorGraph, rows: np.ndarray, order: np.random.Generator) -> np.ndarray:
    """Gemm, Relu, Gemm in float32, sums taken one term after the other in some order."""
    first, bias, last, end = graph.constants.values()
    found = rows.astype(np.float32)
    for weights, more in ((first, bias), (last, end)):
        total = np.zeros((len(rows), len(weights)), dtype=np.float32)
        for term in order.permutation(weights.shape[1]):
            total += found[:, [term]] * weights[:, term]
        found = np.maximum(total + more, 0) if weights is first else total + more
    return found


def random_graph(seed: int, scale: float = 1.0, digits: int | None = None) -> OperatorGraph:
    rng = np.random.default_rng(seed)
    shapes = {"first": (30, 8), "bias": (30,), "last": (3, 30), "end": (3,)}
    weights = {name: rng.normal(0, scale, shape) for name, shape in shapes.items()}
    if digits is not None:
        weights = {name: np.rint(value * 2**digits) / 2**digits for name, value in weights.items()}
    nodes = (
        Node("Gemm", ("rows", "first", "bias"), "before", {"transB": 1}),
        Node("Relu", ("before",), "hidden"),
        Node("Gemm", ("hidden", "last", "end"), "out", {"transB": 1}),
    )
    return OperatorGraph(nodes, {k: v.astype(np.float32) for k, v in weights.items()}, "rows", "float32", "out")


def test_no_order_of_summation_is_further_off_than_the_bound() -> None:
    off = []
    for seed in range(5):
        graph = random_graph(seed, 10.0**seed)
        found, order = graph(EVERY), np.random.default_rng(seed)
        for _ in range(10):
            differs = np.abs(in_float32(graph, EVERY, order) - found.values)
            assert (differs <= found.error).all()
            off.append(float((differs / found.error).max()))
    assert max(off) > 0.01  # the bound is no mere infinity


def test_multiples_of_a_power_of_two_are_exact_in_every_order_and_the_bound_is_stated() -> None:
    graph, order = random_graph(1, digits=6), np.random.default_rng(0)
    analysis = graph.analysis(8)
    assert analysis.exact
    assert analysis.grid == 12
    assert "multiples of 2^-12 or coarser" in analysis.sentence
    for _ in range(5):
        np.testing.assert_array_equal(in_float32(graph, EVERY, order), graph(EVERY).values)
    first, bias, last, end = (np.abs(value.astype(np.float64)) for value in graph.constants.values())
    assert analysis.units == ((last @ (first.sum(axis=1) + bias)) + end).max() * 2**12
    too_large = random_graph(1, scale=100.0, digits=6).analysis(8)  # beyond 2^24 units
    assert not too_large.exact


def test_integer_operators_give_what_onnxruntime_gives(tmp_path: Path) -> None:
    adder = train(addition(4))
    for name, what in (("cells.onnx", None), ("step.onnx", addition(3))):
        export(adder, tmp_path / name, what)
        model = as_model(tmp_path / name)
        columns = model.source.columns  # type: ignore[union-attr]
        rows = np.array(list(itertools.product((0, 1), repeat=columns or 0)))
        rows = rows if what is not None else rows[rows.sum(axis=1) <= 4]  # as many matches as there are blocks
        analysis = model.analysis(rows.shape[1])
        assert analysis.sentence == "integers"
        np.testing.assert_array_equal(model.answers(rows).outputs, model.run(rows))
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.answers(rows[:9]).outputs, model.run(rows[:9]))


def test_layers_come_out_alike_in_every_form(tmp_path: Path) -> None:
    layers = layers_of(addition(3).program)
    rows = EVERY[:, : layers[0].shape[1]]
    wanted = as_function(layers)(rows)
    for form in (as_module(layers), as_onnx(layers, tmp_path / "x.onnx")):
        model = as_model(form)
        analysis = model.analysis(rows.shape[1])
        assert analysis.exact
        assert not model.answers(rows).error.any()
        np.testing.assert_array_equal(model.answers(rows).outputs, wanted)
        np.testing.assert_array_equal(model.run(rows), wanted)
    assert as_model(as_function(layers)).analysis(rows.shape[1]) is None


@pytest.mark.parametrize(
    ("nodes", "constants", "why"),
    [
        ((Node("Sigmoid", ("rows",), "out"),), {}, "the operator Sigmoid"),
        ((Node("Add", ("rows", "one"), "out"),), {"one": np.array(127, dtype=np.int8)}, "leave the range of int8"),
        ((Node("Cast", ("rows",), "out", {"to": "float16"}),), {}, "a cast to float16"),
        ((Node("MatMul", ("rows", "rows"), "out"),), {}, "constant weights"),
        ((Node("Sub", ("count", "count"), "out"),), {"count": np.array([1], dtype=np.uint8)}, "a difference"),
    ],
)
def test_what_is_not_certain_is_not_read(nodes: tuple[Node, ...], constants: dict, why: str) -> None:
    with pytest.raises(InputError, match=why):
        OperatorGraph(nodes, constants, "rows", "int8", "out").analysis(2)


def test_a_comparison_of_rounded_numbers_is_open_where_it_is_close() -> None:
    third = np.array([[1 / 3], [1 / 3], [1 / 3]], dtype=np.float32)
    nodes = (Node("MatMul", ("rows", "third"), "sum"), Node("Greater", ("sum", "one"), "out"))
    graph = OperatorGraph(nodes, {"third": third, "one": np.array(1, dtype=np.float32)}, "rows", "float32", "out")
    found = graph(np.array([[0, 0, 0], [1, 1, 1]]))
    assert found.error.ravel().tolist() == [0, 1]


def test_files_that_are_no_models_are_refused_in_a_line(tmp_path: Path) -> None:
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"nonsense")
    for given, why in (
        (broken, "is not a readable ONNX model"),
        (tmp_path / "none.onnx", "there is no network file"),
        (3, "a PyTorch module or a function"),
    ):
        with pytest.raises(InputError, match=why):
            Model(given)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="'cells'"):
        Model(lambda rows: rows, reads="cell")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="finite"):
        Model(lambda rows: rows, threshold=float("nan"))
    with pytest.raises(InputError, match="NaN or infinite"):
        as_model(lambda rows: rows * np.inf).run(np.ones((1, 2)))
    with pytest.raises(InputError, match="outputs of shape"):
        as_model(lambda rows: rows[0]).run(np.ones((2, 2)))
