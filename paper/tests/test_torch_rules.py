"""Wrong steps are counted by a matching of their own: an engine that matches wrongly is found out."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from long import examples
from programs import next_state, random_program

from bitwright import addition
from bitwright.engines.rules import RuleEngine
from bitwright.runs.sliced import counting
from bitwright.theory.encoding import PackedRules
from bitwright.theory.encoding.training_set import TrainingSet
from bitwright.validation.judge import LiteralRules, Walker
from paper.training import Plan, Recipe, train

torch = pytest.importorskip("torch")
DEVICES = [
    "cpu",
    pytest.param(
        "cuda", marks=[pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")]
    ),
]


@pytest.mark.parametrize("device", DEVICES)
@settings(max_examples=examples(25))
@given(seed=st.integers(0, 2**32 - 1), bits=st.integers(1, 30), largest=st.integers(1, 6), more=st.integers(0, 9))
def test_three_ways_to_the_same_successors(device: str, seed: int, bits: int, largest: int, more: int) -> None:
    from paper.measurements.torch_rules import TorchRules

    rng = np.random.default_rng(seed)
    program = random_program(rng, bits, largest, 4)
    states = rng.random((40, bits)) < rng.random()
    wanted = np.array([next_state(program, state) for state in states])
    batch = RuleEngine(program).begin(states)
    batch.step()
    assert (batch.states() == wanted).all()
    padded = torch.from_numpy(np.pad(states, ((0, 0), (0, more)))).to(device)
    found = TorchRules(program, device)(padded)
    assert found.shape == padded.shape
    assert (found[:, :bits].cpu().numpy() == wanted).all()
    assert not found[:, bits:].any()
    matched = LiteralRules(program).matched(states)
    assert [np.flatnonzero(row).tolist() for row in matched] == [program.match(state).tolist() for state in states]


def spoil(engine: Any) -> None:
    """Lets two templates of addition, one of which carries, match each other's configuration."""
    for name in ("signs", "wanted"):
        values = getattr(engine.matching, name)
        first, second = values[..., 0].clone(), values[..., 2].clone()
        values[..., 0], values[..., 2] = second, first


@pytest.mark.parametrize("device", DEVICES)
def test_an_engine_that_matches_wrongly_is_found_out(device: str) -> None:
    from paper.measurements.torch_rules import TorchRules
    from paper.torch_network import TorchNetworkEngine

    algorithm = addition(3)
    program = algorithm.program
    network = train(program, Recipe(4_096, plan=Plan(descent="momentum")))[0]
    engine = TorchNetworkEngine(program, [network], device=device)
    rules, labels = TorchRules(program, device), TrainingSet(program).labels().toarray()
    states = np.array([algorithm.state({"p": p, "q": q}) for q in range(8) for p in range(8)])
    walker = Walker(algorithm, engine, algorithm.steps or 0)
    for spoiled in (False, True):
        if spoiled:
            spoil(engine)
        now = engine.matching.tensor_of(states)
        estimate, n = engine.estimate(now)
        after = (estimate > 0.5) & (n > 0)[:, None]
        wrong = int((after != rules(now)).any(dim=1).sum())
        own = engine.encode(now)[0][:, : program.templates].cpu().numpy() @ labels > 0
        assert (after[:, : program.bits].cpu().numpy() == own).all()  # by its own matching all is well
        assert (wrong > 0) == spoiled
        assert (walker.run(counting(0, 1, 6), 64).wrong_steps > 0) == spoiled


def test_packed_rules_that_match_wrongly_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    algorithm = addition(3)
    right = PackedRules.match
    monkeypatch.setattr(PackedRules, "match", lambda self, rows: right(self, rows)[::-1])
    by_rules = Walker(algorithm, RuleEngine(algorithm.program), algorithm.steps or 0)
    assert by_rules.run(counting(0, 1, 6), 64).wrong_steps > 0
