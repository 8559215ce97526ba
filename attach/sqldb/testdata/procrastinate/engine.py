# SPDX-License-Identifier: Apache-2.0
"""Procrastinate for the tests: python engine.py DATABASE.

It reads commands from standard input, and answers each with lines and "ok":

    insert TASK...  defers a job of each task
    work ID         starts a worker of the queue default in a process of its own
    kill ID         kills it
    cancel TASK     cancels the job of a task
    abort TASK      has its worker abort it
    retry TASK      retries it
    stalled         the tasks of the jobs that Procrastinate reports as stalled
    report          jobs by Procrastinate's API, and their events, as the other engines report theirs
"""

import asyncio
import logging
import subprocess
import sys
import time
from datetime import datetime, timezone

import procrastinate
import psycopg

ENDS = ("succeeded", "failed", "cancelled", "aborted")


def new_app(database):
    app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=database))

    @app.task(name="idle", queue="idle")
    def idle():
        pass

    @app.task(name="holds", lock="till", pass_context=True)
    def holds(context):
        """Runs until it is killed, at its first try."""
        while context.job.attempts == 0:
            time.sleep(0.1)

    @app.task(name="held", pass_context=True)
    def held(context):
        holds(context)

    @app.task(name="locked", lock="till")
    def locked():
        pass

    @app.task(name="flaky", retry=procrastinate.RetryStrategy(max_attempts=2, wait=3600))
    def flaky():
        raise RuntimeError("no route to Ann")

    @app.task(name="dead")
    def dead():
        raise RuntimeError("no route to Ann")

    @app.task(name="quick")
    def quick():
        pass

    @app.task(name="tomorrow", lock="then")
    def tomorrow():
        pass

    @app.task(name="behind", lock="then")
    def behind():
        pass

    return app


class Engine:
    def __init__(self, database):
        self.database = database
        self.app = new_app(database)
        self.jobs = self.app.job_manager
        self.workers = {}
        self.events = psycopg.connect(database, autocommit=True)

    def insert(self, *tasks):
        for task in tasks:
            options = {"schedule_in": {"days": 1}} if task == "tomorrow" else {}
            self.app.configure_task(task, **options).defer()

    def work(self, name):
        self.workers[name] = subprocess.Popen([sys.executable, __file__, self.database, name], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def kill(self, name):
        p = self.workers.pop(name)
        p.kill()
        p.wait()

    def job(self, task):
        return next(j for j in self.jobs.list_jobs() if j.task_name == task)

    def cancel(self, task):
        self.jobs.cancel_job_by_id(self.job(task).id)

    def abort(self, task):
        self.jobs.cancel_job_by_id(self.job(task).id, abort=True)

    def retry(self, task):
        self.jobs.retry_job_by_id(self.job(task).id, retry_at=datetime.now(timezone.utc))

    def stalled(self):
        print(*sorted(asyncio.run(stalled(self.database))))

    def report(self):
        counts = {}
        events = {}
        for job, kind, at in self.events.execute("SELECT job_id, type::text, at FROM procrastinate_events ORDER BY id"):
            events.setdefault(job, []).append((kind, at))
        now = datetime.now(timezone.utc)
        for j in sorted(self.jobs.list_jobs(), key=lambda j: j.id):
            print("state", j.task_name, j.id, j.status)
            waits = j.status == "todo" and j.scheduled_at and j.scheduled_at > now
            if j.status in ("todo", "doing") and not (waits and j.attempts == 0):
                print("at", j.task_name, j.id, "job", millis(came(j, events[j.id])))
            if waits:
                print("job", j.task_name, j.id, j.task_name, "due", millis(j.scheduled_at))
            n = counts.setdefault(j.task_name, [0, 0, 0])
            kinds = [kind for kind, _ in events[j.id]]
            n[0] += sum(kind in ("deferred", "retried") for kind in kinds) if j.id > 1 else 0
            n[1] += sum(kind in ENDS for kind in kinds)
            n[2] += kinds.count("succeeded")
        for task, (came_in, ended, fired) in counts.items():
            print("count", task, "job", came_in, ended, fired)
            print("count", task, "instances", came_in, fired, ended - fired)

    def end(self):
        for name in list(self.workers):
            self.kill(name)


async def stalled(database):
    async with new_app(database).open_async() as app:
        return [j.task_name for j in await app.job_manager.get_stalled_jobs()]


def came(job, events):
    """When a job came: its first start since it was deferred, or retried after its end."""
    last = max(i for i, (kind, _) in enumerate(events) if kind in ("deferred", "retried"))
    for kind, at in events[last:]:
        if kind == "started":
            return at
    return max(events[last][1], job.scheduled_at or events[last][1])


def millis(at):
    return int(at.timestamp() * 1000)


def main():
    logging.disable()
    if len(sys.argv) > 2:
        new_app(sys.argv[1]).run_worker(queues=["default"], concurrency=4, listen_notify=False, fetch_job_polling_interval=0.1, stalled_worker_timeout=60)
        return
    app = new_app(sys.argv[1])
    with app.open():
        app.schema_manager.apply_schema()
    engine = Engine(sys.argv[1])
    try:
        with engine.app.open():
            print("ok", flush=True)
            for line in sys.stdin:
                name, *args = line.split()
                try:
                    getattr(engine, name)(*args)
                    print("ok", flush=True)
                except Exception as e:
                    print("error", repr(e), flush=True)
    finally:
        engine.end()


if __name__ == "__main__":
    main()
