"""The arithmetic of the sceptic's checker of decoders holds what it should, against NumPy, SciPy and float32."""

import importlib
import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from checking import SCEPTIC

from bitwright.transformers.decoder import Norm, Rope
from bitwright.transformers.modules import _turned, activated, normed

S = 60


@pytest.fixture(scope="module")
def sceptic() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(SCEPTIC)
        yield importlib.import_module("enclosures")
        sys.modules.pop("enclosures", None)


def fixed(values: Any) -> list[int]:
    return [int(value * 2.0**S) for value in np.asarray(values, np.float64)]


def real(values: Any) -> np.ndarray:
    return np.array(values, np.float64) / 2.0**S


def tightness(form: Any, variables: int, f: Any, center: np.ndarray, slopes: np.ndarray, rng: Any) -> float:
    """Asserts that a form holds f(center + slopes . e) for random e; how near to its ends these come."""
    variable, beyond = real(form.slopes[:variables]), real(form.slopes[variables:])
    radius, nearest = real(form.radius) + (np.abs(beyond).sum(0) if len(beyond) else 0), 0.0
    for e in (*rng.uniform(-1, 1, (40, len(slopes))), *rng.choice([-1.0, 1.0], (10, len(slopes)))):
        away = np.abs(f(center + e @ slopes) - real(form.center) - e @ variable)
        assert (away <= radius + 1e-12).all()
        nearest = max(nearest, float((away / (radius + 1e-300)).max()))
    return nearest


@pytest.mark.parametrize("kind", ["relu", "gelu", "gelu_tanh", "silu"])
def test_activations(sceptic, kind):
    rng, near = np.random.default_rng(1), []
    for _ in range(300):
        center, slopes = rng.uniform(-6, 6, 3), rng.normal(size=(2, 3)) * 10 ** rng.uniform(-4, 0.5)
        form = sceptic.activated(kind, sceptic.Form(fixed(center), [fixed(row) for row in slopes], [0] * 3, 0))
        near.append(tightness(form, 2, lambda x: activated(kind, x), center, slopes, rng))
    assert max(near) > 0.8  # the bounds are no larger than they must be


@pytest.mark.parametrize("kind", ["rms", "layer"])
def test_norms(sceptic, kind):
    rng, near = np.random.default_rng(2), []
    for _ in range(200):
        center, slopes = rng.normal(size=4), rng.normal(size=(2, 4)) * 10 ** rng.uniform(-3, -1)
        weight, bias = rng.normal(size=(2, 4))
        norm, exact = (
            SimpleNamespace(kind=kind, eps=int(1e-5 * 2**S), weight=fixed(weight), bias=fixed(bias)),
            Norm(kind, 1e-5, weight, bias),
        )
        try:
            form = sceptic.normed(norm, sceptic.Form(fixed(center), [fixed(row) for row in slopes], [0] * 4, 0))
        except sceptic.UnboundedError:
            continue
        near.append(tightness(form, 2, lambda x, norm=exact: normed(norm, x), center, slopes, rng))
    assert len(near) > 150
    assert max(near) > 0.5


@pytest.mark.parametrize("interleaved", [False, True])
def test_rope(sceptic, interleaved):
    x = np.random.default_rng(3).normal(size=(40, 6))
    expected = _turned(Rope(3.0, interleaved), x[None])[0]
    for position, row in enumerate(x):
        rope = SimpleNamespace(base=3 << S, interleaved=interleaved)
        form = sceptic.turned(rope, position, sceptic.Form(fixed(row), [], [0] * 6, 0))
        assert np.abs(real(form.center) - expected[position]).max() < 1e-14
        assert real(form.radius).max() < 1e-15


@pytest.mark.parametrize("what", ["linear", "rms", "gelu", "silu", "rope"])
def test_float32(sceptic, what):
    """Sums in random orders: never outside for float32, and mostly outside of the form for real numbers."""
    rng, outside, single = np.random.default_rng(4), 0, np.float32
    for _ in range(200):
        x, weight = rng.normal(size=24).astype(single), rng.normal(size=(24, 2)).astype(single)
        if what == "linear":
            order = rng.permutation(24)
            value = np.add.accumulate(x[order, None] * weight[order], dtype=single)[-1]
        else:
            value = {
                "rms": lambda x: normed(Norm("rms", 1e-6), x),
                "gelu": lambda x: activated("gelu", x).astype(single),
                "silu": lambda x: activated("silu", x).astype(single),
                "rope": lambda x: _turned(Rope(7.0), np.stack([x] * 30)[None])[0, -1],
            }[what](x)
        for unit in (0, 1):
            form = sceptic.Form(fixed(x), [], [0] * 24, unit)
            if what == "linear":
                form = sceptic.Linear([fixed(row) for row in weight])(form)
            elif what == "rms":
                form = sceptic.normed(SimpleNamespace(kind="rms", eps=int(1e-6 * 2**S), weight=None, bias=None), form)
            elif what == "rope":
                form = sceptic.turned(SimpleNamespace(base=7 << S, interleaved=False), 29, form)
            else:
                form = sceptic.activated(what, form)
            away = np.abs(value.astype(np.float64) - real(form.center)) > real(form.deviation())
            assert not (unit and away.any())
            outside += int(away.sum())
    assert outside > 100


def test_an_inverse_root_of_a_library_may_be_wrong_by_four_units_in_the_last_place(sceptic):
    """Of one number, whose square rounds once: nothing else leaves so much room."""
    norm = SimpleNamespace(kind="rms", eps=0, weight=None, bias=None)
    (off,) = sceptic.normed(norm, sceptic.Form([1 << S], [], [0], 1)).deviation()
    assert off / 2.0**S >= 4 * 2.0**-23 + 3 * 2.0**-24
