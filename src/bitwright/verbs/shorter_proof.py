"""Before a long proof: its expected duration, a GPU if there is one, and shorter proofs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bitwright.common.bits import shorten
from bitwright.common.errors import BitwrightError, InputError, TrainCellsError, counted, option
from bitwright.networks import IntegerNetwork
from bitwright.proofs.exhaustion.task import MOST, ProofTask, check_size, duration, expected_seconds, how_many
from bitwright.rules.pattern import pattern_of
from bitwright.verbs.devices import gpu_name

if TYPE_CHECKING:
    from bitwright.common.workers import Workers
    from bitwright.rules import Algorithm
    from bitwright.rules.cells import Tile
    from bitwright.verbs.telling import Teller

MINUTES = 10  # that a proof may take unless a longer one was asked for
_LONG = 5  # seconds from which on a GPU is looked for
_HOPELESS = 30 * 86_400  # seconds beyond which neither patience nor a GPU is advised
_FEASIBLE = 3_600  # seconds that what is advised may take
_STEPS = 10_000  # of a run, on average: with more a sample of them would take long


def check_cost(
    task: ProofTask,
    workers: Workers,
    device: str | None,
    yes: bool,
    tell: Teller,
    *,
    tile: Tile = 1,
    check: bool = False,
) -> ProofTask:
    """Says how long a proof takes; raises InputError if that is too long, unless `yes`.

    Returns the task, moved to a GPU if there is one, no device was chosen, and the CPU would take long.
    """
    if task.domain.size >= MOST and task.domain_name != "cells":
        many = f"there are {shorten(task.domain.size, 24)} {task.unit}, more than can be tried"
        raise _too_long(many, task, workers, tell, tile, check)
    check_size(task)
    size, seconds = how_many(task), expected_seconds(task, workers)
    movable = device is None and workers.kind == "serial" and isinstance(task.network, IntegerNetwork)
    if seconds > _LONG and movable and (gpu := gpu_name()) is not None:
        tell.note(f"on {gpu}; {_given('device', 'cpu')} would take about {duration(seconds)}")
        task = replace(task, device="cuda")
        seconds = expected_seconds(task, workers)
    if seconds > 60 * MINUTES and not yes:
        begin = (
            f"; give {_given('yes', '')} to begin, with {_given('resume', 'FILE')} so that it can be interrupted; "
            f"{_given('device', 'cuda')} and {_given('workers', 'ray:ADDRESS')} are faster"
        )
        what = f"{size} will take about {duration(seconds)} here, more than {MINUTES} minutes"
        raise _too_long(what + begin * (seconds <= _HOPELESS), task, workers, tell, tile, check)
    tell.note(f"{size} to try, about {duration(seconds)}")
    return task


def _too_long(what: str, task: ProofTask, workers: Workers, tell: Teller, tile: Tile, check: bool) -> InputError:
    """The error for a proof that takes too long, with a shorter one if there is one."""
    if check:
        shorter = "tries all that the certificate speaks of; one of a smaller domain takes less time"
        return InputError(f"{what}; {option('check')} {shorter}")
    if task.domain_name == "cells":
        fewer = f"a smaller {option('tile')} of train has far fewer local states" if tile != 1 else ""
        return InputError(f"{what}; {fewer or 'cells of fewer blocks have fewer local states'}")
    with tell.working("looking for a shorter proof"):
        domain, states = _other_domain(task, workers), _local_states(task.algorithm)
    if states is not None:
        what += f"; {domain}" * bool(domain)
        return TrainCellsError(f"{what}; a network of its cells has {counted(states, 'local state')}")
    return InputError(f"{what}; {domain or 'no other domain of it is small enough: take a smaller program'}")


def _other_domain(task: ProofTask, workers: Workers) -> str:
    """Advice to take the other domain, if that takes little time."""
    other = replace(task, domain_name="runs" if task.domain_name == "states" else "states")
    try:
        states = other.domain.count_states()
        if states is None or states >= MOST or (other.domain_name == "runs" and states > _STEPS * other.domain.size):
            return ""
        seconds = expected_seconds(other, workers)
    except BitwrightError:  # too many inputs, or some run does not end
        return ""
    name = _given("domain", other.domain_name)
    return "" if seconds > _FEASIBLE else f"{name} has {how_many(other)}, about {duration(seconds)}"


def _local_states(algorithm: Algorithm) -> int | None:
    """How many local states the cells of a program have, if few."""
    from bitwright.engines.cells.network import TABLED

    try:
        states = pattern_of([algorithm.program]).local_states
    except BitwrightError:
        return None
    return states if states <= TABLED else None


def _given(name: str, value: str) -> str:
    """An option with a value: `--device cpu` on the command line, `device=cpu` in Python."""
    spelled = option(name)
    return f"{name}={value or True}" if spelled == name else f"{spelled} {value}".rstrip()
