"""The NTK mean by neural-tangents, batched and jitted, as a careful user would write it; runs in its own environment.

    .venv-peers/bin/python benchmarks/peers/neural_tangents_mean.py DATA.npz OUT.npz SECONDS BATCHES

DATA has the training set (X, Y) and encoded test states. Two ways: `predict`, the library's own predictor under jit,
and `solve`, its test kernel under jit times weights that were solved for once, the least it can be made to do.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ |= {"JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "3"}

import jax
import jax.numpy as jnp
import neural_tangents as nt
import numpy as np
from neural_tangents import stax


def rate(function: Callable[[Any], Any], states: Any, batch: int, seconds: float) -> float:
    """States a second over `seconds`, after the first call, which compiles."""
    tests = [jnp.asarray(states[at : at + batch]) for at in range(0, len(states) - batch + 1, batch)]
    jax.block_until_ready(function(tests[0]))
    best, until = 0.0, time.perf_counter() + seconds
    while time.perf_counter() < until:
        begin, done = time.perf_counter(), 0
        while time.perf_counter() - begin < seconds / 4:
            jax.block_until_ready(function(tests[done % len(tests)]))
            done += 1
        best = max(best, done * batch / (time.perf_counter() - begin))
    return best


def main() -> None:
    data, seconds = np.load(sys.argv[1]), float(sys.argv[3])
    batches = [int(word) for word in sys.argv[4].split(",")]
    found: dict[str, Any] = {"versions": np.array([nt.__version__, jax.__version__])}
    for bits in (32, 64):
        jax.config.update("jax_enable_x64", bits == 64)
        kind = np.float64 if bits == 64 else np.float32
        X, Y, states = (data[name].astype(kind) for name in ("X", "Y", "states"))
        _, _, kernel = stax.serial(stax.Dense(1), stax.Relu(), stax.Dense(1))
        predictor = nt.predict.gradient_descent_mse_ensemble(kernel, X, Y, diag_reg=0.0)
        predictor(x_test=states[:1], get="ntk")  # solves once; inside jit it would keep a traced value for later calls
        weights = jnp.linalg.solve(kernel(X, None, "ntk"), Y)
        ways = {
            "predict": jax.jit(lambda x, p=predictor: p(x_test=x, get="ntk")),
            "solve": jax.jit(lambda x, k=kernel, train=X, w=weights: k(x, train, "ntk") @ w),
        }
        for name, way in ways.items():
            found[f"{name}{bits}"] = np.array([rate(way, states, batch, seconds) for batch in batches])
            found[f"{name}{bits}_means"] = np.asarray(way(jnp.asarray(states[:1024])))
    np.savez(sys.argv[2], **found)


if __name__ == "__main__":
    main()
