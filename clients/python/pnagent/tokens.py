# SPDX-License-Identifier: Apache-2.0
"""The tokens of one place, and what a snapshot says of them."""
from __future__ import annotations

import bisect
from dataclasses import dataclass
from typing import Optional

STUCK = 5  # tokens of a place that a snapshot lists
SLOT = 125_000  # microseconds
_BOUNDS = [2 ** (i / 2) for i in range(-39, 61)]  # of the buckets of schema 1, in seconds


@dataclass(frozen=True)
class Wait:
    """Why a token does not move."""

    transition: int
    reason: int
    until: int
    what: str


class Token:
    """One token. Times are microseconds since the Unix epoch."""

    __slots__ = ("gone", "injected", "instance", "wait")

    def __init__(self, instance: str, injected: int) -> None:
        self.instance, self.injected = instance, injected
        self.wait: Optional[Wait] = None
        self.gone = False


class Ladder:
    """How many tokens were injected when, in slots that widen with age."""

    def __init__(self) -> None:
        self.slots: dict[int, int] = {}
        self._at = 0

    def _slot(self, unit: int) -> int:
        j = 0
        while unit < max(0, self._at - (16 << j) >> (j + 1) << (j + 1)):
            j += 1
        return unit >> j << j

    def add(self, injected: int, n: int) -> None:
        """Adds tokens, or takes them away if n is negative."""
        slot = self._slot(injected // SLOT)
        left = self.slots.get(slot, 0) + n
        if left > 0:
            self.slots[slot] = left
        else:
            self.slots.pop(slot, None)

    def cut(self, now: int) -> list[tuple[int, int]]:
        """Returns the slots at a time, which is not before the last one."""
        before, self.slots, self._at = self.slots, {}, max(self._at, now // SLOT)
        for start, n in before.items():
            slot = self._slot(start)
            self.slots[slot] = self.slots.get(slot, 0) + n
        return sorted(self.slots.items())


class Place:
    """The tokens of a place. Memory is that of its tokens."""

    def __init__(self) -> None:
        self.tokens = self.arrivals = self.departures = 0
        self.last_injection = self.sum = 0
        self.ages = Ladder()
        self.of: dict[str, list[Token]] = {}  # of each instance, oldest first
        self.dwell: dict[int, int] = {}
        self.dwell_zero = self.dwell_sum = 0
        self._queue: list[Token] = []  # oldest first, with some that are gone

    def put(self, token: Token, now: int) -> None:
        """Adds a token that was injected now or earlier."""
        self.tokens += 1
        self.arrivals += 1
        self.last_injection = max(self.last_injection, now)
        self.sum += token.injected
        self.ages.add(token.injected, 1)
        for queue in (self._queue, self.of.setdefault(token.instance, [])):
            i = len(queue)
            while i > 0 and queue[i - 1].injected > token.injected:
                i -= 1
            queue.insert(i, token)

    def take(self, instance: str, now: int) -> Token:
        """Removes the oldest token of an instance, which has one."""
        own = self.of[instance]
        token = own.pop(0)
        if not own:
            del self.of[instance]
        token.gone = True
        self.tokens -= 1
        self.departures += 1
        self.sum -= token.injected
        self.ages.add(token.injected, -1)
        stay = max(0, now - token.injected)
        self.dwell_sum += stay
        if stay < 1:
            self.dwell_zero += 1
        else:
            bucket = min(bisect.bisect_left(_BOUNDS, stay / 1e6), len(_BOUNDS) - 1) - 39
            self.dwell[bucket] = self.dwell.get(bucket, 0) + 1
        if len(self._queue) > 2 * self.tokens + 64:
            self._queue = [t for t in self._queue if not t.gone]
        return token

    def oldest(self) -> list[Token]:
        """Returns the oldest tokens, oldest first."""
        gone = 0
        while gone < len(self._queue) and self._queue[gone].gone:
            gone += 1
        del self._queue[:gone]
        found: list[Token] = []
        for token in self._queue:
            if len(found) == STUCK:
                break
            if not token.gone:
                found.append(token)
        return found
