"""Connections: how many there are, and how long one may take to ask or to listen.

uvicorn waits for ever for a request that comes slowly or never. Here a request has some time to come in, and so has a
reader to take its answer. Where there are too many connections, the one that has been silent for longest makes room.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from json import dumps
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol

from bitwright.web.guard import HEADERS
from bitwright.web.limits import Limits
from bitwright.web.sharing import Shares


class OpenConnections:
    """All connections of a server. One address holds at most as many as are left for others."""

    def __init__(self, most: int, limits: Limits) -> None:
        self.limits, self._shares = limits, Shares(most)
        self._silent: dict[str, dict[Connection, None]] = {}  # by address: who owes a request, the longest first

    def counts(self) -> dict[str, int]:
        return {"open": self._shares.total - self._shares.free, "most": self._shares.total}

    def admit(self, newcomer: Connection) -> bool:
        """Whether there is room for one more, perhaps because a silent one has to go."""
        address = newcomer.address
        if not self._shares.may_take(address):
            if self._shares.held[address]:
                rivals = self._silent.get(address, {})
            else:
                rivals = self._silent.get(max(self._silent, key=lambda other: self._shares.held[other], default=""), {})
            longest = next(iter(rivals), None)
            if longest is None:
                return False
            self.leave(longest)
            longest.transport.abort()
        newcomer.counted = True
        self._shares.take(address)
        return True

    def leave(self, connection: Connection) -> None:
        if connection.counted:
            connection.counted = False
            self._shares.give_back(connection.address)
            self.mark(connection, silent=False)

    def mark(self, connection: Connection, *, silent: bool) -> None:
        """Notes whether a connection owes a request."""
        if silent:
            self._silent.setdefault(connection.address, {}).setdefault(connection)
        elif connection in (others := self._silent.get(connection.address, {})):
            del others[connection]
            if not others:
                del self._silent[connection.address]


class Connection(H11Protocol):
    """One connection, which is always in one of four states, each with its own patience."""

    def __init__(self, *arguments: Any, open_connections: OpenConnections, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._open_connections, self.address, self.counted = open_connections, "", False
        self._state, self._timer = "", None  # type: tuple[str, asyncio.TimerHandle | None]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        if self._open_connections.admit(self):
            self._watch()
        else:
            self.refuse(503, "busy: there are too many connections; try again in a moment")

    def connection_lost(self, exc: Exception | None) -> None:
        self._arm(0, None)
        self._open_connections.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self.transport.is_closing():
            super().data_received(data)
            self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._watch()

    def send_400_response(self, _: str) -> None:
        self.refuse(400, "this is no proper HTTP request")

    def refuse(self, status: int, message: str) -> None:
        """Says why in one line of JSON and hangs up; in the middle of an answer it only hangs up."""
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        body = dumps({"error": message}).encode()
        headers = {
            **HEADERS,
            "content-type": "application/json",
            "content-length": str(len(body)),
            "connection": "close",
        }
        if status == 503:
            headers["retry-after"] = "2"
        head = [(name.encode(), value.encode()) for name, value in headers.items()]
        with suppress(h11.LocalProtocolError):
            response = h11.Response(status_code=status, headers=head, reason=STATUS_PHRASES[status])
            events = (response, h11.Data(data=body), h11.EndOfMessage())
            self.transport.write(b"".join(self.conn.send(event) or b"" for event in events))
        self.transport.close()
        self._watch()

    @property
    def _silent(self) -> bool:
        """Whether it is the client's turn to say something."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def _watch(self) -> None:
        """Starts the clock of the state that it is in now, unless it is running."""
        limits = self._open_connections.limits
        if self.transport.is_closing():
            state, seconds, action = "closing", limits.stalled_seconds, self.transport.abort
        elif self.flow.write_paused:
            state, seconds, action = "stalled", limits.stalled_seconds, self.transport.abort
        elif self._silent:
            state, seconds, action = "silent", limits.request_seconds, self._too_slow
        else:
            state, seconds, action = "working", 0.0, None
        if state != self._state:
            self._state = state
            self._arm(seconds, action)
            self._open_connections.mark(self, silent=state == "silent" and self.counted)

    def _arm(self, seconds: float, action: Callable[[], None] | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if action is None else self.loop.call_later(seconds, action)

    def _too_slow(self) -> None:
        if self.conn.trailing_data[0] or (self.cycle is not None and not self.cycle.response_complete):
            self.refuse(408, f"a request has {self._open_connections.limits.request_seconds:g} seconds to come in")
        else:
            self.transport.close()
            self._watch()
