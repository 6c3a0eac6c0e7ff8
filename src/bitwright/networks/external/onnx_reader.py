"""Reads ONNX files as lists of operators, and evaluates them with onnxruntime.

onnxruntime runs in a separate process, so that a model that crashes it ends in a one-line error.
"""

from __future__ import annotations

import atexit
import io
import os
import pickle
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError
from bitwright.networks.external.graph import Node, OperatorGraph
from bitwright.networks.external.tensors import DIGITS, LARGEST, NotReadError
from bitwright.networks.onnx_file import onnx_module

_MAX_BYTES = 1 << 31
_OUTSIDE = 1  # data_location of a tensor stored in another file
_ABOUT = {"doc_string", "metadata_props"}
_VALUES = {f"{kind}_data" for kind in ("float", "double", "int32", "int64", "uint64", "raw")}
_FIELDS = {  # all supported fields; a file with others can be run but not proved
    "ModelProto": {"ir_version", "opset_import", "graph", "domain", "model_version", *_ABOUT}
    | {"producer_name", "producer_version"},
    "GraphProto": {"node", "name", "initializer", "input", "output", "value_info", *_ABOUT},
    "NodeProto": {"input", "output", "name", "op_type", "domain", "attribute", *_ABOUT},
    "AttributeProto": {"name", "type", "f", "i", "s", "t", "floats", "ints", "doc_string"},
    "TensorProto": {"dims", "data_type", "name", "data_location", *_VALUES, *_ABOUT},
}
_CONSTANTS = {"value_float": "float32", "value_floats": "float32", "value_int": "int64", "value_ints": "int64"}


@dataclass(frozen=True, eq=False)
class OnnxModel:
    """A model read from a file and the files with its weights; it can be sent to other processes."""

    name: str
    data: bytes  # the model with all its weights, and all that is evaluated
    covered = True  # the digest covers everything

    @classmethod
    def read(cls, path: Path) -> OnnxModel:
        """Reads and checks a model; raises InputError for any other file."""
        onnx = onnx_module()
        if not path.is_file():
            raise InputError(f"there is no network file {path}")
        if path.stat().st_size > _MAX_BYTES:
            raise InputError(f"{path} is larger than 2 GiB, the limit of an ONNX file")
        try:
            data = path.read_bytes()
            model = onnx.load_from_string(data)
            if any(tensor.data_location == _OUTSIDE for tensor in _messages(model, "TensorProto")):
                onnx.load_external_data_for_model(model, str(path.parent))
                data = model.SerializeToString(deterministic=True)
            if any(tensor.data_location == _OUTSIDE for tensor in _messages(model, "TensorProto")):
                raise InputError("some of its weights are in external files with unreadable names")
            onnx.checker.check_model(model)
            found = cls(str(path), data)
            _ = found.tensors, found.columns, found._output
        except InputError:
            raise
        except Exception as error:  # from protocol buffers and from onnx
            reason = shorten(" ".join(str(error).split()) or type(error).__name__, 160)
            raise InputError(f"{path} is not a readable ONNX model: {reason}") from None
        return found

    @cached_property
    def digest(self) -> str:
        """The sha256 of the file or, if weights are in other files, of the model including them."""
        return sha256(self.data).hexdigest()

    @cached_property
    def _model(self) -> Any:
        return onnx_module().load_from_string(self.data)

    @cached_property
    def _input(self) -> Any:
        graph = self._model.graph
        stored = {tensor.name for tensor in graph.initializer}
        inputs = [one for one in graph.input if one.name not in stored]
        if len(inputs) != 1:
            raise InputError(
                f"{self.name} has {len(inputs)} inputs; a network to certify must have one input, rows of 0 and 1"
            )
        return inputs[0]

    @property
    def kind(self) -> str:
        """The type of its input."""
        return _type_name(self._input.type.tensor_type.elem_type)

    @property
    def columns(self) -> int | None:
        """The number of input columns; None if the model leaves it open, as any number below 1 does."""
        rows, columns = self._dims
        if rows > 1:
            raise InputError(
                f"{self.name} takes {rows:,} rows at a time; a network to certify must take one or any number"
            )
        return columns if columns > 0 else None

    @property
    def _dims(self) -> tuple[int, int]:
        dims = self._input.type.tensor_type.shape.dim
        if len(dims) != 2:
            raise InputError(
                f"{self.name} takes an input of {len(dims)} dimensions; a network to certify takes rows of 0 and 1, "
                "of shape (batch, columns)"
            )
        return dims[0].dim_value, dims[1].dim_value

    @cached_property
    def tensors(self) -> dict[str, NDArray[Any]]:
        """Its weights by name."""
        from onnx import numpy_helper

        found = {one.name: numpy_helper.to_array(one) for one in self._model.graph.initializer}
        return {name: array for name, array in found.items() if array.dtype.kind != "O"}

    @cached_property
    def graph(self) -> OperatorGraph:
        """Its operators; raises NotReadError if the file contains anything unsupported."""
        model = self._model
        _check_fields(model)
        opset = [one.version for one in model.opset_import if one.domain in ("", "ai.onnx")]
        if len(opset) != 1:
            raise NotReadError("a model of no or of several operator sets")
        if self.kind not in DIGITS and self.kind not in LARGEST:
            raise NotReadError(f"an input of type {self.kind}")
        _check_types(model)
        nodes, constants = [], dict(self.tensors)
        for node in model.graph.node:
            if len(node.output) != 1 or node.domain not in ("", "ai.onnx"):
                raise NotReadError(f"the operator {node.domain}.{node.op_type}, or several outputs of it")
            attributes = _attributes(node)
            if node.op_type == "Constant":
                constants[node.output[0]] = _constant(attributes)
            else:
                nodes.append(Node(node.op_type, tuple(node.input), node.output[0], attributes))
        names = Counter([self._input.name, *(one.name for one in model.graph.initializer)])
        names.update(node.output[0] for node in model.graph.node)
        if max(names.values()) > 1:
            raise NotReadError("a name that stands for several tensors")
        return OperatorGraph(tuple(nodes), constants, self._input.name, self.kind, self._output, opset[0])

    @property
    def _output(self) -> str:
        if not self._model.graph.output:
            raise InputError(f"{self.name} has no output; a network to certify must have one for each bit")
        return str(self._model.graph.output[0].name)

    def __getstate__(self) -> dict[str, Any]:
        return {"name": self.name, "data": self.data}

    def run(self, inputs: NDArray[Any], alone: bool) -> NDArray[Any]:  # (batch, columns) of 0 and 1
        """Returns onnxruntime's outputs for these inputs, one at a time or together."""
        if self.runtime is None:
            raise CannotRunError(
                f"{self.name} has operators that need a runtime; install it with: pip install onnxruntime"
            )
        try:
            rows = inputs.astype(self.kind)
            return RUNTIME.evaluate(self.data, self._output, rows, alone or self._dims[0] == 1)
        except InputError as error:
            raise type(error)(f"onnxruntime cannot run {self.name} with {inputs.shape[1]:,} columns: {error}") from None

    @property
    def runtime(self) -> str | None:
        """The runtime with its version; None if it is not installed."""
        return runtime()


def _messages(message: Any, kind: str) -> Iterator[Any]:
    """Yields all messages of this kind in a message, at any depth."""
    if message.DESCRIPTOR.name == kind:
        yield message
    for field, value in message.ListFields():
        if field.message_type is not None:
            for one in value if hasattr(value, "add") else [value]:
                yield from _messages(one, kind)


def _check_fields(model: Any) -> None:
    """Raises NotReadError if a message has an unsupported field."""
    from google.protobuf.unknown_fields import UnknownFieldSet

    for kind, known in _FIELDS.items():
        for message in _messages(model, kind):
            unknown = [field.name for field, _ in message.ListFields() if field.name not in known]
            if unknown or len(UnknownFieldSet(message)):
                raise NotReadError(f"{kind} with the field {(*unknown, 'unknown')[0]}")


def _check_types(model: Any) -> None:
    """Raises NotReadError unless all types and shapes agree with the standard and with the file."""
    from onnx import shape_inference

    try:
        shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    except Exception as error:
        raise NotReadError(" ".join(str(error).split())) from None


def _attributes(node: Any) -> dict[str, Any]:
    from onnx import helper

    found = {one.name: helper.get_attribute_value(one) for one in node.attribute}
    if len(found) != len(node.attribute):
        raise NotReadError("a duplicate attribute")
    if node.op_type == "Cast" and "to" in found:
        found["to"] = _type_name(found["to"])
    return found


def _constant(attributes: dict[str, Any]) -> NDArray[Any]:
    """Returns the tensor of a Constant."""
    from onnx import numpy_helper

    [(name, value)] = attributes.items() if len(attributes) == 1 else [("", None)]
    if name == "value":
        return np.asarray(numpy_helper.to_array(value))
    if name not in _CONSTANTS:
        raise NotReadError(f"a Constant with {', '.join(attributes)}")
    return np.array(value, dtype=_CONSTANTS[name])


def _type_name(number: int) -> str:
    from onnx import helper

    try:
        return str(np.dtype(helper.tensor_dtype_to_np_dtype(number)).name)
    except (KeyError, TypeError):
        raise NotReadError(f"a tensor of type {number}") from None


class CannotRunError(InputError):
    """Raised if the runtime cannot load a model or crashes on it."""


def runtime() -> str | None:
    """Returns a name such as `onnxruntime 1.20.0`, or None if it is not installed."""
    return None if find_spec("onnxruntime") is None else f"onnxruntime {version('onnxruntime')}"


class Runtime:
    """The process, started on first use and after a crash; threads take turns."""

    def __init__(self) -> None:
        self._lock, self._of = Lock(), -1  # the process that started it
        self._process: subprocess.Popen[bytes] | None = None
        self._loaded: set[str] = set()
        atexit.register(self.stop)

    def evaluate(self, model: bytes, output: str, rows: NDArray[Any], alone: bool) -> NDArray[Any]:
        """Returns an output of a model for these rows, one at a time or together; raises InputError if it has none."""
        key = sha256(model).hexdigest()
        with self._lock:
            process = self._begun()
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                pickle.dump((key, None if key in self._loaded else model, output, rows, alone), process.stdin)
                process.stdin.flush()
                stage, _, size = process.stdout.readline().partition(b" ")
                data = process.stdout.read(int(size or 0))
            except BrokenPipeError:
                stage = b""
            except BaseException:  # a reply to this request may still come
                self.stop()
                raise
            if not stage:
                status = process.wait()
                self.stop()
                how = f"status {status}" if status >= 0 else signal.Signals(-status).name
                raise CannotRunError(f"it crashed, {how}")
            if stage != b"done":
                raise (InputError if stage == b"rows" else CannotRunError)(shorten(data.decode(), 160))
            self._loaded.add(key)
        return np.asarray(np.load(io.BytesIO(data), allow_pickle=False))

    def _begun(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._of != os.getpid():
            command, pipe = [sys.executable, "-P", str(Path(__file__).with_name("child.py"))], subprocess.PIPE
            self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
            self._of, self._loaded = os.getpid(), set()
        return self._process

    def stop(self) -> None:
        """Stops the child process if this process started it."""
        process, self._process, self._loaded = self._process, None, set()
        if process is not None and self._of == os.getpid():
            process.kill()
            process.communicate()


RUNTIME = Runtime()
