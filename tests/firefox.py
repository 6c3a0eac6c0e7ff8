"""Firefox for tests of pages, by its own remote protocol (Marionette): JSON, each message with its length before it."""

import json
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from waiting import PATIENCE, wait_until

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
_SETTINGS = """
user_pref("marionette.port", 0);
user_pref("app.update.disabledForTesting", true);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
"""


class Firefox:
    """One window of a Firefox that runs."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self._number = 0
        self._receive()  # it says who it is
        self.send("WebDriver:NewSession", {})

    def send(self, command: str, given: dict[str, Any]) -> Any:
        """What the browser answers to a command."""
        self._number += 1
        text = json.dumps([0, self._number, command, given]).encode()
        self._socket.sendall(f"{len(text)}:".encode() + text)
        _, number, error, result = self._receive()
        assert number == self._number
        assert error is None, error
        return result.get("value") if isinstance(result, dict) and set(result) == {"value"} else result

    def evaluate(self, code: str) -> Any:
        """The value of an expression in the page."""
        return self.send("WebDriver:ExecuteScript", {"script": f"return {code};", "args": []})

    def _receive(self) -> Any:
        head = b""
        while not head.endswith(b":"):
            head += self._socket.recv(1)
        text = b""
        while len(text) < int(head[:-1]):
            text += self._socket.recv(int(head[:-1]) - len(text))
        return json.loads(text)

    def close(self) -> None:
        self._socket.close()


@contextmanager
def firefox(profile: Path) -> Iterator[Firefox]:
    """A Firefox without a window on the screen, with a profile of its own."""
    assert FIREFOX is not None
    (profile / "user.js").write_text(_SETTINGS)
    command = [FIREFOX, "--headless", "--marionette", "--no-remote", "--profile", str(profile)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        port = profile / "MarionetteActivePort"
        wait_until(lambda: port.exists() and port.read_text().strip(), "Firefox listens")
        browser = Firefox(int(port.read_text()))
        yield browser
        browser.close()
    finally:
        process.terminate()
        process.wait(PATIENCE)
