"""All faults in a row, in one ensemble, recorded: `python -m tests.cluster --output docs/runs/cluster.jsonl`.

Machines in network namespaces (root, Linux). While members are trained a machine joins, a worker is killed, another one
is halted, a machine loses its network and dies, and one more joins. In the end the file has to be, byte for byte, that
of one process. Exit code 1 if it is not.
"""

import argparse
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from nodes import Lab, lab, why_no_namespaces
from runs import DRIVER, Training

LINES: list[dict[str, Any]] = []
_begin = time.monotonic()


def say(what: str, **more: Any) -> None:
    LINES.append({"what": what, "after_s": round(time.monotonic() - _begin, 1), **more})
    print(json.dumps(LINES[-1]), flush=True)


def faults(machines: Lab, members: int, width: int) -> bytes:
    """What is in the file after all of them."""
    machines.add(cpus=0)  # it hands out jobs, and does none
    machines.add(cpus=1)
    file = machines.user / "ensemble"
    with Training(machines, file, members, width) as first:
        first.wait_for(2)
        say("begun", members=first.counts[-1], machines=2)
        second, third = machines.add(cpus=2), machines.add(cpus=2)
        say("two machines joined", members=first.counts[-1], machines=4)
        os.kill(second.stop_a_worker(), signal.SIGKILL)
        say("a worker was killed in a job", members=first.counts[-1])
        halted = third.stop_a_worker()
        first.wait_for(first.counts[-1] + 2 * 4 * 5)  # beyond all that was handed out when it was halted
        say("a worker was halted in a job, and the others went on", members=first.counts[-1])
        os.kill(halted, signal.SIGKILL)
        second.stop_a_worker()
        second.kill(unplug=True)
        say("a machine lost its network, and died", members=first.counts[-1])
        machines.add(cpus=2)
        first.wait_for(first.counts[-1] + 5)
        say("one more machine joined", members=first.counts[-1])
        return first.finish()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.cluster", description=__doc__)
    parser.add_argument("--members", type=int, default=120)
    parser.add_argument("--width", type=int, default=200_000)
    parser.add_argument("--output", type=Path, help="also write the lines to this file")
    given = parser.parse_args()
    why = why_no_namespaces()
    if why is not None:
        parser.error(why)
    with tempfile.TemporaryDirectory() as folder:
        with lab(Path(folder) / "lab", namespaces=True) as machines:
            found = faults(machines, given.members, given.width)
        alone = Path(folder) / "alone"
        subprocess.run(
            [sys.executable, DRIVER, "1", alone, str(given.members), str(given.width)], check=True, capture_output=True
        )
        same = alone.read_bytes() == found
    digest = hashlib.sha256(found).hexdigest()
    say("done", members=given.members, sha256=digest, same_as_one_process=same)
    if given.output:
        given.output.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
