"""The whole state as one cell with all blocks: the states, limits, networks and proofs of the program itself."""

from collections.abc import Callable
from math import prod
from pathlib import Path

import numpy as np
import pytest
from cases import for_each
from whole import odd_program

from bitwright import Algorithm, InputError, addition, certify, multiplication, permutation, run, train
from bitwright.engines.cells.wiring import Wiring
from bitwright.engines.make import make_engine
from bitwright.machines import Sizes, machine_b
from bitwright.proofs.exhaustion.domains import StatesDomain
from bitwright.rules import Topology, load
from bitwright.rules.pattern import Pattern, pattern_of
from bitwright.rules.text import load_any
from bitwright.runs.successors import random_executions, successors
from bitwright.theory.rounding import Rounding
from paper.kernel_engine import KernelEngine

EXAMPLES = Path(__file__).parents[2] / "examples"


def graph() -> Algorithm:
    """Breadth-first search on a triangle with a tail."""
    search = load_any(EXAMPLES / "graphs" / "bfs.bw")
    return search.on(Topology.from_edges(4, [(0, 1), (1, 2), (0, 2), (2, 3)]), {"source": np.eye(4, dtype=np.int64)[0]})


PROGRAMS: dict[str, Callable[[], Algorithm]] = {
    "addition": lambda: addition(4),
    "permutation": lambda: permutation([3, 1, 2, 4]),
    "multiplication": lambda: multiplication(3),
    "comparison": lambda: load(EXAMPLES / "comparison.bw"),
    "bits that nothing reads or writes": odd_program,
    "machine B": lambda: Algorithm("B", machine_b(Sizes(2, 2, 2)).program),
    "a node program": graph,
}


@for_each("name", PROGRAMS)
def test_there_are_as_many_states_as_choices_in_all_blocks(name: str) -> None:
    program = PROGRAMS[name]().program
    counts = np.bincount(program.template_block, minlength=program.blocks).tolist()
    sizes = [1 << len(program.block_members(block)) for block in range(program.blocks)]
    wanted = prod(count + (count < size) for count, size in zip(counts, sizes, strict=True) if count)
    assert Pattern.of_state(program).local_states == StatesDomain(pattern_of([program], "all")).size == wanted


@for_each("rounding", ["calibrated", "sign"])
@for_each("name", PROGRAMS)
def test_the_limit_has_the_steps_and_margins_of_the_dense_solve(name: str, rounding: Rounding) -> None:
    program = PROGRAMS[name]().program
    K = program.templates + 700
    if K > 900:
        return
    states = random_executions(program, 40).before
    usual, dense = make_engine("limit", program, rounding=rounding, examples=K), KernelEngine(program, K, rounding)
    batches = [usual.begin(states), dense.begin(states)]
    for batch in batches:
        batch.step()
    assert (batches[0].states() == batches[1].states()).all()
    np.testing.assert_allclose(batches[1].margin(), batches[0].margin(), rtol=1e-9)


@for_each("name", PROGRAMS)
def test_every_bit_is_a_port_of_its_own(name: str) -> None:
    """What the one cell writes, from the local states that it sees, is what the rules write."""
    program = PROGRAMS[name]().program
    wiring = Wiring(program, pattern_of([program], "all"))
    (wired,) = wiring.kinds
    states = random_executions(program, 50).before
    (numbers,) = wiring.numbers(states)
    assert numbers.shape == (50, 1)
    local = wired.local
    ports = local.truth(local.matched(numbers[:, 0]))
    assert ports.shape == (50, program.bits)
    assert (wiring.written([ports[:, None]], 50) == successors(program, states)).all()


def test_a_network_of_the_whole_state_is_one_cell() -> None:
    done = run(addition(3), p=5, q=3, network=train(addition(3), tile="all", width=1_024))
    assert (done.value, done.exact is not False) == (8, True)
    assert (done.cells["tile"], done.cells["kinds"], done.cells["local_states"]) == ("all", 1, 512)


def test_it_is_trained_tried_and_kept_like_cells(tmp_path: Path) -> None:
    network = train(addition(3), tile="all")
    assert network.proved
    assert not network.cells
    assert str(network).endswith(f"smallest margin {network.tables.margin:.3f}")  # type: ignore[union-attr]
    network.save(tmp_path / "n.safetensors")
    back = type(network).load(tmp_path / "n.safetensors")
    assert (back.digest, back.trained_for) == (network.digest, "addition of 3 bits")
    assert certify(addition(3), back).states == 512
    with pytest.raises(InputError, match="another program"):
        run(addition(4), p=1, q=1, network=back)
