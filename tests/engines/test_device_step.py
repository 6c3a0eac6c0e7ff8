"""The rules on a device: by products what NumPy gives, and a kernel that steps otherwise is found out."""

from typing import Any

import numpy as np
import pytest

from bitwright import addition, multiplication
from bitwright.common.errors import BitwrightError
from bitwright.theory.encoding import PackedRules

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from bitwright.engines.integer import DeviceStep  # noqa: E402


def step_of(program: Any, device: str = "cpu") -> DeviceStep:
    return DeviceStep(program, torch.device(device), inputs=program.templates + 7, columns=program.bits + 4)


def compared(program: Any, step: DeviceStep, device: str) -> None:
    states = np.random.default_rng(1).random((300, program.bits)) < 0.4
    matched, n, following = step(step.matching.tensor_of(states), keep=True)
    wanted = PackedRules(program).matched(states)
    assert (matched.cpu().numpy()[:, : program.templates] == wanted).all()
    assert not matched[:, program.templates :].any()
    assert n.tolist() == wanted.sum(axis=1).tolist()
    after = [
        [any(bit in program.writes(t) for t in np.flatnonzero(row)) for bit in range(program.bits)] for row in wanted
    ]
    assert (following.cpu().numpy()[:, : program.bits] == np.array(after)).all()
    step.check()
    assert device in str(matched.device)


@pytest.mark.parametrize("algorithm", [addition(4), multiplication(3)], ids=lambda one: one.name)
def test_products_give_what_the_rules_say(algorithm: Any) -> None:
    compared(algorithm.program, step_of(algorithm.program), "cpu")


@pytest.mark.gpu
def test_the_kernel_gives_what_the_rules_say() -> None:
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    program = multiplication(3).program
    step = DeviceStep(program, torch.device("cuda"), inputs=program.templates + 7, columns=-(-program.bits // 4) * 4)
    assert step._kernel is not None
    compared(program, step, "cuda")


@pytest.mark.parametrize("part", [0, 1, 2])
def test_a_kernel_that_steps_otherwise_is_found_out(part: int) -> None:
    program = addition(3).program
    step = step_of(program)
    states = step.matching.tensor_of(np.random.default_rng(2).random((100, program.bits)) < 0.5)

    def nearly(states: Any) -> tuple[Any, ...]:
        found = [tensor.clone() for tensor in step._by_products(states)]
        found[part].view(-1)[0] = 1 - found[part].view(-1)[0].int()
        return tuple(found)

    step._kernel = nearly  # type: ignore[assignment]
    step(states, keep=True)
    with pytest.raises(BitwrightError, match=r"otherwise.*products"):
        step.check()
    step.check()  # what was found is told once
