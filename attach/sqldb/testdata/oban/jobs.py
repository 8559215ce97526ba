# SPDX-License-Identifier: Apache-2.0
"""The jobs of engine.py."""

import asyncio

from oban import Snooze, worker


class Job:
    async def process(self, job):
        return None


@worker(queue="idle")
class idle(Job):
    pass


@worker()
class holds:
    async def process(self, job):
        while True:
            await asyncio.sleep(1)


@worker()
class flaky:
    async def process(self, job):
        raise RuntimeError("no route to Ann")

    def backoff(self, job):
        return 3600


@worker(max_attempts=1)
class dead:
    async def process(self, job):
        raise RuntimeError("no route to Ann")


@worker()
class snoozes:
    async def process(self, job):
        return Snooze(3600)


@worker()
class quick(Job):
    pass


@worker()
class tomorrow(Job):
    pass


@worker(queue="idle")
class due(Job):
    pass
