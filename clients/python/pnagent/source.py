# SPDX-License-Identifier: Apache-2.0
"""Publishes the nets of a process over NATS."""
from __future__ import annotations

import asyncio
import gzip
import json
import logging
import random
import threading
import time
from collections.abc import Callable
from typing import Any, Optional, Union

import nats
from nats.aio.client import Client
from nats.aio.msg import Msg

from .net import Net
from .recorder import LimitError, Recorder
from .wire import token

_log = logging.getLogger("pnagent")
_LONGEST, _KEPT = 30.0, 180.0  # seconds: of an interval that a collector wishes, and how long a wish counts
_MOST_WISHES = 100  # collectors


class Pace:
    """The interval of snapshots: that of the process, or the longest that a collector wishes."""

    def __init__(self, own: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._own, self._clock = own, clock
        self._wishes: dict[str, tuple[float, float]] = {}

    def wish(self, text: bytes) -> None:
        """Takes the payload of a hello that has one. Others than wishes are ignored."""
        try:
            wish = json.loads(text)
            collector, interval = str(wish["collector"]), int(wish["interval"]) / 1e6
        except (ValueError, KeyError, TypeError):
            return
        if 0 <= interval <= _LONGEST and (collector in self._wishes or len(self._wishes) < _MOST_WISHES):
            self._wishes[collector] = (interval, self._clock())

    def interval(self) -> float:
        """Returns the interval from now on, in seconds."""
        since = self._clock() - _KEPT
        self._wishes = {c: w for c, w in self._wishes.items() if w[1] > since}
        return max([self._own, *(interval for interval, _ in self._wishes.values())])


class Source:
    """A process that runs nets, under a name that is unique and stays the same over restarts.

    It connects in the background, and again if the connection breaks. Nothing waits in memory
    meanwhile: each snapshot holds everything. options are those of nats.connect, such as
    user_credentials and tls.
    """

    def __init__(self, name: str, servers: Union[str, list[str]] = "nats://127.0.0.1:4222", *, interval: float = 1.0,
                 prefix: str = "petrinet.v1", **options: Any) -> None:
        if not name or len(name.encode()) > 255 or any(ord(c) < 0x20 or ord(c) == 0x7F for c in name):
            raise ValueError("the name of a source has 1 to 255 bytes, and no control characters")
        self.name = name
        self.epoch = time.time_ns() // 1000
        self._servers, self._prefix, self._options = servers, prefix, options
        self._pace, self._interval = Pace(interval), interval
        self._nets: list[Recorder] = []
        self._lock = threading.Lock()
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._wake: Optional[asyncio.Event] = None
        self._stop: Optional[asyncio.Event] = None
        self._thread: Optional[threading.Thread] = None

    def add(self, net: Net, max_tokens: int = 1_000_000) -> Recorder:
        """Adds a net before start, and returns what records it."""
        if self._thread:
            raise RuntimeError("the source runs already")
        recorder = Recorder(net, max_tokens)
        self._nets.append(recorder)
        return recorder

    def start(self) -> None:
        """Begins to publish, in a thread of its own."""
        ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run(ready)), name="pnagent", daemon=True)
        self._thread.start()
        ready.wait()

    def close(self, timeout: float = 5.0) -> None:
        """Publishes a last snapshot, so that the tokens of this process leave the sums now, and ends."""
        if self._thread and self._loop and self._stop:
            if self._thread.is_alive():
                self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(timeout)

    def __enter__(self) -> "Source":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def _run(self, ready: threading.Event) -> None:
        self._loop, self._wake, self._stop = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
        ready.set()
        options = {"max_reconnect_attempts": -1, "reconnect_time_wait": 1, "pending_size": 0, "name": self.name, "error_cb": _logged, **self._options}
        connection: Optional[Client] = None
        while not self._stop.is_set():
            try:
                if connection is None:
                    connection = await self._connect(options)
                    if connection is None:
                        return
                    await self._subscribe(connection)
                delay = await self._publish(connection, "snapshot")
            except Exception as err:  # of any kind: the next snapshot has everything
                _log.warning("cannot publish as %s: %s", self.name, err)
                delay = 1.0
            await self._until_due(delay)
        if connection is not None:
            try:
                if connection.is_connected:
                    await self._publish(connection, "bye")
                    await connection.flush(2)
            finally:
                await connection.close()

    async def _connect(self, options: dict[str, Any]) -> Optional[Client]:
        """Connects, however long that takes. Returns nothing if the source is closed before."""
        assert self._stop
        connecting, stop = asyncio.ensure_future(nats.connect(self._servers, **options)), asyncio.ensure_future(self._stop.wait())
        await asyncio.wait({connecting, stop}, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        if connecting.done():
            return connecting.result()
        connecting.cancel()
        return None

    async def _until_due(self, delay: float) -> None:
        assert self._wake and self._stop
        due = [asyncio.ensure_future(event.wait()) for event in (self._wake, self._stop)]
        await asyncio.wait(due, timeout=delay, return_when=asyncio.FIRST_COMPLETED)
        for task in due:
            task.cancel()
        self._wake.clear()

    async def _publish(self, connection: Client, kind: str) -> float:
        before, interval = self._interval, self._pace.interval()
        self._interval = interval
        if connection.is_connected:
            for recorder in self._nets:
                try:
                    messages = recorder.snapshots(self.name, self.epoch, int(interval * 1e6), connection.max_payload, kind == "bye")
                except LimitError as err:
                    _log.error("net %s is not published: %s", recorder.net.id, err)
                    continue
                for message in messages:
                    await connection.publish(self._subject(kind, recorder.net.id, self.name), message)
        # A fleet that was asked for rarer messages does not publish all at once.
        return interval if before == interval else interval * random.random()

    async def _subscribe(self, connection: Client) -> None:
        await connection.subscribe(f"{self._prefix}.hello", cb=self._hello)
        for recorder in self._nets:
            net = recorder.net
            await connection.subscribe(self._subject("full", net.id, self.name), cb=self._asked)
            await connection.subscribe(self._subject("notice", net.id, self.name), cb=_noticed)
            await connection.subscribe(self._subject("net", net.id, net.digest), cb=_answer(net.pnml, connection))

    def _subject(self, kind: str, *names: str) -> str:
        return ".".join([self._prefix, kind, *map(token, names)])

    async def _hello(self, message: Msg) -> None:
        if message.data:
            self._pace.wish(message.data)
        else:
            await self._asked(message)

    async def _asked(self, _: Msg) -> None:
        assert self._wake
        self._wake.set()


def _answer(pnml: bytes, connection: Client) -> Callable[[Msg], Any]:
    async def answer(message: Msg) -> None:
        if not message.reply:
            return
        if len(pnml) <= connection.max_payload:
            await connection.publish(message.reply, pnml)
        else:
            await connection.publish(message.reply, gzip.compress(pnml), headers={"Content-Encoding": "gzip"})
    return answer


async def _noticed(message: Msg) -> None:
    _log.warning("a collector refuses messages of this source: %s", message.data[:1000].decode(errors="replace"))


async def _logged(err: Exception) -> None:
    _log.warning("NATS: %s", err)
