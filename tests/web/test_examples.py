"""Every example of the page runs with everything that the page offers for it, on a plain installation too."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from re import match
from typing import Any

import pytest
from long import LONG
from serving import Process, serving_process

from bitwright.web.examples import example_texts
from bitwright.web.limits import Limits

ROOT = Path(__file__).parent.parent.parent
ENGINES = ("templates", "limit", "kernel", "sampled", "network")
ROUNDINGS = ("calibrated", "sign")
RECORDED = [found for found in example_texts() if found["kind"] in ("rules", "sbn") and found["language"] == "assembly"]
SLOW = ("sort4.sbn", "collatz.sbn", "prime.sbn")  # on machine A a network of these takes long; B is enough
PROGRAMS = [
    (example, machine)
    for example in RECORDED
    for machine in ("-" if example["kind"] != "sbn" else "B" if example["name"] in SLOW else "AB")
]


def optional_packages() -> list[str]:
    """What no plain installation of `bitwright[web]` brings along."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [needed for extra, needed in project["optional-dependencies"].items() if extra not in ("web", "dev")]
    return [match(r"[\w-]+", requirement)[0] for needed in extras for requirement in needed]  # type: ignore[index]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """A server in whose processes no optional package can be imported. Its time does not run out on slow machines."""
    folder = tmp_path_factory.mktemp("plain")
    blocked = [*optional_packages(), "triton"]
    assert {"torch", "ray", "matplotlib"} <= set(blocked)
    (folder / "sitecustomize.py").write_text(f"import sys\nsys.modules.update(dict.fromkeys({blocked!r}))\n")
    tried = [sys.executable, "-P", "-c", "import torch"]
    assert subprocess.run(tried, env={"PYTHONPATH": str(folder)}, capture_output=True).returncode
    limits = Limits(seconds=1000, check_seconds=1000)
    with serving_process(limits, size=1, first=folder) as server:
        yield server
        assert server.said() == ""


@pytest.mark.parametrize(
    ("example", "machine"), PROGRAMS[: None if LONG else 4], ids=lambda x: x if isinstance(x, str) else x["name"]
)
def test_every_example_runs_with_all_that_is_offered(plain: Any, example: dict[str, Any], machine: str) -> None:
    source = {"kind": example["kind"], "text": example["text"], **({"machine": machine} if machine != "-" else {})}
    offers = plain.check(source)["about"]["engines"]
    assert [tuple(offers), *{tuple(offer) for offer in offers.values()}] == [ENGINES, ROUNDINGS]
    jobs, place = {}, PROGRAMS.index((example, machine))
    for number, engine in enumerate(ENGINES, start=place // 2):
        if not LONG and engine != ENGINES[1 + place % 4]:  # the first one is tried in test_runs.py
            continue
        rounding = ROUNDINGS[number % 2]  # every engine with every program, and on either machine with both roundings
        steps = {"max_steps": 200} if engine in ("sampled", "network") else {}  # a wrong step may never halt
        request = {"source": source, "inputs": example["inputs"], "engine": engine, "rounding": rounding, **steps}
        jobs[engine, rounding] = plain.start(request)
    for (engine, rounding), job in jobs.items():
        ended = plain.end(job)
        assert ended["message"] == (offers[engine][rounding] or "")
        if offers[engine][rounding] is None:
            result = ended["result"]
            assert (ended["state"], result["rounding"] or rounding) == ("done", rounding)
            assert result["halted"] or engine in ("sampled", "network")
            assert {"trace.html", "program.bw", "run.json"} <= set(ended["files"])
            assert set(result["missing"]) == {"training-set.npz"} - set(ended["files"])
        else:
            assert (ended["state"], engine in ("kernel", "network")) == ("failed", True)
