"""Every example of the page runs, on a plain installation too."""

import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from re import match
from typing import Any

import pytest
from long import LONG
from serving import Process, example_texts, serving_process, source_of
from waiting import PATIENCE

from bitwright.web.requests import Limits

ROOT = Path(__file__).parent.parent.parent
ENGINES = ("limit", "sampled", "network")
TRIED = dict(zip(("subtraction.bw", "multiply.sbn", "leader.bw"), ENGINES, strict=True))
EXAMPLES = example_texts()


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
    with serving_process(Limits(seconds=PATIENCE, check_seconds=PATIENCE), first=folder) as server:
        yield server
        assert server.said() == ""


def test_the_examples_are_those_of_the_project(plain: Any) -> None:
    offered = [{**one, "text": (ROOT / one["file"]).read_text()} for one in EXAMPLES]
    found = plain.http.get("/api/about").json()["examples"]
    assert [(one["title"], one["text"]) for one in found] == [(one["title"], one["text"]) for one in offered]


@pytest.mark.parametrize("name", [example["name"] for example in EXAMPLES])
def test_every_example_runs(plain: Any, name: str) -> None:
    [example] = [found for found in EXAMPLES if found["name"] == name]
    request = {"inputs": example["inputs"], "console": example["console"]}
    job = plain.run({"source": source_of(example), **request})
    assert job["result"]["halted"], job
    for engine in ENGINES if LONG else [TRIED[name]] if name in TRIED else []:  # every engine with some example
        steps = {"max_steps": 200, "max_instructions": 50}  # a wrong step may never halt
        job = plain.run({"source": source_of(example), **request, "engine": engine, **steps})
        assert job["result"]["engine"] == engine, job
