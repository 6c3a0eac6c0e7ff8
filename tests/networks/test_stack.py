"""Networks made elsewhere: bounds on their arithmetic, and readers that refuse whatever is more than a stack."""

import itertools
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from cases import for_each
from onnx import TensorProto, helper, numpy_helper
from own_networks import as_module, as_onnx, layers_of, onnx_of, outputs_of

from bitwright import InputError, Model, addition, certify
from bitwright.networks.stack import AffineLayer, NotProvedError, Stack
from bitwright.networks.stack_readers import OnnxRuntime

EVERY = np.array(list(itertools.product((0, 1), repeat=8)))
PLAIN = addition(3).program
LAYERS = layers_of(PLAIN)
make = helper.make_node


def in_float32(stack: Stack, rows: np.ndarray, order: np.random.Generator) -> np.ndarray:
    """Sums in float32, one term after the other in some order; a bias is one of the terms."""
    found = rows.astype(np.float32)
    for layer in stack.layers:
        assert layer.bias is not None
        terms = np.vstack((layer.weights, layer.bias))
        total = np.zeros((len(rows), terms.shape[1]), dtype=np.float32)
        found = np.hstack((found, np.ones((len(rows), 1), np.float32)))
        for term in order.permutation(len(terms)):
            total += found[:, [term]] * terms[term]
        found = np.maximum(total, 0) if layer.relu else total
    return found


def random_stack(seed: int, scale: float = 1.0, digits: int | None = None) -> Stack:
    rng, layers = np.random.default_rng(seed), []
    for shape, relu in (((8, 30), True), ((30, 3), False)):
        weights, bias = (rng.normal(0, scale, size) for size in (shape, shape[1]))
        if digits is not None:
            weights, bias = (np.rint(part * 2**digits) / 2**digits for part in (weights, bias))
        layers.append(AffineLayer(weights.astype(np.float32), "float32", bias.astype(np.float32), relu))
    return Stack(tuple(layers))


def test_no_order_of_summation_is_further_off_than_the_bound() -> None:
    off = []
    for seed in range(5):
        stack = random_stack(seed, 10.0**seed)
        found, order = stack(EVERY), np.random.default_rng(seed)
        for _ in range(10):
            differs = np.abs(in_float32(stack, EVERY, order) - found.values)
            assert (differs <= found.error).all()
            off.append(float((differs / found.error).max()))
    assert max(off) > 0.01  # the bound is no mere infinity


def test_multiples_of_a_power_of_two_are_exact_in_every_order_and_the_bound_is_stated() -> None:
    stack, order = random_stack(1, digits=6), np.random.default_rng(0)
    assert not stack(EVERY).error.any()
    for _ in range(5):
        np.testing.assert_array_equal(in_float32(stack, EVERY, order), stack(EVERY).values)
    first, last = stack.layers
    sizes = [np.abs(part.astype(np.float64)) for part in (first.weights, first.bias, last.weights, last.bias)]  # type: ignore[union-attr]
    units = ((sizes[0].sum(axis=0) + sizes[1]) @ sizes[2] + sizes[3]).max() * 2**12
    assert f"multiples of 2^-12 or coarser, and absolute values add up to {units:,.0f}" in stack.arithmetic
    assert random_stack(1, 100.0, 6).arithmetic == "float32, every order of summation"  # beyond 2^24 units


@for_each(("digits", "kind"), [(24, "float32"), (53, "float64"), (53, "int64"), (31, "int32")])
def test_where_exactness_ends(digits: int, kind: str) -> None:
    """One unit more than fits; below the limit nothing is lost."""
    for units, fits in ((2**digits - 1, True), (2**digits, False)):
        layers = (AffineLayer(np.array([[units - 1], [1]], dtype=kind), kind),)
        if kind in ("int32", "int64") and not fits:
            with pytest.raises(NotProvedError, match="range"):
                Stack(layers)
        else:
            assert Stack(layers)(np.ones((1, 2))).error.any() != fits


def test_a_bias_may_be_added_first() -> None:
    """One large bias, and many weights each of which is then lost."""
    weights, bias = np.full((200, 1), 2.0**-7 * (1 + 2.0**-10), np.float32), np.array([2.0**20 / 3], np.float32)
    found = Stack((AffineLayer(weights, "float32", bias),))(np.ones((1, 200)))
    first, last = (np.float32(0),) * 2
    for term in (*bias, *weights.ravel()):
        first += term
    for term in (*weights.ravel(), *bias):
        last += term
    assert first != last
    for given in (first, last):
        assert (np.abs(given - found.values) <= found.error).all()


def test_numbers_that_may_be_taken_for_0_are_not_exact() -> None:
    for factors in ((2.0**-64,) * 3, (2.0**-100, 2.0**-27), (2.0**-140,)):
        layers = [AffineLayer(np.array([[factor]], dtype=np.float32), "float32") for factor in factors]
        found = Stack(tuple(layers))(np.ones((1, 1)))
        assert found.error[0, 0] >= found.values[0, 0] > 0


def test_layers_come_out_alike_in_every_form(tmp_path: Path) -> None:
    rows = EVERY[:, : LAYERS[0].shape[1]]
    digests = set()
    for form in (as_module(LAYERS), as_onnx(LAYERS, tmp_path / "x.onnx")):
        model = Model(form)
        assert not model.outputs(rows).error.any()
        np.testing.assert_array_equal(model.outputs(rows).values, outputs_of(LAYERS, rows))
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.outputs(rows[:9]).values, outputs_of(LAYERS, rows[:9]))
        digests.add(model.digest)
    assert len(digests) == 1
    changed = Model(as_module((LAYERS[0], LAYERS[1] + 1, LAYERS[2])))
    assert changed.digest not in digests


def test_bytes_become_integers(tmp_path: Path) -> None:
    weights = np.random.default_rng(0).integers(-128, 128, (8, 3)).astype(np.int8)
    nodes = [make("MatMulInteger", ["rows", "w"], ["a"]), make("Add", ["b", "a"], ["c"]), make("Relu", ["c"], ["out"])]
    bias = np.array([1, -50, 7], np.int32)
    path = onnx_of(nodes, {"w": weights, "b": bias}, tmp_path / "i.onnx", (8, 3), kind=TensorProto.INT32)
    model = onnx.load(path)
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.UINT8
    onnx.save(model, path)
    found = Model(path)
    np.testing.assert_array_equal(found.outputs(EVERY).values, np.maximum(EVERY @ weights.astype(int) + bias, 0))
    assert found.stack.arithmetic == "integers"


def test_a_runtime_that_computes_something_else_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network, run = Model(as_onnx(LAYERS, tmp_path / "adder.onnx")), OnnxRuntime.__call__
    assert certify(PLAIN, network).verdict == "certified"
    monkeypatch.setattr(OnnxRuntime, "__call__", lambda self, rows: run(self, rows) + 2.0**-12)
    with pytest.raises(InputError, match="other outputs"):
        certify(PLAIN, network)


def outside(array: np.ndarray, name: str) -> Any:
    """A tensor whose numbers are in a file of their own."""
    found = numpy_helper.from_array(array, name)
    found.ClearField("raw_data")
    found.data_location = TensorProto.EXTERNAL
    found.external_data.add(key="location", value="numbers.bin")
    return found


def end_with(*nodes: Any) -> Callable[[Any], None]:
    """More operators after the right layers."""

    def change(model: Any) -> None:
        model.graph.node[-1].output[0] = "sums"
        model.graph.node.extend(nodes)

    return change


def attribute(node: int, name: str, value: Any) -> Callable[[Any], None]:
    return lambda model: model.graph.node[node].attribute.append(helper.make_attribute(name, value))


def output_of_the_middle(model: Any) -> None:
    model.graph.output[0].name = "hidden"
    model.graph.output[0].type.tensor_type.shape.dim[1].dim_value = LAYERS[0].shape[0]


def weights_outside(model: Any) -> None:
    model.graph.initializer[0].CopyFrom(outside(np.float32(LAYERS[0]), "first"))


def a_function(model: Any) -> None:
    sets = [helper.make_opsetid("", 17)]
    model.functions.append(helper.make_function("", "Relu", ["x"], ["y"], [make("Neg", ["x"], ["y"])], sets))


MORE: dict[str, tuple[Callable[[Any], None], str]] = {
    "operator": (end_with(make("Sigmoid", ["sums"], ["out"])), "Sigmoid is none of"),
    "operator of another domain": (end_with(make("Relu", ["sums"], ["out"], domain="x")), "Relu"),
    "two activations": (end_with(make("Add", ["sums", "sums"], ["out"])), "constant weights"),
    "a bias of the wrong shape": (end_with(make("Add", ["sums", "column"], ["out"])), "shape"),
    "attribute": (attribute(0, "alpha", 2.0), "alpha"),
    "output": (output_of_the_middle, "end of the stack"),
    "weights elsewhere": (weights_outside, "file"),
    "function": (a_function, "functions"),
    "operator set": (lambda model: setattr(model.opset_import[0], "version", 9), "operator set"),
}


@for_each("how", list(MORE))
def test_a_model_that_does_more_is_refused_in_a_line(how: str, tmp_path: Path) -> None:
    model = onnx.load(as_onnx(LAYERS, tmp_path / "more.onnx"))
    model.graph.initializer.append(numpy_helper.from_array(np.ones((1, 5, 1), np.float32), "column"))
    change, why = MORE[how]
    change(model)
    (tmp_path / "more.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(InputError, match=why) as refused:
        Model(tmp_path / "more.onnx")
    assert "\n" not in str(refused.value)


def otherwise(module: Any, how: str) -> Any:
    """A module that, called, gives something else than its layers say."""
    import torch

    class Sequential(torch.nn.Sequential):
        pass

    if how == "a class of the same name":
        return Sequential(*module)
    if how == "hook":
        module.register_forward_hook(lambda _, __, out: 1 - out)
    elif how == "hook of a layer":
        module[2].register_forward_hook(lambda _, __, out: 1 - out)
    elif how == "hook before":
        module.register_forward_pre_hook(lambda _, rows: (1 - rows[0],))
    elif how == "forward":
        module.forward = lambda rows: 1 - rows
    elif how == "forward of a layer":
        module[2].forward = lambda rows: 1 - rows[:, :5]
    elif how == "bfloat16":
        return module.bfloat16()
    else:
        layers = {
            "Tanh": torch.nn.Tanh(),
            "Flatten": torch.nn.Flatten(0, -1),
            "Dropout": torch.nn.Dropout(0.5),
            "meta": torch.nn.Linear(5, 5, device="meta"),
            "float64": torch.nn.Linear(5, 5, dtype=torch.float64),
        }
        return torch.nn.Sequential(module, layers[how])
    return module


HOOKS = "a class of the same name;hook;hook of a layer;hook before;forward;forward of a layer"
OTHERS = "bfloat16;Tanh;Flatten;Dropout;meta;float64"


@for_each("how", f"{HOOKS};{OTHERS}".split(";"))
def test_a_module_that_is_more_than_its_layers_is_refused(how: str) -> None:
    with pytest.raises(InputError, match="affine layers and ReLU"):
        Model(otherwise(as_module(LAYERS), how))


@for_each("how", ["row", "cube", "derived", "none", "missing", "itself", "generator"])
def test_a_module_with_odd_attributes_is_refused_in_a_line(how: str) -> None:
    module = as_module(LAYERS)
    last = module[2]
    if how == "itself":
        module.append(module)
    elif how == "generator":
        last.given = (i for i in ())
    else:
        weight = last._parameters.pop("weight")
        changed = {"row": weight.data[0], "cube": weight.data[None], "derived": weight * 1, "none": None}
        if how != "missing":
            last.weight = changed[how]
    with pytest.raises(InputError, match="affine layers and ReLU") as refused:
        Model(module)
    assert "\n" not in str(refused.value)


def test_a_global_hook_and_a_replaced_weight_are_noticed() -> None:
    import torch
    from torch.nn.modules.module import register_module_forward_hook

    model, hook = Model(as_module(LAYERS)), register_module_forward_hook(lambda _, __, out: out + 2**-12)
    try:
        with pytest.raises(InputError, match="other outputs"):
            certify(PLAIN, model)
    finally:
        hook.remove()
    replaced = as_module(LAYERS)
    replaced[2].__dict__["weight"] = torch.nn.Parameter(torch.ones_like(replaced[2].weight))  # not the stored one
    assert certify(PLAIN, replaced).verdict == "refuted"
    trained = as_module(LAYERS)
    held = Model(trained)
    with torch.no_grad():
        trained[2].weight.zero_()  # a model keeps the weights that it was made with
    assert certify(PLAIN, held).verdict == "certified"


def test_what_is_no_network_is_refused_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "broken.onnx").write_bytes(b"nonsense")
    for given, why in (
        (tmp_path / "broken.onnx", "is not a readable ONNX model"),
        (tmp_path / "none.onnx", "there is no network file"),
        (3, "an ONNX file or a PyTorch module"),
        (lambda rows: rows, "an ONNX file or a PyTorch module"),
        (as_module(replace_nan(LAYERS)), "NaN or infinite"),
    ):
        with pytest.raises(InputError, match=why):
            Model(given)
    with pytest.raises(InputError, match="'cells'"):
        Model(as_module(LAYERS), reads="cell")  # type: ignore[arg-type]
    for threshold in (float("nan"), float("inf"), 10**400):
        with pytest.raises(InputError, match="finite"):
            Model(as_module(LAYERS), threshold=threshold)


def replace_nan(layers: Any) -> Any:
    return (layers[0], np.full_like(layers[1], np.nan), layers[2])
