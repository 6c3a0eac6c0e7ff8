"""Training: gradients from outside, NumPy against PyTorch, and failures that say so."""

import numpy as np
import pytest
from cases import for_each

from bitwright import InputError, addition
from bitwright.networks import TrainingError
from bitwright.networks.descent import NetworkShape
from bitwright.networks.train import backward, descend, forward
from bitwright.theory.encoding.training_set import TrainingSet
from paper.training import Plan, Recipe, Start, initial_weights, train

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
SHAPE = NetworkShape(8, 512, 6)  # addition of 2 bits


def labels(bits: int = 2) -> np.ndarray:
    return np.asarray(TrainingSet(addition(bits).program).labels().toarray().T)


@pytest.mark.parametrize("start", ["zero", "random"])
def test_the_start_depends_on_seed_and_member_alone(start: Start) -> None:
    one, same = (initial_weights(SHAPE, start, seed=3, member=5) for _ in range(2))
    other = initial_weights(SHAPE, start, seed=3, member=6)
    assert all((a == b).all() for a, b in zip(one, same, strict=True))
    assert not any((a == b).all() for a, b in zip(one, other, strict=True))
    assert one[0].shape == (512, 8)
    assert one[1].shape == (6, 512)
    for weights in one:
        assert abs(weights.mean()) < 0.1
        assert abs(weights.std() - 1) < 0.1


BASIS = np.linalg.qr(np.random.default_rng(1).standard_normal((8, 8)))[0]


def test_a_zero_output_start_is_zero_everywhere() -> None:
    first, last = initial_weights(SHAPE, "zero", seed=1)
    x = np.random.default_rng(0).standard_normal((50, 8)).astype(np.float32)
    assert np.abs(np.maximum(x @ first.T, 0) @ last.T).max() < 1e-3


@pytest.mark.parametrize("basis", [False, True])
def test_gradients_are_autograds(basis: bool) -> None:
    first, last = initial_weights(SHAPE, "random", seed=2, dtype=np.float64)
    x = BASIS if basis else np.eye(8)
    w1, w2 = (torch.tensor(w, requires_grad=True) for w in (first, last))
    outputs = (w2 @ torch.relu(w1 @ torch.tensor(x).T)) / np.sqrt(8 * 512)
    loss = 0.5 * (outputs - torch.tensor(labels())).square().sum()
    loss.backward()
    inputs = x if basis else None
    before, hidden, error = forward(first, last, labels(), inputs)
    back_first, back_last = backward(last, before, hidden, error, inputs)
    assert 0.5 * float((error**2).sum()) == pytest.approx(loss.item())
    np.testing.assert_allclose(back_first, w1.grad.numpy(), atol=1e-12)
    np.testing.assert_allclose(back_last, w2.grad.numpy(), atol=1e-12)


def test_any_orthonormal_basis_trains_the_same_function() -> None:
    """With X in place of unit vectors, w1 X' takes the path that w1 takes without."""
    x = BASIS
    first, last = initial_weights(SHAPE, "zero", seed=4, dtype=np.float64)
    fast_first, fast_last = first @ x.T, last.copy()
    general = descend(first, last, labels(), Plan().schedule(SHAPE), 1e-3, inputs=x)
    fast = descend(fast_first, fast_last, labels(), Plan().schedule(SHAPE), 1e-3)
    np.testing.assert_allclose(first @ x.T, fast_first, atol=1e-10)
    np.testing.assert_allclose(last, fast_last, atol=1e-10)
    assert general.steps == fast.steps


def test_batches_of_networks_train_as_each_alone() -> None:
    from paper.descent import descend_many

    torch.set_num_threads(1)
    starts = [initial_weights(SHAPE, "random", 9, member) for member in range(4)]
    y = torch.tensor(labels(), dtype=torch.float32)
    together = descend_many(
        torch.tensor(np.array([s[0] for s in starts])), torch.tensor(np.array([s[1] for s in starts])), y, Plan()
    )
    for member, (first, last) in enumerate(starts):
        alone = descend_many(torch.tensor(first[None]), torch.tensor(last[None]), y, Plan())
        np.testing.assert_allclose(together[0][member], alone[0][0], atol=1e-5)
        assert together[2][member].steps == alone[2][0].steps


def test_training_reaches_its_tolerance_and_keeps_a_history() -> None:
    network, history = train(addition(4).program, Recipe(2048, plan=Plan(tolerance=1e-4)))
    examples = TrainingSet(addition(4).program)
    outputs = network(examples.inputs().toarray().astype(np.float32))
    assert np.abs(outputs - examples.labels().toarray()).max() <= 1.1e-4
    assert history.error[-1] <= 1e-4 < history.error[-2]
    assert history.loss[0] > 100 * history.loss[-1]
    assert network.origin.error == history.error[-1]


def test_balanced_steps_arrive_where_plain_ones_do() -> None:
    """What another way to go down changes is small beside what another seed does, and smaller the wider the network."""
    algorithm = addition(4)
    states = algorithm.states((np.arange(256)[:, None] >> np.arange(8) & 1).astype(bool))
    x = TrainingSet(algorithm.program).encode(states).astype(np.float32)
    apart = []
    for width in (1_024, 16_384):
        plain, balanced, other = (
            train(algorithm.program, Recipe(width, seed, plan=plan))[0](x)
            for seed, plan in ((0, Plan(1e-4, "plain")), (0, Plan(1e-4)), (1, Plan(1e-4, "plain")))
        )
        apart.append(np.abs(plain - balanced).max() / np.abs(plain - other).max())
    assert apart[0] < 0.5
    assert apart[1] < 0.1 < 2 * apart[0]


def test_divergence_and_stalling_are_errors() -> None:
    with pytest.raises(TrainingError, match="diverged after"):
        train(addition(3).program, Recipe(512, plan=Plan(rate=1e4)))
    with pytest.raises(TrainingError, match=r"stalled.*2"):
        train(addition(3).program, Recipe(512, plan=Plan(most_steps=2)))


@for_each(
    ("recipe", "message"),
    [
        (lambda: Recipe(7), "width must be even, got 7"),
        (lambda: Recipe(8, plan=Plan(tolerance=0)), "tolerance must be between 0 and 0.5"),
        (lambda: Recipe(8, plan=Plan(rate=-1)), "rate must be above 0"),
        (lambda: Recipe(8, plan=Plan(most_steps=0)), "number of steps must be between 1"),
        (lambda: Recipe(256, start="hot"), "there is no start 'hot'; choose zero or random"),
        (lambda: Recipe(256, precision="float16"), "there is no precision 'float16'"),
        (lambda: Plan(parametrization="mup"), "'mup'"),
    ],
)
def test_impossible_recipes(recipe: object, message: str) -> None:
    assert callable(recipe)
    with pytest.raises(InputError, match=message):
        train(addition(2).program, recipe())
