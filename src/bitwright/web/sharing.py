"""Sharing among clients: whoever holds something may take more of it only while as much would be left for others.

One client alone can so have half of everything, two have a third each, and there is something left for a newcomer.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque


class BusyError(Exception):
    """Not now: there is no room, or (status 429) this client has its share already."""

    def __init__(self, message: str, after: float = 2.0, *, yours: bool = False) -> None:
        super().__init__(message)
        self.after, self.status = max(1, round(after)), 429 if yours else 503


class Shares:
    """So much of something, and who holds how much of it."""

    def __init__(self, total: int) -> None:
        self.total, self.held = total, Counter[str]()
        self.free = total

    def may_take(self, client: str, amount: int = 1) -> bool:
        """Whether the client, with that, would hold no more than is free now.

        >>> places = Shares(4)
        >>> [places.take(client) for client in "aab" if places.may_take(client)]
        [None, None, None]
        >>> [places.may_take(client) for client in "abc"]
        [False, False, True]
        """
        return self.held[client] + amount <= self.free

    def take(self, client: str, amount: int = 1) -> None:
        self.held[client] += amount
        self.free -= amount

    def give_back(self, client: str, amount: int = 1) -> None:
        self.take(client, -amount)
        if not self.held[client]:
            del self.held[client]


class Turn:
    """A client's wish for a place. It `came` when the place is there."""

    def __init__(self, client: str) -> None:
        self.client, self.came, self.over = client, asyncio.Event(), False


class Turns:
    """Places that clients take in turn, however many wishes one of them has."""

    def __init__(self, places: int, waiting: int, waiting_each: int, what: str) -> None:
        self._places, self._waiting, self._waiting_each, self._what = Shares(places), waiting, waiting_each, what
        self._queues: dict[str, deque[Turn]] = {}  # by client, in the order in which clients are served next

    @property
    def places(self) -> int:
        return self._places.total

    @property
    def taken(self) -> int:
        return self._places.total - self._places.free

    @property
    def waiting(self) -> int:
        return sum(map(len, self._queues.values()))

    def join(self, client: str) -> Turn:
        """A wish that waits for its turn; raises BusyError where too many wait. Whoever joins must leave."""
        if len(self._queues.get(client, ())) >= self._waiting_each:
            message = f"{self._are(self._waiting_each)} waiting for you already; let some end, or cancel some"
            raise BusyError(message, yours=True)
        if self.waiting >= self._waiting:
            raise BusyError(f"busy: {self._are(self._waiting)} waiting already; try again in a moment")
        turn = Turn(client)
        self._queues.setdefault(client, deque()).append(turn)
        self._go_on()
        return turn

    def leave(self, turn: Turn) -> None:
        """Gives the place back, or stops waiting for one; a second time nothing happens."""
        if turn.over:
            return
        turn.over = True
        if turn.came.is_set():
            self._places.give_back(turn.client)
        else:
            self._queues[turn.client].remove(turn)
            if not self._queues[turn.client]:
                del self._queues[turn.client]
        self._go_on()

    def ahead(self, turn: Turn) -> int:
        """How many that wait have their turn before this one."""
        mine = self._queues.get(turn.client)
        if mine is None or turn not in mine:
            return 0
        place, before, found = mine.index(turn), 0, False
        for client, queue in self._queues.items():
            found = found or client == turn.client
            before += 0 if client == turn.client else min(len(queue), place if found else place + 1)
        return before + place

    def _are(self, count: int) -> str:
        return f"{count} {self._what} is" if count == 1 else f"{count} {self._what}s are"

    def _go_on(self) -> None:
        while (client := next(filter(self._places.may_take, self._queues), None)) is not None:
            queue = self._queues.pop(client)
            turn = queue.popleft()
            if queue:
                self._queues[client] = queue  # behind all others
            self._places.take(client)
            turn.came.set()
