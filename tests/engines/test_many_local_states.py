"""Kinds with more local states than an int64 counts: their cells step as the rules do, or are refused in a line."""

from pathlib import Path

import numpy as np
import pytest
from random_programs.checks import exact_network

from bitwright import Algorithm, InputError, Network, certify, parse
from bitwright.cli.main import main
from bitwright.engines.cells.engine import CellEngine
from bitwright.networks.quantize import local_sample
from bitwright.rules.cells import draw_numbers
from bitwright.rules.pattern import pattern_of


def shifted(blocks: int) -> Algorithm:
    """One cell of this many blocks of a bit: each bit moves one place up, the last to the first."""
    members = " ".join(f"x[{bit}]" for bit in range(1, blocks + 1))
    return parse(
        f"bits x[{blocks}]\nblock x[i] for i in 1..{blocks}\ncell {members}\n"
        f"when x[i]=1 write x[i%{blocks}+1] for i in 1..{blocks}\ninput x\noutput x\nsteps 1\n"
    )


def engines(algorithm: Algorithm) -> list[CellEngine]:
    pattern = pattern_of([algorithm.program])
    network = exact_network(pattern.program)
    return [CellEngine(algorithm.program, pattern, network)]


@pytest.mark.parametrize("blocks", [62, 63, 64, 65, 200])
def test_a_cell_of_many_blocks_steps_as_the_rules_do(blocks: int) -> None:
    algorithm = shifted(blocks)
    states = np.random.default_rng(blocks).random((50, blocks)) < 0.5
    states[0], states[1] = True, False
    for engine in engines(algorithm):
        assert engine.cell_facts["local_states"] == 2**blocks
        assert not engine.proved
        batch = engine.begin(states)
        for step in (1, 2, 3):
            batch.step()
            assert np.array_equal(batch.states(), np.roll(states, step, axis=1))


def test_random_ones_are_spread_over_all() -> None:
    """Of 2,000 draws each half of the numbers has fewer than 40% with a probability far below 1e-9."""
    for count in (3 * 2**70, 5 * 2**61):
        drawn = draw_numbers(np.random.default_rng(0), count, 2_000)
        assert 0 <= min(drawn) <= max(drawn) < count
        assert 800 < sum(int(number) < count // 2 for number in drawn) < 1_200
    pattern = pattern_of([shifted(70).program])
    matched, own = local_sample(pattern)
    assert 25 < matched.sum(axis=1).mean() < 45
    assert own.sum() == 70 * len(own)


def test_what_goes_through_all_of_them_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    algorithm = shifted(64)
    pattern = pattern_of([algorithm.program])
    cells = Network(exact_network(pattern.program), pattern)
    assert not cells.proved
    assert str(cells).splitlines()[1] == "not proved: its 18,446,744,073,709,551,616 local states are too many to check"
    with pytest.raises(InputError, match="18446744073709551616"):
        certify(algorithm, cells)
    cells.save(tmp_path / "cells.safetensors")
    for to in ("c", "js"):
        assert (
            main(["export", str(tmp_path / "cells.safetensors"), "--to", to, "-o", str(tmp_path / f"cells.{to}")]) == 0
        )
        assert "about 10^19 local states were not checked" in capsys.readouterr().err
