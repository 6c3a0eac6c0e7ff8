"""Commands on the head of a cluster, and files of results that grow meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from nodes import SOURCES, Lab, Node
from waiting import wait_until

DRIVER = Path(__file__).parent / "driver.py"


def environment(lab: Lab, **more: str) -> dict[str, str]:
    return {**os.environ, **lab.secret, "PYTHONPATH": f"{SOURCES}:{SOURCES.parent}", "OMP_NUM_THREADS": "1", **more}


def bitwright(lab: Lab, *arguments: str, node: Node | None = None, **more: str) -> subprocess.CompletedProcess[str]:
    """The command line, on the head or another machine."""
    return python(lab, "-m", "bitwright", *arguments, node=node, **more)


def python(lab: Lab, *arguments: str, node: Node | None = None, **more: str) -> subprocess.CompletedProcess[str]:
    command = lab.command(node or lab.nodes[0], [sys.executable, *arguments])
    return subprocess.run(command, capture_output=True, text=True, cwd=lab.user, env=environment(lab, **more))


class Training:
    """The driver of a training, on the head: its process, and the file that it fills."""

    def __init__(self, lab: Lab, file: Path, members: int, width: int, halting: bool = False) -> None:
        self.file, self.members = file, members
        arguments = [sys.executable, str(DRIVER), f"ray:{lab.address}", str(file), str(members), str(width)]
        arguments += ["halting"] if halting else []
        self._said = file.with_suffix(".said")
        with self._said.open("w") as said:
            self.process = subprocess.Popen(
                lab.command(lab.nodes[0], arguments), stdout=said, stderr=subprocess.STDOUT, env=environment(lab)
            )

    def __enter__(self) -> Training:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    def signal(self, which: signal.Signals) -> None:
        self.process.send_signal(which)

    @property
    def counts(self) -> list[int]:
        """The numbers of members that it has told of."""
        return [
            int(line.split()[0]) for line in self._said.read_text().splitlines() if line.endswith(f" {self.members}")
        ]

    def wait_for(self, members: int) -> None:
        wait_until(lambda: self.counts[-1:] >= [members] or self.process.poll() is not None, f"{members} members")
        assert self.counts[-1:] >= [members], self._said.read_text()

    def finish(self, *nodes: Node) -> bytes:
        """What is in the file at the end; workers of these nodes that have halted go on."""

        def ended() -> bool:
            for pid in [pid for node in nodes for pid in node.halted_workers()]:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)
            return self.process.poll() is not None

        wait_until(ended, f"{self.members} members are trained")
        assert self.process.returncode == 0, self._said.read_text()
        return self.file.read_bytes()
