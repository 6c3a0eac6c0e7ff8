"""An MLP of plain PyTorch learns the cells of addition, is certified as ONNX, and adds 1,000-bit numbers.

Run it anywhere: python certify_mlp.py. It writes adder.onnx and integer.onnx.
"""

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

from bitwright import Model, addition, certify, run

table = Model.table(addition(4))  # all 16 local states: 8 columns in, 5 ports out
inputs, labels, asked = (torch.tensor(part) for part in (table.inputs, table.labels, table.asked))
torch.manual_seed(0)
torch.set_num_threads(1)  # all of it is small
mlp = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 5))
optimizer = torch.optim.Adam(mlp.parameters(), lr=0.02)


def train(steps):
    for _ in range(steps):
        optimizer.zero_grad()
        ((mlp(inputs) - labels) ** 2 * asked).mean().backward()
        optimizer.step()
    names = {"input_names": ["cell"], "output_names": ["ports"], "dynamic_axes": {"cell": [0]}}
    torch.onnx.export(mlp, (torch.zeros(1, 8),), "adder.onnx", dynamo=False, **names)


train(20)
print(certify(addition(4), Model("adder.onnx")))  # refuted: a local state that comes out wrong

train(300)
print(certify(addition(4), Model("adder.onnx")))  # certified: float32, in every order of summation

# Weights in steps of 1/32 become integers. So the hidden layer is 32 times as large, and the outputs are 1,024 times.
w1, b1, w2, b2 = (p.detach().numpy().T for p in mlp.parameters())
weights = {"w1": (w1 * 32, "i1"), "b1": (b1 * 32, "i4"), "w2": (w2 * 32, "i4"), "b2": (b2 * 1024, "i4")}
steps = [("MatMulInteger", "cell w1", "a"), ("Add", "a b1", "b"), ("Relu", "b", "c"), ("MatMul", "c w2", "d")]
graph = helper.make_graph(
    [helper.make_node(op, names.split(), [out]) for op, names, out in [*steps, ("Add", "d b2", "ports")]],
    "integer",
    [helper.make_tensor_value_info("cell", TensorProto.UINT8, ["batch", 8])],
    [helper.make_tensor_value_info("ports", TensorProto.INT32, ["batch", 5])],
    [numpy_helper.from_array(np.rint(value).astype(kind), name) for name, (value, kind) in weights.items()],
)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "integer.onnx")
integer = Model("integer.onnx", threshold=512)
print(certify(addition(4), integer))  # certified: integers alone

p, q = 2**999 + 12345, 3**600
done = run(addition(1000), p=p, q=q, network=integer)  # steps are taken from its 16 answers
print(done.value == p + q, str(done).splitlines()[-1], sep="\n")
