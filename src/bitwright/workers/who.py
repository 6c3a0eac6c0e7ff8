"""Where jobs run, as a person names it. Results come in the order of the jobs, whoever does them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Literal, TypeVar

from bitwright.errors import InputError
from bitwright.workers.cluster import ADDRESS
from bitwright.workers.processes import in_processes
from bitwright.workers.ray_jobs import in_ray
from bitwright.workers.threads import cores

Common = TypeVar("Common")
Job = TypeVar("Job")
Result = TypeVar("Result")
MAX_PROCESSES = 256


@dataclass(frozen=True)
class Workers:
    """Where jobs run: `serial`, `processes`, or `ray` (started here, or a cluster at `address`)."""

    kind: Literal["serial", "processes", "ray"] = "serial"
    count: int = 1  # processes; for Ray 0 means all that it finds
    address: str | None = None
    gpus: float = 0.0  # GPUs that Ray sets aside for each job

    @classmethod
    def parse(cls, text: str, device: str = "cpu") -> Workers:
        """`1`, `4`, `all`, `ray`, `ray:2`, or `ray:ADDRESS` of a cluster; on a CUDA device a job of Ray has one GPU.

        >>> Workers.parse("4")
        Workers(kind='processes', count=4, address=None, gpus=0.0)
        """
        word = text.strip()
        if word == "all":
            word = str(cores())
        if word == "ray" or word.startswith("ray:"):
            where = word if word.startswith("ray://") else word[4:]
            gpus = 1.0 if device.startswith("cuda") else 0.0
            if word == "ray" or where == "auto" or ADDRESS.fullmatch(where):
                return cls("ray", 0, where or None, gpus)
            return cls("ray", _count(where, text), None, gpus)
        count = _count(word, text)
        return cls("serial") if count == 1 else cls("processes", count)

    def map(self, work: Callable[[Common, Job], Result], common: Common, jobs: Iterable[Job]) -> Generator[Result]:
        """`work(common, job)` for each job, in order; only a few jobs are ahead, so they may be endless.

        `work` is a function at the top level of a module, so that other processes find it; `common` travels once to
        each of them. Closing the iterator, or an exception, stops the workers.
        """
        if self.kind == "serial":
            return (work(common, job) for job in jobs)
        if self.kind == "processes":
            return in_processes(self.count, work, common, jobs)
        return in_ray(self.address, self.count, self.gpus, work, common, jobs)


def _count(word: str, text: str) -> int:
    if not (word.isdecimal() and word.isascii() and len(word) < 9 and 1 <= int(word) <= MAX_PROCESSES):
        known = f"a number up to {MAX_PROCESSES}, all, ray, ray:2 or ray:ADDRESS"
        raise InputError(f"workers are {known}, where an address is HOST:PORT or //HOST:PORT, got '{text}'")
    return int(word)
