"""Networks made elsewhere that compute otherwise than a careless reader of their files would say: none is certified."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from own_networks import as_module, as_onnx, layers_of, onnx_of

from bitwright import InputError, Model, addition, certify
from bitwright.networks.external import as_model
from bitwright.networks.external.graph import Node, OperatorGraph
from bitwright.networks.external.tensors import NotReadError

PLAIN = addition(3).program
LAYERS = layers_of(PLAIN)
make = helper.make_node
FLAT = np.array([-1])


def number(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


def ending(path: Path, nodes: list[Any], **tensors: Any) -> Path:
    """The right layers, and more operators on their outputs `sums`."""
    opset = tensors.pop("opset", 17)
    first, bias, last = (np.float32(part) for part in LAYERS)
    layers = [
        make("Gemm", ["rows", "first", "bias"], ["before"], transB=1),
        make("Relu", ["before"], ["hidden"]),
        make("MatMul", ["hidden", "last"], ["sums"]),
    ]
    kind, held = tensors.pop("kind", TensorProto.FLOAT), {"first": first, "bias": bias, "last": last.T}
    return onnx_of([*layers, *nodes], {**held, **tensors}, path, (8, 5), opset, kind)


def outcome(path: Path) -> str:
    """The verdict, or the line of a refusal."""
    try:
        return certify(PLAIN, Model(path)).verdict
    except InputError as error:
        return str(error)


def scaled(*factors: float) -> tuple[list[Any], dict[str, Any]]:
    """Products by these factors of the identity, and whether anything is left."""
    at, nodes, tensors = "sums", [], {"none": number(0)}
    for place, factor in enumerate(factors):
        nodes.append(make("MatMul", [at, f"by{place}"], [f"at{place}"]))
        tensors[f"by{place}"], at = np.eye(5, dtype=np.float32) * np.float32(factor), f"at{place}"
    return [*nodes, make("Greater", [at, "none"], ["out"])], tensors


@pytest.mark.parametrize("factors", [(2.0**-64,) * 3, (2.0**-64,) * 2, (2.0**-100, 2.0**-27), (2.0**-63, 2.0**-64)])
def test_numbers_that_may_be_taken_for_0_are_not_exact(factors: tuple[float, ...], tmp_path: Path) -> None:
    nodes, tensors = scaled(*factors)
    found = certify(PLAIN, Model(ending(tmp_path / "small.onnx", nodes, kind=TensorProto.BOOL, **tensors)))
    assert found.verdict in ("refuted", "not proved")


OF_ALL = (  # more where the most of all rows is below three
    make("ReduceMax", ["line"], ["most"], axes=[1], keepdims=1),
    make("Less", ["most", "three"], ["small"]),
    make("Cast", ["small"], ["more"], to=1),
    make("Add", ["sums", "more"], ["out"]),
)
MIXED: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "Reshape to one row": (
        [
            make("ReduceSum", ["rows", "axis"], ["count"], keepdims=1),
            make("Reshape", ["count", "flat"], ["line"]),
            *OF_ALL,
        ],
        {"axis": np.array([1]), "flat": np.array([1, -1]), "three": number(3)},
    ),
    "Reshape and broadcasting": (
        [
            make("ReduceSum", ["rows", "axis"], ["count"], keepdims=1),
            make("Reshape", ["count", "flat"], ["line"]),
            make("Less", ["count", "line"], ["pairs"]),  # (batch, batch)
            make("Cast", ["pairs"], ["numbers"], to=1),
            make("ReduceMax", ["numbers"], ["larger"], axes=[1], keepdims=1),
            make("Sub", ["one", "larger"], ["largest"]),
            make("ReduceSum", ["rows", "axis"], ["again"], keepdims=1),
            make("Less", ["again", "three"], ["small"]),
            make("Cast", ["small"], ["few"], to=1),
            make("Mul", ["largest", "few"], ["more"]),
            make("Add", ["sums", "more"], ["out"]),
        ],
        {"axis": np.array([1]), "flat": FLAT, "one": number(1), "three": number(3)},
    ),
    "Unsqueeze before the rows": (
        [
            make("ReduceSum", ["rows", "axis"], ["count"], keepdims=0),
            make("Unsqueeze", ["count", "front"], ["line"]),  # (1, batch)
            *OF_ALL,
        ],
        {"axis": np.array([1]), "front": np.array([-2]), "three": number(3)},
    ),
    "a constant with more axes": (
        [
            make("ReduceSum", ["rows", "axis"], ["count"], keepdims=1),
            make("Add", ["count", "deep"], ["stack"]),  # (1, batch, 1)
            make("ReduceMax", ["stack"], ["line"], axes=[2], keepdims=0),
            *OF_ALL,
        ],
        {"axis": np.array([1]), "deep": np.zeros((1, 1, 1), np.float32), "three": number(3)},
    ),
}


@pytest.mark.parametrize("how", MIXED)
def test_a_network_that_mixes_rows_is_judged_by_each_state_alone(how: str, tmp_path: Path) -> None:
    nodes, tensors = MIXED[how]
    network = ending(tmp_path / "mixed.onnx", nodes, **tensors)
    found = certify(PLAIN, Model(network))
    assert (found.verdict, found.arithmetic.split()[0]) == ("refuted", "onnxruntime")
    assert as_model(network).analysis(8) is None
    table = Model.table(PLAIN)
    alone = as_model(network).run(table.inputs) > 0.5
    together = as_model(network).run(table.inputs, alone=False) > 0.5
    assert ((together == table.labels) | ~table.asked).all()  # all states at once come out right,
    assert found.wrong == ((alone != table.labels) & table.asked).any(axis=1).sum()  # and these alone do not


def test_modules_and_functions_that_mix_rows_are_no_better() -> None:
    import torch

    class Mixing(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = as_module(LAYERS)

        def forward(self, rows: Any) -> Any:
            return self.layers(rows) + (rows.sum(1).max() < 3)

    def right_alone(rows: np.ndarray) -> np.ndarray:
        return as_model(as_module(LAYERS)).run(rows) + (len(rows) > 1)

    assert certify(PLAIN, Mixing()).verdict == "refuted"
    found = certify(PLAIN, Model(right_alone))
    assert (found.verdict, found.wrong) == ("not proved", 0)
    assert "decides a state differently in a batch than alone" in str(found)


def test_a_runtime_that_gives_something_else_than_the_file_says_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bitwright.networks.external.onnx_reader import OnnxModel

    network, run = as_onnx(LAYERS, tmp_path / "adder.onnx"), OnnxModel.run
    assert certify(PLAIN, Model(network)).verdict == "certified"
    for change, verdict in ((2.0**-12, "not proved"), (1.0, "refuted")):
        for where in (True, False):

            def other(model: Any, rows: Any, alone: bool, change: float = change, where: bool = where) -> Any:
                return run(model, rows, alone) + change * (alone == where)

            monkeypatch.setattr(OnnxModel, "run", other)
            found = certify(PLAIN, Model(network))
            assert found.verdict == (verdict if where else "not proved")
            assert found.verdict == "refuted" or "; but onnxruntime" in found.arithmetic


def test_factors_of_float64_are_not_proved() -> None:
    """onnxruntime folds them into a matrix product as float32, where these are 0 together."""
    tiny, node = np.array([2.0**-100]), Node("Mul", ("sum", "tiny"), "out")
    for kind in (np.float32, np.float64):
        constants = {"weights": np.ones((2, 1), kind), "tiny": tiny.astype(kind)}
        name = np.dtype(kind).name
        graph = OperatorGraph((Node("MatMul", ("rows", "weights"), "sum"), node), constants, "rows", name, "out")
        if kind == np.float32:
            assert not graph.analysis(2).exact  # its grid is too fine to be looked at, and its error bounded
        else:
            with pytest.raises(NotReadError, match=r"64.*factor"):
                graph.analysis(2)


@pytest.mark.parametrize(("kind", "least"), [(np.int8, -128), (np.int16, -(1 << 15)), (np.int32, -(1 << 31))])
def test_the_least_integer_has_no_negative(kind: type, least: int) -> None:
    def graph(value: int) -> OperatorGraph:
        nodes = (Node("Min", ("rows", "low"), "least"), Node("Neg", ("least",), "out"))
        return OperatorGraph(nodes, {"low": np.array([value], kind)}, "rows", np.dtype(kind).name, "out")

    assert graph(least + 1).analysis(2).exact
    with pytest.raises(NotReadError, match=r"negative.*leave"):
        graph(least).analysis(2)


def test_other_ends_of_integer_types_are_seen_for_all_inputs() -> None:
    """The states at hand may all be harmless: what counts are all inputs."""
    graphs = {
        "Cast to uint8": (Node("Sub", ("rows", "one"), "less"), Node("Cast", ("less",), "out", {"to": "uint8"})),
        "Mul": (Node("Mul", ("rows", "large"), "a"), Node("Mul", ("a", "large"), "out")),
        "ReduceSum": (Node("Mul", ("rows", "large"), "a"), Node("ReduceSum", ("a", "axis"), "out", {"keepdims": 1})),
    }
    constants = {"one": np.array([1], np.int8), "large": np.array([100], np.int8), "axis": np.array([1])}
    for nodes in graphs.values():
        with pytest.raises(NotReadError, match="range"):
            OperatorGraph(nodes, constants, "rows", "int8", "out").analysis(2)


def in_float32(terms: np.ndarray) -> float:
    total = np.float32(0)
    for term in terms.astype(np.float32):
        total += term
    return float(total)


@pytest.mark.parametrize(
    "nodes",
    [
        (Node("Gemm", ("rows", "weights", "bias"), "out"),),
        (Node("MatMul", ("rows", "weights"), "sum"), Node("Add", ("sum", "bias"), "out")),
        (Node("MatMul", ("rows", "weights"), "sum"), Node("Sub", ("sum", "less"), "out")),
        (
            Node("MatMul", ("rows", "weights"), "sum"),
            Node("Reshape", ("sum", "shape"), "same"),
            Node("Add", ("bias", "same"), "out"),
        ),
        (Node("Gemm", ("rows", "weights", "bias"), "sum"), Node("Mul", ("rows", "sum"), "out")),
    ],
)
def test_a_bias_may_be_added_first(nodes: tuple[Node, ...]) -> None:
    """One large bias, and many weights each of which is then lost."""
    weights, bias = np.full((200, 1), 2.0**-7 * (1 + 2.0**-10), np.float32), number(2.0**20 / 3)
    constants = {"weights": weights, "bias": bias, "less": -bias, "shape": np.array([-1, 1])}
    graph = OperatorGraph(nodes, constants, "rows", "float32", "out")
    found = graph(np.ones((1, 200)))
    first, last = in_float32(np.append(bias, weights)), in_float32(np.append(weights, bias))
    assert first != last
    for given in (first, last):
        assert (np.abs(given - found.values) <= found.error).all()


def outside(path: Path, tensor: Any, numbers: np.ndarray) -> Any:
    """A tensor whose numbers are in a file of their own."""
    found = numpy_helper.from_array(numbers, tensor)
    (path.parent / f"{tensor}.bin").write_bytes(found.raw_data)
    found.ClearField("raw_data")
    found.data_location = TensorProto.EXTERNAL
    found.external_data.add(key="location", value=f"{tensor}.bin")
    return found


@pytest.mark.parametrize("of", ["constant", "initializer"])
def test_the_digest_covers_numbers_in_other_files(of: str, tmp_path: Path) -> None:
    path, part = tmp_path / "outside.onnx", tmp_path / "part"
    bare, zeros = ending(path, [make("Add", ["sums", "more"], ["out"])], more=number(0, 0, 0, 0, 0)), np.zeros(5)
    model = onnx.load(bare)
    kept = [tensor for tensor in model.graph.initializer if tensor.name != "more"]
    model.graph.ClearField("initializer")
    held = outside(path, "more", np.float32(zeros))
    model.graph.initializer.extend(kept if of == "constant" else [*kept, held])
    if of == "constant":
        model.graph.node.insert(0, make("Constant", [], ["more"], value=held))
    path.write_bytes(model.SerializeToString())
    found = certify(PLAIN, Model(path), resume=part)
    assert found.verdict == "certified"
    (tmp_path / "more.bin").write_bytes(np.ones(5, np.float32).tobytes())
    assert as_model(path).digest != found.network_sha256
    with pytest.raises(InputError, match="another"):
        certify(PLAIN, Model(path), resume=part)
    assert certify(PLAIN, Model(path)).verdict == "refuted"


def test_only_a_module_whose_digest_covers_it_is_resumed(tmp_path: Path) -> None:
    import torch

    class Own(torch.nn.Module):
        def __init__(self, scale: float, shift: float) -> None:
            super().__init__()
            self.layers, self.scale = as_module(LAYERS), scale
            self.register_buffer("shift", torch.tensor(shift), persistent=False)

        def forward(self, rows: Any) -> Any:
            return self.layers(rows) * self.scale + self.shift

    assert certify(PLAIN, Own(1.0, 0.0)).verdict == "tested"
    assert certify(PLAIN, Own(0.0, 0.0)).verdict == certify(PLAIN, Own(1.0, 1.0)).verdict == "refuted"
    assert as_model(Own(1.0, 0.0)).digest != as_model(Own(1.0, 1.0)).digest
    with pytest.raises(InputError, match="ONNX"):
        certify(PLAIN, Own(1.0, 0.0), resume=tmp_path / "part")
    right = as_module(LAYERS)
    assert certify(PLAIN, Model(right), resume=tmp_path / "part").verdict == "certified"
    replaced = as_module(LAYERS)
    replaced[2].__dict__["weight"] = torch.nn.Parameter(torch.ones_like(right[2].weight))  # not the one it has stored
    assert as_model(replaced).digest != as_model(right).digest
    assert certify(PLAIN, Model(replaced)).verdict == "refuted"


def _zeros(*_: Any) -> Any:
    import torch

    return torch.zeros(1, 5)


CHANGED: dict[str, Callable[[Any], Any]] = {
    "a hook of the module": lambda module: module.register_forward_hook(_zeros),
    "a hook of a layer": lambda module: module[2].register_forward_hook(_zeros),
    "a hook before a layer": lambda module: module[2].register_forward_pre_hook(lambda _, rows: 0 * rows[0]),
    "a forward of its own": lambda module: setattr(module, "forward", _zeros),
    "a forward of a layer": lambda module: setattr(module[2], "forward", _zeros),
}


@pytest.mark.parametrize("how", CHANGED)
def test_a_module_whose_call_does_something_else_is_not_read_as_its_layers(how: str) -> None:
    module = as_module(LAYERS)
    assert as_model(module).covered
    CHANGED[how](module)
    assert as_model(module).analysis(8) is None
    assert not as_model(module).covered


LAYERS_OF_TORCH: dict[str, Callable[[Any], Any]] = {
    "Flatten of the batch": lambda torch: torch.nn.Flatten(0, -1),
    "Flatten of nothing": lambda torch: torch.nn.Flatten(1, 1),
    "Flatten from the third axis": lambda torch: torch.nn.Flatten(2, -1),
    "Sigmoid": lambda torch: torch.nn.Sigmoid(),
}


@pytest.mark.parametrize("layer", LAYERS_OF_TORCH)
def test_only_layers_with_known_settings_are_read(layer: str) -> None:
    import torch

    module = torch.nn.Sequential(as_module(LAYERS), LAYERS_OF_TORCH[layer](torch))
    assert as_model(module).analysis(8) is None
    assert not as_model(module).covered


UNKNOWN: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "allowzero": ([make("Reshape", ["sums", "shape"], ["out"], allowzero=1)], {"shape": np.array([-1, 5])}),
    "broadcast": (
        [make("Add", ["sums", "more"], ["out"], broadcast=1, axis=1)],
        {"more": number(*[0] * 5), "opset": 6},
    ),
    "Add of set 6": ([make("Add", ["sums", "more"], ["out"])], {"more": number(*[0] * 5), "opset": 6}),
    "a fixed number of rows": ([make("Reshape", ["sums", "shape"], ["out"])], {"shape": np.array([1, 5])}),
    "Clip of set 6": ([make("Clip", ["sums"], ["out"], min=0.0, max=9.0)], {"opset": 9}),
    "an input left out": ([make("Max", ["sums", "more", ""], ["out"])], {"more": number(0)}),
    "another domain": ([make("Relu", ["sums"], ["out"], domain="ai.onnx.ml")], {}),
    "a later set": ([make("Identity", ["sums"], ["out"])], {"opset": 27}),
    "other types": ([make("Add", ["sums", "more"], ["out"])], {"more": np.zeros(5, np.int32)}),
    "other shapes": ([make("Add", ["sums", "more"], ["out"])], {"more": np.zeros(4, np.float32)}),
    "a row for each of the batch": ([make("Add", ["sums", "more"], ["out"])], {"more": np.zeros((2, 1), np.float32)}),
    "a transposed batch": ([make("Transpose", ["sums"], ["t"]), make("Transpose", ["t"], ["out"])], {}),
    "a random operator": ([make("RandomNormalLike", ["sums"], ["r"]), make("Add", ["sums", "r"], ["out"])], {}),
}


@pytest.mark.parametrize("what", UNKNOWN)
def test_what_is_not_in_the_table_proves_nothing(what: str, tmp_path: Path) -> None:
    nodes, tensors = UNKNOWN[what]
    path = ending(tmp_path / "unknown.onnx", nodes, **tensors)
    found = outcome(path)
    assert found.isprintable()
    assert found != "certified"
    if "is not a readable ONNX model" not in found:
        assert as_model(path).analysis(8) is None


def test_fields_of_a_file_that_are_not_known_prove_nothing(tmp_path: Path) -> None:
    path = as_onnx(LAYERS, tmp_path / "adder.onnx")
    assert as_model(path).analysis(8) is not None

    def functions(model: Any) -> None:
        model.functions.append(helper.make_function("", "Relu", ["x"], ["y"], [make("Neg", ["x"], ["y"])], []))

    def sets(model: Any) -> None:
        model.opset_import.append(helper.make_opsetid("ai.onnx", 5))

    def unknown(model: Any) -> None:
        model.MergeFromString(b"\xfa\x3f\x01x")  # field 1023

    for change in (functions, sets, unknown):
        model = onnx.load(path)
        change(model)
        other = tmp_path / "other.onnx"
        other.write_bytes(model.SerializeToString())
        assert outcome(other) != "certified"


def test_a_model_that_crashes_the_runtime_ends_in_a_line(tmp_path: Path) -> None:
    nodes, tensors = UNKNOWN["an input left out"]
    path = ending(tmp_path / "crash.onnx", nodes, **tensors)
    model = as_model(as_onnx(LAYERS, tmp_path / "adder.onnx"))
    for _ in range(2):
        with pytest.raises(InputError, match=r"crash\.onnx") as caught:
            certify(PLAIN, Model(path))
        assert str(caught.value).isprintable()
        assert model.run(np.zeros((2, 8))).shape == (2, 5)  # with a new process


@pytest.mark.parametrize(
    ("dims", "why"), [((-1, 8), None), ((1, 8), None), ((4, 8), "takes 4 rows at a time"), (("b", 8, 1), "of 3 dim")]
)
def test_open_and_fixed_batches(dims: tuple[Any, ...], why: str | None, tmp_path: Path) -> None:
    path = as_onnx(LAYERS, tmp_path / "adder.onnx")
    model = onnx.load(path)
    model.graph.input[0].CopyFrom(helper.make_tensor_value_info("rows", TensorProto.FLOAT, dims))
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("out", TensorProto.FLOAT, ["any", 5]))
    path.write_bytes(model.SerializeToString())
    if why is None:
        assert certify(PLAIN, Model(path)).verdict == "certified"
    else:
        with pytest.raises(InputError, match=why):
            certify(PLAIN, Model(path))


def test_matrix_products_of_bytes_stay_in_16_bits() -> None:
    def graph(weight: int) -> OperatorGraph:
        constants = {"large": np.array([250], np.uint8), "weights": np.full((3, 1), weight, np.int8)}
        nodes = (Node("Mul", ("rows", "large"), "a"), Node("MatMulInteger", ("a", "weights"), "out"))
        return OperatorGraph(nodes, constants, "rows", "uint8", "out")

    assert graph(65).analysis(3).exact
    with pytest.raises(NotReadError, match="16 bits"):
        graph(66).analysis(3)
