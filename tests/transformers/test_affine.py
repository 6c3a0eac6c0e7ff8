"""Enclosures contain every value that float64 and float32 compute, for all values of the variables."""

import numpy as np
import pytest

from bitwright.transformers.affine import FLOAT32, AffineForm, activated, constant, fed, finished, margins, normed
from bitwright.transformers.decoder import Decoder, Layer, Linear, Mlp, Norm
from bitwright.transformers.modules import _mlp, chained
from bitwright.transformers.modules import activated as active
from bitwright.transformers.modules import normed as norm_of

ACTIVATIONS = ["gelu", "gelu_tanh", "relu", "silu"]
WIDTH, HIDDEN, TOKENS = 6, 5, 4


def forms(rng: np.random.Generator, n: int, width: int, scale: float, unit: float = 0.0) -> AffineForm:
    center, slopes = rng.normal(0, 2, (n, width)), rng.normal(0, 1, (n, 3, width))
    return AffineForm(center, slopes, rng.random((n, width)) * 0.1 * scale, rng.random((n, 3)) * scale, unit)


def samples(form: AffineForm, rng: np.random.Generator, count: int = 200) -> np.ndarray:
    """Returns (count, n, d) values in the form, half of them at corners."""
    e = rng.uniform(-1, 1, (count, *form.box.shape))
    e[: count // 2] = np.sign(e[: count // 2])
    r = np.sign(rng.normal(size=(count, *form.center.shape)))
    return form.center + np.einsum("cnm,nmd->cnd", e * form.box, form.slopes) + r * form.radius


def inside(form: AffineForm, values: np.ndarray) -> bool:
    return bool(((form.lower() <= values) & (values <= form.upper())).all())


@pytest.mark.parametrize("scale", [0.0, 0.01, 0.3, 3.0])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_activations_lie_inside(activation, scale):
    rng = np.random.default_rng(1)
    x = forms(rng, 300, WIDTH, scale)
    x = AffineForm(x.center * 3, x.slopes, x.radius, x.box)
    assert inside(activated(activation, x), active(activation, samples(x, rng)))


def test_curvatures_are_bounds():
    """Second differences of each activation on a fine grid stay below the assumed curvature."""
    from bitwright.transformers import affine

    grid, step = np.linspace(-8, 8, 32_001), 1e-4
    for name in ("gelu", "gelu_tanh", "silu"):
        second = (active(name, grid + step) - 2 * active(name, grid) + active(name, grid - step)) / step**2
        for half in (0.0, 0.05, 1.0):
            near, far = np.maximum(np.abs(grid) - half, 0), np.abs(grid) + half
            bound = getattr(affine, f"_{name}")(grid, near, far)[2]
            assert (np.abs(second) <= bound + 1e-6).all(), name


@pytest.mark.parametrize("scale", [0.0, 0.05, 0.5])
@pytest.mark.parametrize("kind", ["rms", "layer"])
def test_norms_lie_inside(kind, scale):
    rng = np.random.default_rng(2)
    norm = Norm(kind, 1e-5, rng.normal(size=WIDTH), rng.normal(size=WIDTH))
    x = forms(rng, 300, WIDTH, scale)
    assert inside(normed(norm, x), norm_of(norm, samples(x, rng)))


def test_a_norm_of_what_may_vanish_is_not_bounded():
    x = constant(np.zeros((1, WIDTH)), np.ones((1, 3)), 0.0, radius=1.0)
    assert not np.isfinite(normed(Norm("rms", 1e-5), x).deviation()).any()


def decoder(rng: np.random.Generator, activation: str, gate: bool) -> Decoder:
    single = lambda *shape: rng.normal(size=shape).astype(np.float32)  # noqa: E731
    up, down = (Linear(single(WIDTH, HIDDEN), single(HIDDEN)),), (Linear(single(HIDDEN, WIDTH), single(WIDTH)),)
    mlp = Mlp(activation, up, down, (Linear(single(WIDTH, HIDDEN)),) if gate else None)
    layer = Layer((), mlp_norm=Norm("rms", 1e-5, single(WIDTH)), mlp=mlp)
    return Decoder(
        (single(1, TOKENS, WIDTH),), (layer,), Norm("layer", 1e-5), (Linear(single(WIDTH, TOKENS), single(4)),)
    )


@pytest.mark.parametrize("gate", [False, True])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_logits_lie_inside_in_both_precisions(activation, gate):
    rng = np.random.default_rng(3)
    network = decoder(rng, activation, gate)
    mlp, layer = network.layers[0].mlp, network.layers[0]
    for unit, dtype in ((0.0, np.float64), (FLOAT32, np.float32)):
        x = forms(rng, 100, WIDTH, 0.05, unit)
        values = samples(x, rng).astype(dtype)
        if unit:
            x = x.wider(2.0**-23 * x.magnitude())  # the values were rounded to float32
        assert inside(fed(mlp, x), _mlp(mlp, values))
        after = values + _mlp(mlp, norm_of(layer.mlp_norm, values))
        logits = chained(network.head, norm_of(network.final_norm, after))
        apart = logits[..., [1]] - np.delete(logits, 1, -1)
        assert inside(margins(network, finished(network, x), 1), apart)


def test_float32_needs_its_own_bound():
    """A bound for float64 does not contain float32 values unless it covers float32 rounding."""
    rng = np.random.default_rng(4)
    network = decoder(rng, "gelu", False)
    x = forms(rng, 500, WIDTH, 0.0)
    exact = x.center.astype(np.float32)
    x = AffineForm(exact.astype(np.float64), x.slopes, x.radius, x.box)
    single = _mlp(network.layers[0].mlp, exact)
    assert not inside(fed(network.layers[0].mlp, x), single)
    covered = AffineForm(x.center, x.slopes, x.radius, x.box, FLOAT32)
    assert inside(fed(network.layers[0].mlp, covered), single)
