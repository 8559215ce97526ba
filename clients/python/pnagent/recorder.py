# SPDX-License-Identifier: Apache-2.0
"""Records what happens in a net, and makes snapshots of it."""
from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Optional

from .net import Net
from .tokens import Place, Token, Wait
from .wire import Message, differences


class LimitError(Exception):
    """There would be more tokens than the recorder keeps, or a snapshot does not fit into a message."""


class Reason(IntEnum):
    """Why a token does not move, as on the wire."""

    ENABLED = 1
    RUNNING = 2
    DELAYED = 3
    GUARDED = 4
    MISSING = 5
    INHIBITED = 6
    MANUAL = 7
    DEAD = 8
    INCIDENT = 9
    NOWORKER = 10


class _Transition:
    def __init__(self) -> None:
        self.firings = self.failures = self.retries = self.cancels = self.last_firing = 0


class Recorder:
    """The tokens and counters of one net. All methods may be called from any thread.

    Times are seconds since the Unix epoch, as of time.time(). Memory is that of the tokens, at
    most max_tokens.
    """

    def __init__(self, net: Net, max_tokens: int = 1_000_000, clock: Callable[[], float] = time.time) -> None:
        self.net = net
        self._max, self._clock, self._last = max_tokens, clock, 0
        self._lock = threading.Lock()
        self._places = [Place() for _ in net.places]
        self._transitions = [_Transition() for _ in net.transitions]
        self._seq = self._held = 0
        _ = net.pnml  # from here on it stays as it is

    def inject(self, place: str, instance: str = "", tokens: int = 1, at: Optional[float] = None) -> None:
        """Puts tokens into a place, now or at an earlier time."""
        with self._lock:
            now = self._now()
            self._room(tokens)
            self._put(self._place(place), instance, tokens, now if at is None else min(now, int(at * 1e6)), now)

    def eject(self, place: str, instance: str = "", tokens: int = 1) -> None:
        """Takes the oldest tokens of an instance from a place."""
        with self._lock:
            self._has(place, instance, tokens)
            self._take(place, instance, tokens, self._now())

    def fire(self, transition: str, instance: str = "") -> None:
        """Fires a transition: takes and puts the tokens of its arcs."""
        with self._lock:
            row, now = self._transition(transition), self._now()
            inputs, outputs = self.net.inputs[transition], self.net.outputs[transition]
            for place, n in inputs.items():
                self._has(place, instance, n)
            self._room(sum(outputs.values()) - sum(inputs.values()))
            for place, n in inputs.items():
                self._take(place, instance, n, now)
            for place, n in outputs.items():
                self._put(self._place(place), instance, n, now, now)
            row.firings += 1
            row.last_firing = now

    def fail(self, transition: str) -> None:
        """Counts a run of a transition that failed."""
        with self._lock:
            self._transition(transition).failures += 1

    def retry(self, transition: str) -> None:
        """Counts a run that is tried again."""
        with self._lock:
            self._transition(transition).retries += 1

    def cancel(self, transition: str) -> None:
        """Counts a run that was given up."""
        with self._lock:
            self._transition(transition).cancels += 1

    def wait(self, place: str, instance: str, transition: str, reason: Reason, what: str = "", until: float = 0) -> None:
        """Says why the tokens of an instance wait in a place, until they leave it or this is called again.

        what is for people, at most 200 bytes; until is when a delay ends, 0 if that is not known.
        """
        with self._lock:
            if len(what.encode()) > 200:
                raise ValueError("what has more than 200 bytes")
            self._transition(transition)
            self._has(place, instance, 1)
            why = Wait(self.net.transitions[transition], int(reason), int(until * 1e6), what)
            for token in self._place(place).of[instance]:
                token.wait = why

    def tokens(self, place: str) -> int:
        """Returns how many tokens a place has."""
        with self._lock:
            return self._place(place).tokens

    def snapshots(self, source: str, epoch: int, interval: int, limit: int, bye: bool = False) -> list[bytes]:
        """Returns the messages of a snapshot, of at most limit bytes each. Source calls this."""
        with self._lock:
            now = self._now()
            out: list[bytes] = []

            def write(places: Sequence[int], transitions: Sequence[int]) -> None:
                full = len(places) == len(self._places) and len(transitions) == len(self._transitions)
                head = Message().text(1, source).number(2, epoch).number(3, self._seq + 1).number(4, now).number(5, interval)
                head.text(6, self.net.id).text(7, self.net.digest).number(10, full)
                if places:
                    head.message(11, self._write_places(places, full, now))
                if transitions:
                    head.message(12, self._write_transitions(transitions, full))
                text = bytes(head.number(15, bye))
                if len(text) <= limit:
                    self._seq += 1
                    out.append(text)
                elif len(places) + len(transitions) < 2:
                    raise LimitError(f"one row of net {self.net.id!r} does not fit into a message of {limit} bytes")
                else:
                    p, t = (len(places) + 1) // 2, len(transitions) // 2
                    write(places[:p], transitions[:t])
                    write(places[p:], transitions[t:])

            write(range(len(self._places)), range(len(self._transitions)))
            return out

    def _write_places(self, rows: Sequence[int], full: bool, now: int) -> Message:
        places = [self._places[i] for i in rows]
        oldest = [p.oldest() for p in places]
        slots = [p.ages.cut(now) for p in places]
        buckets = [sorted(p.dwell.items()) for p in places]
        m = Message().numbers(1, () if full else rows)
        m.numbers(2, (p.tokens for p in places)).numbers(3, (p.arrivals for p in places)).numbers(4, (p.departures for p in places))
        m.numbers(5, (len(p.of) for p in places)).numbers(6, (o[0].injected if o else 0 for o in oldest)).numbers(7, (p.last_injection for p in places))
        m.numbers(8, (p.sum // 1_000_000 for p in places)).numbers(9, (p.sum % 1_000_000 for p in places))
        ages = Message().numbers(1, map(len, slots))
        ages.signed(2, (d for s in slots for d in differences(start for start, _ in s))).numbers(3, (n for s in slots for _, n in s))
        dwell = Message().signed(1, (1 for _ in places)).numbers(2, (p.dwell_zero for p in places)).numbers(3, (p.dwell_sum % 2**64 for p in places))
        dwell.numbers(4, map(len, buckets))
        dwell.signed(5, (d for b in buckets for d in differences(i for i, _ in b))).numbers(6, (n for b in buckets for _, n in b))
        m.message(10, ages).message(11, dwell)
        for row, tokens in zip(rows, oldest):
            if tokens:
                stuck = Message().number(1, row)
                for token in tokens:
                    stuck.message(2, _written(token))
                m.message(12, stuck)
        return m

    def _write_transitions(self, rows: Sequence[int], full: bool) -> Message:
        of = [self._transitions[i] for i in rows]
        m = Message().numbers(1, () if full else rows)
        m.numbers(2, (t.firings for t in of)).numbers(3, (t.failures for t in of)).numbers(4, (t.retries for t in of))
        return m.numbers(5, (t.cancels for t in of)).numbers(10, (t.last_firing for t in of))

    def _now(self) -> int:
        self._last = max(self._last, int(self._clock() * 1e6))  # a clock that is set back does not change it
        return self._last

    def _place(self, id: str) -> Place:
        return self._places[self.net.places[id]]

    def _transition(self, id: str) -> _Transition:
        return self._transitions[self.net.transitions[id]]

    def _room(self, tokens: int) -> None:
        if self._held + tokens > self._max:
            raise LimitError(f"more than {self._max} tokens in net {self.net.id!r}")

    def _has(self, place: str, instance: str, tokens: int) -> None:
        has = len(self._place(place).of.get(instance, ()))
        if has < tokens:
            raise ValueError(f"instance {instance!r} has {has} tokens in place {place!r}; expected {tokens}")

    def _put(self, place: Place, instance: str, tokens: int, injected: int, now: int) -> None:
        if len(instance.encode()) > 255:
            raise ValueError("the name of an instance has more than 255 bytes")
        self._held += tokens
        for _ in range(tokens):
            place.put(Token(instance, injected), now)

    def _take(self, place: str, instance: str, tokens: int, now: int) -> None:
        self._held -= tokens
        for _ in range(tokens):
            self._place(place).take(instance, now)


def _written(token: Token) -> Message:
    m = Message().text(1, token.instance).number(2, token.injected)
    if token.wait:
        w = token.wait
        m.message(3, Message().number(1, w.transition).number(2, w.reason).number(5, w.until).text(6, w.what))
    return m
