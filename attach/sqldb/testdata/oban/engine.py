# SPDX-License-Identifier: Apache-2.0
"""Oban for the tests: python engine.py DATABASE.

It reads commands from standard input, and answers each with lines and "ok":

    insert JOB [SECONDS]    inserts a job of jobs.py, for that many seconds ahead
    work ID                 starts an instance that works the queue default in a process of its own
    kill ID                 kills it
    cancel JOB, retry JOB   does so with the last one
    rescue                  rescues what has been executing for a second or longer
    report                  jobs by get_job, as the other engines report theirs

Oban for Python asks for Python 3.12 because of one line, the alias of a type. Older ones read another one.
"""

import asyncio
import importlib.abc
import importlib.util
import os
import sys
import time
from datetime import timezone

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from commands import Workers, serve


class Alias(importlib.abc.MetaPathFinder):
    """Finds the module with the alias, and reads it as one that older Pythons know."""

    def find_spec(self, name, path, target=None):
        if name != "oban.job" or sys.version_info >= (3, 12):
            return None
        file = os.path.join(path[0], "job.py")
        loader = importlib.util.spec_from_file_location(name, file).loader
        loader.get_code = lambda _: compile(open(file).read().replace("type Result[T] =", "T = __import__('typing').TypeVar('T')\nResult ="), file, "exec")
        return importlib.util.spec_from_loader(name, loader)


sys.meta_path.insert(0, Alias())

import jobs
from oban import Oban
from oban.schema import install


class Engine:
    def __init__(self, database):
        self.database = database
        self.last, self.again = {}, {}
        asyncio.run(self.with_pool(install))

    async def with_pool(self, do):
        pool = await Oban.create_pool(self.database)
        try:
            return await do(pool)
        finally:
            await pool.close()

    def do(self, command):
        async def run(pool):
            return await command(Oban(pool=pool))

        return asyncio.run(self.with_pool(run))

    def insert(self, name, ahead="0"):
        options = {"scheduled_in": int(ahead)} if int(ahead) else {}
        job = self.do(lambda o: o.enqueue(getattr(jobs, name).new({}, **options)))
        self.last.setdefault(name, []).append(job.id)

    def cancel(self, name):
        self.do(lambda o: o.cancel_job(self.last[name][-1]))

    def retry(self, name):
        self.do(lambda o: o.retry_job(self.last[name][-1]))
        self.again[name] = 1

    def rescue(self):
        async def rescue(o):
            print("rescued", await o._query.rescue_jobs(1))

        self.do(rescue)

    def report(self):
        async def get(o):
            return {name: [await o.get_job(i) for i in ids] for name, ids in self.last.items()}

        found, now = self.do(get), time.time() * 1000
        for name, all in found.items():
            net, counts = "jobs." + name, [0, 0, 0]
            for j in all:
                print("state", net, j.id, j.state)
                tried = j.errors or "snoozed" in j.meta
                came = millis(j.inserted_at) if tried else max(millis(j.inserted_at), millis(j.scheduled_at))
                ended = j.state in ("completed", "cancelled", "discarded")
                if not ended and (j.state != "scheduled" or tried or came <= now):
                    print("at", net, j.id, "job", came)
                if not ended:
                    print("job", net, j.id, net, "due", millis(j.scheduled_at))
                counts[0] += name != "idle"
                counts[1] += ended
                counts[2] += j.state == "completed"
            counts[1] += self.again.get(name, 0)
            came, ended, fired = counts
            print("count", net, "job", came, ended, fired)
            print("count", net, "instances", came, fired, ended - fired)


def millis(at):
    return int(at.replace(tzinfo=timezone.utc).timestamp() * 1000)


async def work(database, name):
    pool = await Oban.create_pool(database)
    async with Oban(pool=pool, node=name, queues={"default": 8}, lifeline={"interval": 3600}, pruner={"max_age": 86400}, stager={"interval": 0.1}):
        print("works", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    if len(sys.argv) > 2:
        asyncio.run(work(*sys.argv[1:]))
    serve(Engine(sys.argv[1]), Workers(sys.executable, __file__, sys.argv[1]))
