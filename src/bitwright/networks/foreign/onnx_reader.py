"""ONNX files as lists of operators, and as sessions of onnxruntime where an operator is not known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.bits import shorten
from bitwright.errors import InputError
from bitwright.networks.foreign.graph import Node, OperatorGraph
from bitwright.networks.foreign.tensors import DIGITS, RANGES, NotReadError
from bitwright.networks.onnx_file import onnx_module

_MAX_BYTES = 1 << 31


@dataclass(frozen=True, eq=False)
class OnnxModel:
    """A model that was read from a file, with whatever files hold its weights; it travels to other processes."""

    name: str
    data: bytes  # the model with all its weights
    digest: str  # of the files

    @classmethod
    def read(cls, path: Path) -> OnnxModel:
        """The model of a file, checked; raises InputError for anything else."""
        onnx = onnx_module()
        if not path.is_file():
            raise InputError(f"there is no network file {path}")
        if path.stat().st_size > _MAX_BYTES:
            raise InputError(f"{path} is larger than the 2 GiB that an ONNX file may have")
        try:
            bare = onnx.load(str(path), load_external_data=False)
            outside = sorted(_external_files(bare))
            model = onnx.load(str(path))
            onnx.checker.check_model(model)
            data = model.SerializeToString()
        except Exception as error:  # of protocol buffers, and of onnx's own kinds
            reason = shorten(" ".join(str(error).split()) or type(error).__name__, 160)
            raise InputError(f"{path} is not an ONNX model that can be read: {reason}") from None
        found = sha256(path.read_bytes())
        for name in outside:
            found.update(sha256((path.parent / name).read_bytes()).digest())
        return cls(str(path), data, found.hexdigest())

    @cached_property
    def _model(self) -> Any:
        return onnx_module().load_from_string(self.data)

    @cached_property
    def _input(self) -> Any:
        graph = self._model.graph
        stored = {tensor.name for tensor in graph.initializer}
        inputs = [one for one in graph.input if one.name not in stored]
        if len(inputs) != 1:
            raise InputError(f"{self.name} has {len(inputs)} inputs; a network to certify has one, of rows of 0 and 1")
        return inputs[0]

    @property
    def kind(self) -> str:
        """The type of its input."""
        return _type_name(self._input.type.tensor_type.elem_type)

    @property
    def columns(self) -> int | None:
        """How many columns its input has; None where that is open."""
        dims = self._input.type.tensor_type.shape.dim
        if len(dims) != 2:
            raise InputError(
                f"{self.name} takes an input of {len(dims)} dimensions; a network to certify takes rows of 0 and 1, "
                "of shape (batch, columns)"
            )
        return dims[1].dim_value or None

    @property
    def rows(self) -> int | None:
        """How many rows it takes at a time; None where that is open."""
        return self._input.type.tensor_type.shape.dim[0].dim_value or None

    @cached_property
    def tensors(self) -> dict[str, NDArray[Any]]:
        """Its weights by name."""
        from onnx import numpy_helper

        return {one.name: numpy_helper.to_array(one) for one in self._model.graph.initializer}

    @cached_property
    def graph(self) -> OperatorGraph:
        """Its operators; raises NotReadError for those that no standard graph of layers has."""
        from onnx import helper, numpy_helper

        graph, constants, nodes = self._model.graph, dict(self.tensors), []
        if self.kind not in DIGITS and self.kind not in RANGES:
            raise NotReadError(f"an input of type {self.kind}")
        for node in graph.node:
            attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}
            if node.domain not in ("", "ai.onnx"):
                raise NotReadError(f"the operator {node.domain}.{node.op_type} is not of the standard")
            if node.op_type == "Constant" and "value" in attributes:
                constants[node.output[0]] = numpy_helper.to_array(attributes["value"])
                continue
            if node.op_type == "Cast":
                attributes["to"] = _type_name(attributes["to"])
            if len([name for name in node.output if name]) != 1 and node.op_type != "Dropout":
                raise NotReadError(f"the operator {node.op_type} with several outputs")
            nodes.append(Node(node.op_type, tuple(node.input), node.output[0], attributes))
        return OperatorGraph(tuple(nodes), constants, self._input.name, self.kind, graph.output[0].name)

    @cached_property
    def session(self) -> Any:
        """A session of onnxruntime."""
        if find_spec("onnxruntime") is None:
            raise InputError(
                f"{self.name} has operators that only a runtime evaluates; install one with: pip install onnxruntime"
            )
        import onnxruntime

        settings = onnxruntime.SessionOptions()
        settings.log_severity_level = 3
        settings.intra_op_num_threads = 1
        return onnxruntime.InferenceSession(self.data, settings, providers=["CPUExecutionProvider"])

    def __getstate__(self) -> dict[str, Any]:
        return {"name": self.name, "data": self.data, "digest": self.digest}

    def run(self, inputs: NDArray[Any]) -> NDArray[Any]:  # (batch, columns) of 0 and 1
        """The outputs of onnxruntime for these inputs."""
        rows = inputs.astype(self.kind)
        step = self.rows or max(1, len(rows))
        try:
            found = [
                self.session.run([self._model.graph.output[0].name], {self._input.name: rows[at : at + step]})[0]
                for at in range(0, len(rows), step)
            ]
        except InputError:
            raise
        except Exception as error:
            reason = shorten(" ".join(str(error).split()), 160)
            raise InputError(f"{self.name} failed on inputs of shape {rows.shape}: {reason}") from None
        return np.concatenate(found)

    @property
    def runtime(self) -> str:
        """What evaluates it, and in which version."""
        import onnxruntime

        return f"onnxruntime {onnxruntime.__version__}"


def _external_files(model: Any) -> set[str]:
    return {
        entry.value
        for tensor in model.graph.initializer
        if tensor.data_location == 1
        for entry in tensor.external_data
        if entry.key == "location"
    }


def _type_name(number: int) -> str:
    from onnx import helper

    try:
        return str(np.dtype(helper.tensor_dtype_to_np_dtype(number)).name)
    except (KeyError, TypeError):
        raise NotReadError(f"a tensor of type {number}") from None
