"""One loop steps from a table of answers: the rules', those of a network, and those of a network that is wrong."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cases import for_each
from graph_programs import EXAMPLES
from hypothesis import given, settings
from hypothesis import strategies as st
from long import LONG, examples
from programs import random_program

from bitwright import Algorithm, addition, multiplication, parse, run
from bitwright.common.bits import BoolArray
from bitwright.engines.cells import Decider
from bitwright.engines.cells.engine import CellEngine
from bitwright.engines.rules import LimitEngine, PackedBatch, RuleEngine
from bitwright.engines.table import batch as table_batch
from bitwright.engines.table import pack_rules
from bitwright.engines.table.batch import TableBatch
from bitwright.machines import Sizes, machine_b
from bitwright.machines.subleq import DIALECTS, Shape, machine_v, memo
from bitwright.rules import Program, Topology, load
from bitwright.rules.layout import IntArray
from bitwright.rules.pattern import Pattern, pattern_of
from bitwright.runs.loop import drive, ending_of, step_limit
from bitwright.runs.observers import Margins, Visits
from bitwright.runs.successors import successors
from bitwright.theory.closed_form import FloatArray
from paper.sbn import steps_per_instruction


def lockstep(program: Program, state: np.ndarray, steps: int) -> None:
    event, packed = TableBatch(pack_rules(program), state), PackedBatch(RuleEngine(program), state[None])
    for _ in range(steps):
        n = len(program.match(packed.states()[0]))
        event.step()
        packed.step()
        assert event.matches == (n, n)
        assert (event.states() == packed.states()).all()
        assert event.unchanged()[0] == packed.unchanged()[0]
        assert event.bit(program.bits - 1)[0] == packed.bit(program.bits - 1)[0]


@settings(max_examples=examples(60))
@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(1, 7), st.integers(1, 6))
def test_random_programs(seed: int, bits: int, largest: int, fan: int) -> None:
    rng = np.random.default_rng(seed)
    program = random_program(rng, bits, largest, fan)
    lockstep(program, rng.random(bits) < rng.random(), 12)


def test_what_is_counted_along_a_leap() -> None:
    sizes = Sizes(3, 4, 5)
    machine = machine_b(sizes)
    state = np.zeros((1, machine.program.bits), dtype=bool)
    state[0, list(machine.always_on)] = True
    state[0, machine.memory_bits[1:, 2]] = True
    event = TableBatch(pack_rules(machine.program), state[0])
    steps = event.leap(10 * steps_per_instruction(sizes), (), (machine.boundary,))
    packed = PackedBatch(RuleEngine(machine.program), state)
    count, n = 0, []
    for _ in range(steps):
        n.append(len(machine.program.match(packed.states()[0])))
        packed.step()
        count += int(packed.bit(machine.boundary)[0])
    assert (event.counted, event.matches) == (count, (min(n), max(n)))
    assert count > 2


@pytest.mark.parametrize("most", [1, 7, 1000])
def test_leaps_make_the_same_steps(most: int) -> None:
    algorithm = multiplication(5)
    state = algorithm.state({"multiplicand": 21, "multiplier": 27})
    event = TableBatch(pack_rules(algorithm.program), state)
    packed = PackedBatch(RuleEngine(algorithm.program), state[None])
    made = 0
    while made < 115:
        now = event.leap(min(most, 115 - made), ())
        for _ in range(now):
            packed.step()
        made += now
        assert (event.states() == packed.states()).all()
    assert algorithm.read(event.states()[0]) == {"product": 21 * 27}


def test_a_leap_stops_at_a_bit_and_at_a_fixed_point() -> None:
    algorithm = addition(6, counter=True)
    state = algorithm.state({"p": 33, "q": 31})
    assert isinstance(algorithm.halt, int)
    event = TableBatch(pack_rules(algorithm.program), state)
    assert event.leap(1000, (algorithm.halt,)) == 11
    assert event.bit(algorithm.halt)[0]
    again = TableBatch(pack_rules(algorithm.program), state)
    steps = again.leap(1000, ())
    assert again.unchanged()[0]
    assert steps == 12  # the last one changes nothing


def test_loops_are_loaded_for_large_programs_and_used_where_they_are_loaded() -> None:
    """In a process of its own, which has loaded none yet."""
    lines = (
        "import numpy as np; from bitwright import addition; from bitwright.engines.rules import RuleEngine",
        "def how(bits): return type(RuleEngine(addition(bits).program).begin(np.zeros((1, 3 * bits), bool))).__name__",
        "print(how(10), how(1_000), how(10))",
    )
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["PackedBatch", "TableBatch", "TableBatch"]


ENDINGS = ["halt when counter[12]", "halt at fixed point", "steps 9", "halt at fixed point\nsteps 4", "steps 0"]


@for_each("limit", [None, 0, 1, 3, 7, 40])
@for_each("ending", ENDINGS)
def test_runs_are_the_same_by_changes_and_in_packed_words(ending: str, limit: int | None) -> None:
    """All endings, limits, counts and margins: the same run whichever way it is made."""
    rules = addition(6, counter=True).text().split("input")[0]
    algorithm = parse(
        f"{rules}input p = p[1..6]\ninput q = q[1..6]\noutput s = c[6] p[1..6]\nstart counter[1]\n{ending}"
    )
    found = []
    for large, long in ((1, 10**9), (10**9, 10**9), (10**9, 2)):  # by changes, in words, first so and then so
        engine = LimitEngine(algorithm.program, algorithm.program.templates, "calibrated", large=large)
        visits = Visits(algorithm.program.layout.bit("counter[3]"))
        margins, start = Margins(), algorithm.state({"p": 33, "q": 31})[None]
        done = drive(engine, start, ending_of(algorithm), step_limit(algorithm, limit), [margins, visits], long)
        smallest = None if margins.smallest is None else margins.smallest.tolist()
        found.append((done.states.tolist(), done.steps.tolist(), done.halted.tolist(), smallest, visits.count))
    assert found[0] == found[1] == found[2]


def test_margins_are_the_smallest_of_all_steps_so_far() -> None:
    """zhat is an integer where anything matches, so 1/2 away; where nothing does, nothing is rounded."""
    program = parse("bits p[2]\nblock p[i] for i in 1..2\nwhen p[1]=1 write p[2]").program
    engine = LimitEngine(program, 1, "calibrated", large=1)
    for state, wanted in (([True, False], [0.5, 0.5, 0.5]), ([False, True], [np.inf, np.inf])):
        batch = engine.begin(np.array([state]))
        assert isinstance(batch, TableBatch)
        for margin in wanted:
            batch.step()
            assert batch.margin() == margin
    assert TableBatch(pack_rules(program), np.array([True, False])).margin() is None


class Flipped(Decider):
    """The rules' own answers, all but some bits of some local states; a margin for each."""

    engine, exact, networks, width, seed = "network", True, 1, 1, 0

    def __init__(self, pattern: Pattern, share: float) -> None:
        super().__init__(pattern, pattern.program.templates, "calibrated")
        self._share, program = share, pattern.program
        self._writes = np.zeros((program.templates, program.bits))
        self._writes[np.repeat(np.arange(program.templates), np.diff(program.write_start)), program.write_bits] = 1

    def __call__(self, matched: BoolArray, n: IntArray) -> tuple[BoolArray, FloatArray]:  # noqa: ARG002
        drawn = [np.random.default_rng([len(row), *row.tolist()]).random(self._writes.shape[1]) for row in matched]
        chance = np.array(drawn).reshape(len(matched), -1)
        return np.asarray((matched @ self._writes > 0) ^ (chance < self._share)), 0.1 + chance


def own_step(engine: CellEngine, state: BoolArray) -> BoolArray:
    """The definition, cell by cell: a bit is on if a port that the network turns on is wired to it."""
    program, found = engine.program, engine.wiring.found
    following = np.zeros_like(state)
    matched = set(program.match(state).tolist())
    for cell in np.flatnonzero(found.of >= 0).tolist():
        own = found.order[found.first_template[cell] : found.first_template[cell + 1]].tolist()
        kind = engine.wiring.places[int(found.of[cell])]
        rows = np.zeros((1, engine.pattern.program.templates), dtype=bool)
        first = int(engine.pattern.first_template[kind])
        rows[0, first : first + len(own)] = [template in matched for template in own]
        on = engine.decider(rows, rows.sum(axis=1))[0][0][engine.pattern.port_bits(kind)]
        wires = np.flatnonzero(found.wire_cell == cell)
        following[found.wire_bit[wires][on[found.wire_port[wires]]]] = True
    return following


def graph() -> Algorithm:
    return EXAMPLES["bfs"].on(
        Topology.from_edges(5, [(0, 1), (1, 2), (1, 3), (3, 4), (2, 4)]), {"source": np.eye(5, dtype=np.int64)[0]}
    )


def automaton(width: int, steps: int) -> Algorithm:
    text = Path("examples/rule110.bw").read_text()
    return parse(text.replace("let w = 64", f"let w = {width}").replace("steps 41", f"steps {steps}"))


PROGRAMS = {
    "addition": lambda: addition(6),
    "multiplication": lambda: multiplication(4),
    "rule 110": lambda: load("examples/rule110.bw"),
    "machine V": lambda: Algorithm("V", machine_v(Shape(8, 5, DIALECTS["howerj"])).program),
    "machine B": lambda: Algorithm("B", machine_b(Sizes(3, 4, 5)).program),
    "search on a graph": graph,
}


@for_each("share", [0.0, 0.4, *[0.1] * LONG])
@for_each("name", PROGRAMS)
def test_a_wrong_network_runs_through_the_same_loop(name: str, share: float) -> None:
    """With flipped answers, beside every cell evaluated at every step, and beside the definition."""
    program = PROGRAMS[name]().program
    pattern = pattern_of([program])
    decider = Flipped(pattern, share)
    own, evaluated = (CellEngine(program, pattern, decider) for _ in range(2))
    evaluated.__dict__["tables"] = None  # as if there were too many local states
    assert (own.tables.wrong > 0) == own.fallible == (share > 0)
    rng, rules = np.random.default_rng(1), RuleEngine(program)
    differ = 0
    for chance in (0.1, 0.5):
        state = rng.random((1, program.bits)) < chance
        by_table, by_network, many = own.begin(state, long=True), evaluated.begin(state), own.begin(state.repeat(9, 0))
        assert isinstance(by_table, TableBatch)
        smallest = np.inf
        for step in range(25 if LONG else 15):
            truth = rules.begin(by_table.states())
            truth.step()
            wanted = own_step(own, by_table.states()[0]) if step < 4 else None
            for batch in (by_table, by_network, many):
                batch.step()
            assert wanted is None or (by_table.states()[0] == wanted).all()
            assert (by_table.states() == by_network.states()).all()
            assert (many.states() == by_network.states()).all()
            assert by_table.unchanged()[0] == by_network.unchanged()[0]
            wrong = (by_table.states() != truth.states()).any()
            differ += wrong
            assert by_network.margin()[0] < 0 if wrong else share > 0 or by_network.margin()[0] > 0
            smallest = min(smallest, by_network.margin()[0])
            assert by_table.margin()[0] == smallest
            assert many.margin() == pytest.approx(by_network.margin().repeat(9))
    assert (differ > 0) == (share > 0)


class OneWrong(Flipped):
    """The rules' own answers but for one local state, where only the last template but one matches: no port is set."""

    def __call__(self, matched: BoolArray, n: IntArray) -> tuple[BoolArray, FloatArray]:
        on, margins = super().__call__(matched, n)
        return np.where((matched[:, -2] & (n == 1))[:, None], False, on), margins


def test_one_wrong_local_state_is_counted_and_its_result_is_wrong_where_it_occurs() -> None:
    algorithm = addition(6)
    pattern = pattern_of([algorithm.program])
    engine = CellEngine(algorithm.program, pattern, OneWrong(pattern, 0.0))
    assert engine.cell_facts["wrong"] == 1
    found = set()
    for p, q in np.random.default_rng(0).integers(0, 64, size=(40, 2)).tolist():
        done = run(algorithm, p=p, q=q, engine=engine)
        assert (done.margin < 0) == (done.value != p + q)
        assert done.exact == (done.value == p + q)
        met = "which occurred" if done.margin < 0 else "which did not occur"
        assert f"WRONG in 1 of 16 local states, {met}; 12 steps" in str(done)
        found.add(met)
    assert len(found) == 2


def test_answers_that_are_other_rules_are_stepped_as_such() -> None:
    """A network that learned other rules of the same cells: a batch follows these, not the rules."""
    algorithm = addition(4)
    program = algorithm.program
    pattern = pattern_of([program])
    decider = Flipped(pattern, 0.0)
    decider._writes[0] = 0  # one template of the pattern sets nothing
    engine = CellEngine(program, pattern, decider)
    assert engine.tables.wrong > 0
    assert engine.answered is None
    states = np.random.default_rng(0).random((70, program.bits)) < 0.5
    batch = engine.begin(states)
    batch.step()
    assert (batch.states() != successors(program, states)).any()
    assert (batch.states() == engine.following(states)[0]).all()
    assert (batch.states() == np.array([own_step(engine, state) for state in states])).all()


@for_each("share", [0.0, 0.1])
@for_each("name", ["machine V", "multiplication"])
@for_each("room", [1 << 20, 1 << 13])
def test_cached_instructions_make_the_same_steps(
    name: str, share: float, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With any bit as the boundary, correct or wrong tables, a full cache, and a host that sets bits."""
    monkeypatch.setattr(memo, "_POOL", room)
    monkeypatch.setattr(table_batch, "_WORTH", 1)
    program, rng = PROGRAMS[name]().program, np.random.default_rng(4)
    pattern, hits = pattern_of([program]), 0
    engine = CellEngine(program, pattern, Flipped(pattern, share))
    for trial in range(12 if LONG else 4):
        boundary = int(rng.integers(program.bits))
        stops = tuple(rng.integers(program.bits, size=trial % 2).tolist())
        state = rng.random((1, program.bits)) < rng.choice([0.02, 0.2, 0.5])
        if name == "machine V" and trial % 2 == 0:  # an instruction that jumps to itself
            machine = machine_v(Shape(8, 5, DIALECTS["howerj"]))
            state, boundary = machine.start([3, 3, 0, 0])[None], machine.boundary
        quick, plain = (engine.begin(state, long=True) for _ in range(2))
        assert isinstance(quick, TableBatch)
        quick.memo = memo.with_memo
        for leap in range(30):
            made = quick.leap(int(rng.integers(1, 400)), stops, (boundary,))
            assert plain.leap(made, stops, (boundary,)) == made
            assert (quick.states() == plain.states()).all()
            assert (quick.counted, quick.matches) == (plain.counted, plain.matches)
            assert (quick.margin(), quick.unchanged()[0]) == (plain.margin(), plain.unchanged()[0])
            if leap % 7 == 6 and trial > 1:
                bits = rng.integers(program.bits, size=2).tolist()
                quick.turn_on(bits)
                plain.turn_on(bits)
        hits += int(quick._advance.args[0].totals[memo.HITS])  # type: ignore[union-attr]
    assert hits > 50 or name != "machine V" or share > 0


def test_batches_of_large_programs_in_which_little_moves_go_one_by_one() -> None:
    """As fast as the runs alone; where all cells move, and where there are many states, they share the words."""
    large = multiplication(64)
    states = large.states(np.random.default_rng(0).random((3, len(large.input_bits))) < 0.5)
    TableBatch(pack_rules(large.program), states[0])  # the loops are loaded
    engine = RuleEngine(large.program)
    assert engine.together(states) == 1
    assert engine.together(np.repeat(states, 2_000, axis=0)) == engine.chunk
    ring = automaton(600, 41)
    busy = ring.states(np.random.default_rng(0).random((60, len(ring.input_bits))) < 0.5)
    assert RuleEngine(ring.program).together(busy) > 1
    together = run(large, states=states)
    for row, state in enumerate(states):
        alone = run(large, states=state[None])
        assert (together.states[row] == alone.states[0]).all()
        assert together.steps[row] == alone.steps[0]
