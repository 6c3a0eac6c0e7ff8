"""Training sets: orthonormal inputs, labels, padding and encodings as Section 5.1 defines them."""

from pathlib import Path

import numpy as np
import pytest
from cases import for_each
from programs import CASES, Case

from bitwright import InputError, addition
from bitwright.theory.encoding.training_set import TrainingSet
from paper.dense import Predictor


@for_each("case", CASES)
def test_one_orthonormal_example_a_template(case: Case) -> None:
    program = case.algorithm.program
    examples = TrainingSet(program, padding=3)
    x, y = examples.inputs().toarray(), examples.labels().toarray()
    assert x.shape == (program.templates + 3, program.templates + 3)
    assert (x == np.eye(len(x))).all()
    assert y.shape == (program.templates + 3, program.bits)
    for template in range(program.templates):
        assert np.flatnonzero(y[template]).tolist() == program.writes(template).tolist()
    assert not y[program.templates :].any()
    assert (y.sum(axis=0) == program.writers).all()


@pytest.mark.parametrize("seed", [1, 2])
def test_no_basis_changes_the_limit(seed: int) -> None:
    """The kernel sees inner products only: mean and covariance are the same in every orthonormal basis."""
    algorithm = addition(4)
    program = algorithm.program
    rng = np.random.default_rng(seed)
    states = rng.random((20, program.bits)) < 0.4
    results = []
    examples = TrainingSet(program, 5)
    for basis in (np.eye(21), np.linalg.qr(rng.standard_normal((21, 21)))[0]):
        predictor = Predictor(examples.inputs() @ basis, examples.labels().toarray())
        encoded = examples.encode(states) @ basis
        results.append((predictor.mean(encoded), predictor.covariance(encoded)))
    np.testing.assert_allclose(results[0][0], results[1][0], atol=1e-9)
    np.testing.assert_allclose(results[0][1], results[1][1], atol=1e-10)


def test_the_file_holds_everything(tmp_path: Path) -> None:
    program = addition(2).program
    path = tmp_path / "set.npz"
    TrainingSet(program, 2).save(path)
    with np.load(path, allow_pickle=False) as stored:
        assert (stored["X"] == np.eye(10)).all()
        assert stored["Y"].shape == (10, 6)
        assert stored["examples"][0] == "when p[1]=1 q[1]=0 write p[1]"
        assert stored["examples"][-1] == "padding 2"
        assert stored["bits"].tolist() == ["p[1]", "p[2]", "q[1]", "q[2]", "c[1]", "c[2]"]
        assert str(stored["program_id"]) == program.id
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_no_training_set() -> None:
    program = addition(2).program
    with pytest.raises(InputError, match=r"8.*templates.*7"):
        TrainingSet(program, -1)
    with pytest.raises(InputError, match="too large"):
        TrainingSet(program, 20_000).save(Path("never-written.npz"))


def test_encoding_of_states() -> None:
    algorithm = addition(3)
    examples = TrainingSet(algorithm.program, 1)
    states = np.array([algorithm.state({"p": p, "q": q}) for p, q in ((0, 0), (1, 0), (5, 7))])
    encoded = examples.encode(states)
    assert not encoded[0].any()
    assert sorted(encoded[1])[-2:] == [0, 1]
    assert np.count_nonzero(encoded[2]) == 3
    np.testing.assert_allclose(np.linalg.norm(encoded, axis=1), [0, 1, 1])
    assert np.flatnonzero(encoded[2]).tolist() == algorithm.program.match(states[2]).tolist()
