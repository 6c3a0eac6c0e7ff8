"""What must hold of every program: engines step as the interpreter does, and verdicts are those of brute force."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from warnings import catch_warnings

import numpy as np
import pytest
from checking import checked
from random_programs.naive import LocalState, Rules, State, local_state, local_states, random_rules, step_by_cells, sums
from random_programs.naive import threshold as threshold_of
from whole import engine_of

from bitwright import Algorithm, BitwrightWarning, InputError, Program, parse, validate
from bitwright.engines.cells.engine import CellEngine
from bitwright.engines.protocol import Engine
from bitwright.engines.rules import LimitEngine, RuleEngine
from bitwright.networks import IntegerNetwork, Recipe, save_network
from bitwright.networks.integer import Rounded, most_matches, writer_numbers
from bitwright.networks.network import Origin
from bitwright.proofs.certificate import certify_cells
from bitwright.proofs.certificate_file import claims_of
from bitwright.proofs.exhaustion.certificate import BitInState, NetworkVerdict, certify_network
from bitwright.proofs.exhaustion.task import ProofTask, prove
from bitwright.proofs.width import suggested_width
from bitwright.rules.pattern import Pattern, pattern_of
from bitwright.theory.closed_form import weights
from bitwright.verbs.cells import train_on_pattern

Counts = Counter[str]


def exact_network(program: Program) -> IntegerNetwork:
    """Hidden units are examples; a sum counts the matched writers of a bit, and one is enough."""
    last = np.zeros((program.bits, program.templates), dtype=np.int8)
    for template in range(program.templates):
        last[program.writes(template), template] = 1
    origin = Origin(program.id, 0, "plain", 0.1, 0.0, 0, "numpy on cpu")
    writers = writer_numbers(program)
    thresholds = np.zeros((most_matches(program), len(writers)), dtype=np.int64)
    first = np.eye(program.templates, dtype=np.int8)
    return IntegerNetwork(first, last, thresholds, writers, origin, Rounded(8, 1.0, 1.0, 1.0, ("0" * 64,)))


def changed(network: IntegerNetwork, rng: np.random.Generator) -> IntegerNetwork:
    """A few numbers of it are others: often that is wrong somewhere, sometimes nowhere that matters."""
    name = str(rng.choice(["first", "last", "last", "thresholds"]))
    tensor = getattr(network, name).copy()
    for _ in range(int(rng.integers(1, 3))):
        tensor[tuple(int(rng.integers(size)) for size in tensor.shape)] = int(rng.integers(-3, 4))
    return replace(network, **{name: tensor})


def check_program(rng: np.random.Generator, counts: Counts, train: bool = False, sceptic: bool = False) -> None:
    """With `train` a network is trained too; with `sceptic` others judge the certificates, each in a process."""
    rules = random_rules(rng)
    with catch_warnings(action="ignore", category=BitwrightWarning):  # such as rules that write nothing
        algorithm = parse(rules.text(), "random")
    program, pattern = algorithm.program, pattern_of([algorithm.program])
    assert [(kind.blocks, kind.ports) for kind in pattern.kinds] == rules.kinds
    counts["programs"] += 1
    K = program.templates
    check_steps(rules, rules.step, engines(program, K), counts)
    own, whole = exact_network(pattern.program), exact_network(program)
    networks = [own, changed(own, rng), changed(own, rng)]
    if train and any(kind.ports for kind in pattern.kinds):
        width = suggested_width(pattern)
        found = train_on_pattern(pattern, Recipe(width), seeds=1)
        assert found.proved == (not wrong_ones(local_states(rules.kinds, found.weights)))
        networks += [found.weights, changed(found.weights, rng)]
        counts["trained networks"] += 1
    for network in networks:
        by_cell = [CellEngine(program, pattern, network)]
        check_steps(rules, lambda state, n=network: step_by_cells(rules, n, state), by_cell, counts)
        certificate = check_cells_certificate(rules, pattern, network, counts)
        check_device(pattern, network, counts)
        check_runs(rules, algorithm, network, by_cell[0], counts)
        if sceptic:
            check_by_sceptic(algorithm, pattern.program, network, certificate, counts)
    for network in (whole, changed(whole, rng)):
        check_states_certificate(rules, algorithm, network, counts)
        check_steps(
            rules,
            lambda s, n=network: step_of(rules, n, rules.matched(s)),
            [engine_of(program, network)],
            counts,
        )
    check_limit(rules, pattern, counts)


def engines(program: Program, K: int) -> Iterable[Engine]:
    yield RuleEngine(program)
    yield LimitEngine(program, K, "calibrated")


def check_steps(rules: Rules, step: Callable[[State], State], some: Iterable[Engine], counts: Counts) -> None:
    states = rules.every_state()
    wanted = np.array([step(state) for state in states], dtype=bool)
    for engine in some:
        batch = engine.begin(np.array(states, dtype=bool))
        batch.step()
        assert np.array_equal(batch.states(), wanted), (engine.name, rules.text())
        for at in range(0, len(states), max(1, len(states) // 16)):  # alone too, in the loops for long runs
            alone = engine.begin(np.array(states[at : at + 1], dtype=bool), long=True)
            alone.step()
            assert np.array_equal(alone.states()[0], wanted[at]), (engine.name, rules.text())
        counts["steps compared"] += len(states)


def wrong_ones(states: Iterable[LocalState]) -> list[LocalState]:
    return [one for one in states if one.given != one.expected]


def check_device(pattern: Pattern, network: IntegerNetwork, counts: Counts) -> None:
    """What a device does, here done by PyTorch on the CPU, finds the same."""
    if find_spec("torch") is None:
        return
    from bitwright.proofs.exhaustion.device import DeviceProver

    task = ProofTask(Algorithm("cells", pattern.program), network, "cells")
    assert DeviceProver(task, most=16, least=1).prove(0, task.domain.size) == prove(task)
    counts["of cells, on a device"] += 1


def check_runs(rules: Rules, algorithm: Algorithm, network: IntegerNetwork, engine: CellEngine, counts: Counts) -> None:
    """Of all inputs those are reported, with both outputs, that three steps of the network take elsewhere."""

    def after(state: State, step: Callable[[State], State]) -> int:
        for _ in range(3):
            state = step(state)
        return sum(bit << at for at, bit in enumerate(state))

    found = validate(algorithm, engine=engine).tally
    starts = {sum(bit << at for at, bit in enumerate(state)): state for state in rules.every_state()}
    wanted = {number: after(state, rules.step) for number, state in starts.items()}
    given = {number: after(state, partial(step_by_cells, rules, network)) for number, state in starts.items()}
    assert found.wrong == sum(wanted[number] != given[number] for number in starts)
    for failure in found.failures:
        number = failure.inputs["x"]
        assert (failure.outputs["x"], failure.expected["x"]) == (given[number], wanted[number])
        assert given[number] != wanted[number]
    counts["validations"] += 1


def check_by_sceptic(
    algorithm: Algorithm, trained_on: Program, network: IntegerNetwork, certificate: NetworkVerdict, counts: Counts
) -> None:
    with TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("n.safetensors", "rules.bw", "certificate.json")]
        save_network(network, trained_on, files[0])
        files[1].write_text(algorithm.text())
        files[2].write_text(claims_of(certificate))
        done = checked("check_network.py", *files)
        assert (done.code, "HOLDS: " in done.out) == (int(not certificate.certified), True), done
    counts["of cells, by the sceptic"] += 1


def check_cells_certificate(rules: Rules, pattern: Pattern, network: IntegerNetwork, counts: Counts) -> NetworkVerdict:
    """Counts, distances and verdict as by brute force; what is shown is what it is said to be."""
    every = local_states(rules.kinds, network)
    found = certify_network(Algorithm("cells", pattern.program), network)
    wrong = wrong_ones(every)
    check_counts(found, [(len(one.matched), one.distance) for one in every], len(wrong))
    for shown in (found.closest, found.counterexample):
        if shown is None:
            continue
        kind, port = (int(part) - 1 for part in re.fullmatch(r"kind(\d+)_port\[(\d+)\]", shown.bit).groups())  # type: ignore[union-attr]
        one = local_state(rules.kinds, network, kind, configs_of(rules, kind, shown))
        said = (shown.n, shown.expected, shown.sum, shown.threshold)
        assert said == (len(one.matched), one.expected[port], one.sums[port], one.thresholds[port])
        assert one.distance == (found.distance if shown is found.closest else one.distance)
        if shown is found.counterexample:
            assert one.given[port] != one.expected[port]
            assert shown.n == min(len(state.matched) for state in wrong)
    counts[f"of cells, {found.verdict}"] += 1
    return found


def configs_of(rules: Rules, kind: int, shown: BitInState) -> list[int]:
    """The configurations of the blocks of a cell, from the bits that are on."""
    configs = [0] * len(rules.kinds[kind][0])
    for name in shown.on:
        of, block, bit = (int(part) for part in re.fullmatch(r"kind(\d+)_block(\d+)\[(\d+)\]", name).groups())  # type: ignore[union-attr]
        assert of == kind + 1
        configs[block - 1] |= 1 << bit - 1
    return configs


def step_of(rules: Rules, network: IntegerNetwork, matched: Sequence[int]) -> State:
    """What a network of the whole state says where these templates match, in the order of the program."""
    order = canonical(rules)
    G, n = sums(network, tuple(order.index(t) for t in matched)), len(matched)
    writers = [sum(bit in writes for _, _, writes in rules.templates) for bit in range(rules.bits)]
    return tuple(int(n > 0 and total > threshold_of(network, n, c)) for total, c in zip(G, writers, strict=True))


def canonical(rules: Rules) -> list[int]:
    """Templates as the canonical text has them: by block, then by configuration, bits and blocks in order."""

    def place(template: int) -> tuple[int, int]:
        block, config, _ = rules.templates[template]
        values = {bit: config >> at & 1 for at, bit in enumerate(rules.blocks[block])}
        return min(values), sum(values[bit] << at for at, bit in enumerate(sorted(values)))

    return sorted(range(len(rules.templates)), key=place)


def check_states_certificate(rules: Rules, algorithm: Algorithm, network: IntegerNetwork, counts: Counts) -> None:
    every = {rules.matched(state): state for state in rules.every_state()}
    wrong = [m for m in every if step_of(rules, network, m) != rules.written(m)]
    found = certify_network(algorithm, network, "states")
    assert (found.states, found.wrong, found.certified) == (len(every), len(wrong), not wrong)
    met = [
        state for start in rules.every_state() for state in (start, rules.step(start), rules.step(rules.step(start)))
    ]
    runs = certify_network(algorithm, network, "runs")
    off = [state for state in met if step_of(rules, network, rules.matched(state)) != rules.step(state)]
    assert (runs.states, runs.wrong) == (len(met), len(off))
    for certificate in (found, runs):
        if (shown := certificate.counterexample) is not None:
            state = tuple(int(f"x[{bit + 1}]" in shown.on) for bit in range(rules.bits))
            matched, bit = rules.matched(state), int(shown.bit[2:-1]) - 1
            assert (shown.n, shown.expected) == (len(matched), rules.step(state)[bit])
            assert step_of(rules, network, matched)[bit] != shown.expected
        counts[f"of {certificate.domain}, {certificate.verdict}"] += 1


def check_counts(found: NetworkVerdict, states: list[tuple[int, int | None]], wrong: int) -> None:
    by_n = {}
    for n in sorted({n for n, _ in states}):
        away = [distance for m, distance in states if m == n and distance is not None]
        by_n[n] = (n, sum(m == n for m, _ in states), min(away, default=None))
    assert (found.states, found.wrong, found.certified) == (len(states), wrong, not wrong)
    assert found.by_n == tuple(by_n.values())


def check_limit(rules: Rules, pattern: Pattern, counts: Counts) -> None:
    """The sign rule is refuted just where a local state comes out wrong; that one is shown."""
    every = local_states(rules.kinds, exact_network(pattern.program))
    if not any(any(one.expected) for one in every):
        with pytest.raises(InputError, match="nothing to decide"):
            certify_cells(pattern, "sign")
        return
    found = certify_cells(pattern, "sign")
    w = weights(np.arange(1 + max(len(blocks) for blocks, _ in rules.kinds)), pattern.program.templates)

    def mean(n: int, c: int, m: int) -> float:
        return float(w.unmatched[n] * c + w.gap[n] * m)

    situations = [
        (len(one.matched), len(port), m)
        for one in every
        if one.matched
        for port, m in zip(rules.kinds[one.kind][1], one.sums, strict=True)  # of this network G is m
    ]
    assert found.certified == all((mean(n, c, m) > 1e-12) == (m > 0) for n, c, m in situations)
    assert (found.worst_n, found.worst_writers, found.worst_matches) in situations
    calibrated = certify_cells(pattern, "calibrated")
    assert (calibrated.worst_n, calibrated.worst_writers, calibrated.worst_matches) in situations
    least = min(float(w.gap[n]) * (m - 0.5) for n, _, m in situations if m)
    assert abs(calibrated.margin - least) < 1e-9
    if found.witness is not None:
        kind, port = (
            int(part) - 1 for part in re.fullmatch(r"kind(\d+)_port\[(\d+)\]", found.fails_bit or "").groups()
        )  # type: ignore[union-attr]
        shown = BitInState(found.witness, 0, 0, found.fails_from or 0, found.fails_bit or "", 1, None, None)
        one = local_state(rules.kinds, exact_network(pattern.program), kind, configs_of(rules, kind, shown))
        assert (len(one.matched), one.sums[port]) == (found.fails_from, found.fails_matches)
        assert mean(len(one.matched), len(rules.kinds[kind][1][port]), one.sums[port]) <= 1e-12
    counts[f"of the limit, {found.verdict}"] += 1
