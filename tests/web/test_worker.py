"""A worker process that meets a mistake of ours says so, and goes on with the next job."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from typing import Any

from bitwright.web.limits import Limits

SOUND = {"kind": "multiplication", "bits": 4}
# A worker in which a check of these texts goes wrong, each in another way.
MAIN = """
import json, sys
from bitwright.web import work, worker

check = work.check
odd = {"raises": lambda: [][3], "no JSON": lambda: {"about": float("nan")}, "no type": lambda: {"about": {1, 2}}}
work.check = lambda source, limits: odd[source["text"]]() if source.get("text") in odd else check(source, limits)
worker.main(json.loads(sys.argv[1]), "check")
"""


def answers(*sources: dict[str, Any]) -> list[dict[str, Any]]:
    jobs = "".join(json.dumps({"do": "check", "request": {"source": source}}) + "\n" for source in sources)
    given = json.dumps(asdict(Limits(warm=False)))
    done = subprocess.run(
        [sys.executable, "-c", MAIN, given], input=jobs, stdout=subprocess.PIPE, text=True, check=True
    )
    ready, *said = [json.loads(line) for line in done.stdout.splitlines()]
    assert ready == {"kind": "ready"}
    return said


def test_a_worker_survives_what_nobody_expected() -> None:
    expected = {"raises": "IndexError", "no JSON": "ValueError", "no type": "TypeError"}
    before, *broken, after = answers(SOUND, *({"kind": "nodes", "text": text} for text in expected), SOUND)
    for one, error in zip(broken, expected.values(), strict=True):
        assert (one["kind"], one["leaving"], one["files"]) == ("broken", False, [])
        assert error in one["trace"]
    assert before == after
    assert after["result"]["ok"]
