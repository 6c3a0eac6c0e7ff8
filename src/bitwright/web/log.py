"""What the server says to those who run it, in its terminal: little, whatever happens to it."""

from __future__ import annotations

import logging
import time

log = logging.getLogger("bitwright.web")
MOST = 4_000  # characters of one message
BURST = 20  # messages at a time
PAUSE = 60.0  # seconds after which there may be one more


class Sparing(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to the terminal: `BURST` messages, then one a minute that also says how many were left out.

    That is 6 MB a day at most.
    """

    def __init__(self) -> None:
        super().__init__()
        self._left, self._counted, self._omitted = float(BURST), time.monotonic(), 0

    def emit(self, record: logging.LogRecord) -> None:
        now = time.monotonic()
        self._left = min(BURST, self._left + (now - self._counted) / PAUSE)
        self._counted = now
        if self._left < 1:
            self._omitted += 1
            return
        self._left -= 1
        super().emit(record)
        self._omitted = 0

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        if len(text) > MOST:
            text = f"{text[: MOST // 4]}\n[...]\n{text[-3 * MOST // 4 :]}"
        return f"{text}\n({self._omitted:,} messages before this one were left out)" if self._omitted else text


def log_sparingly() -> None:
    """Sends what this server and the event loop have to say through one such handler."""
    handler = Sparing()
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # it warns of processes that have ended already
    for logger in (log, logging.getLogger("asyncio")):
        logger.handlers = [handler]
        logger.propagate = False
