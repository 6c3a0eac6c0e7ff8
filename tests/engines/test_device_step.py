"""The rules on a device: products give what the rules give."""

from typing import Any

import numpy as np
import pytest

from bitwright import addition, multiplication
from bitwright.theory.encoding import PackedRules

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from bitwright.engines.device_matching import DeviceMatching  # noqa: E402

GPU = pytest.param(
    "cuda", marks=[pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")]
)


@pytest.mark.parametrize("device", ["cpu", GPU])
@pytest.mark.parametrize("algorithm", [addition(4), multiplication(3)], ids=lambda one: one.name)
def test_products_give_what_the_rules_say(algorithm: Any, device: str) -> None:
    program = algorithm.program
    kind = torch.float16 if device == "cuda" else torch.float32
    rules = DeviceMatching(program, torch.device(device), kind, rows=program.templates + 7, columns=program.bits + 4)
    states = np.random.default_rng(1).random((300, program.bits)) < 0.4
    matched, n, following = rules.step(rules.tensor_of(states))
    wanted = PackedRules(program).matched(states)
    assert (matched.cpu().numpy()[:, : program.templates] == wanted).all()
    assert not matched[:, program.templates :].any()
    assert n.tolist() == wanted.sum(axis=1).tolist()
    after = [
        [any(bit in program.writes(t) for t in np.flatnonzero(row)) for bit in range(program.bits)] for row in wanted
    ]
    assert (following.cpu().numpy()[:, : program.bits] == np.array(after)).all()
    assert device in str(matched.device)
