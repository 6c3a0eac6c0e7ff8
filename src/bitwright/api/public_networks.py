"""Proofs of networks, as Python programs ask for them."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from bitwright.api.network import Network
from bitwright.files.storage import as_path
from bitwright.program import Algorithm, NodeProgram, Program
from bitwright.running.progress import Progress, as_progress, say

if TYPE_CHECKING:
    from bitwright.checking.exhaustion import NetworkCertificate
    from bitwright.checking.exhaustion.subject import Provable


def certify_network(
    what: Algorithm | Program | NodeProgram,
    network: Provable | Network,
    domain: str | None = None,
    *,
    workers: str | int = "1",
    resume: str | PathLike[str] | None = None,
    device: str = "cpu",
    progress: Progress | bool | None = None,
) -> NetworkCertificate:
    """Proves or refutes, by trying all of them, that this network makes the rules' step in every state of a domain.

    `domain` is `states` (one choice in every block, the default) or `runs` (all states that runs of all inputs meet);
    of a network of cells, or its file, it is `cells`, after looking that the program's cells are of its kinds; of a
    node program those on its `graphs`.

    >>> from bitwright import addition, train
    >>> small = addition(2)
    >>> certify_network(small, train(small, cells=False, integer=True, width=512)).sentence
    'certified: this network, 64 states of every choice in every block'

    It may take minutes. progress=True says on standard error how many states there are, about how long that takes, and
    then how far it is, in a terminal and in a notebook; or give a function of what is done and how much there is.

    >>> seen = []
    >>> found = certify_network(addition(9), train(addition(4)), progress=lambda *done: seen.append(done))
    >>> seen
    [(0, 16), (16, 16)]
    """
    from bitwright.checking.exhaustion import certify_network as prove
    from bitwright.checking.exhaustion.domains import usual_domain
    from bitwright.checking.exhaustion.subject import to_be_proved
    from bitwright.checking.exhaustion.task import ProofTask, check_size, duration, expected_seconds, how_many
    from bitwright.workers import Workers

    algorithm, held = to_be_proved(what, network)
    file = None if resume is None else as_path(resume, "the file to resume from")
    who = Workers.parse(str(workers), str(device))
    task = ProofTask(algorithm, held, usual_domain(algorithm.program) if domain is None else domain, str(device))
    check_size(task)
    if progress is True:
        say(f"{how_many(task)} to try, about {duration(expected_seconds(task, who))}")
    told = as_progress(progress, task.unit)
    return prove(algorithm, held, task.domain_name, workers=who, progress=told, file=file, device=str(device))
