# SPDX-License-Identifier: Apache-2.0
"""RQ and Celery for the tests: python engine.py LIBRARY PORT.

It reads commands from standard input, and answers each with lines and "ok":

    add QUEUE NAME [SPEC]  adds a job; {"delay": milliseconds, "attempts": number, "after": id}
    work QUEUE             starts a worker in a process of its own
    kill                   kills the workers
    pause                  suspends the workers of RQ
    report                 at QUEUE PLACE ID SINCE of each job, by the library's API

A job whose name begins with "hold" never ends, one with "fail" raises an error, others end.
"""

import json
import os
import signal
import subprocess
import sys
import time
from datetime import datetime, timedelta, timezone

import redis


def hold():
    time.sleep(1e6)


def fail():
    raise RuntimeError("out of paper")


def fails():
    fail()


def send():
    pass


JOBS = {f.__name__: f for f in (hold, fail, fails, send)}


def millis(*moments):
    """The first of some moments that there is, in milliseconds; 0 without one."""
    return next((int(m.replace(tzinfo=timezone.utc).timestamp() * 1000) for m in moments if m), 0)


def kill(worker):
    """Kills a worker with the processes that it has started, which may have a session of their own."""
    pids = [worker.pid]
    for pid in pids:
        with open(f"/proc/{pid}/task/{pid}/children") as children:
            pids += map(int, children.read().split())
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    worker.wait()


class RQ:
    """RQ's queues. A worker runs each job in a process of its own."""

    def __init__(self, port):
        self.connection = redis.Redis(port=port)
        self.queues = {}

    def queue(self, name):
        import rq

        return self.queues.setdefault(name, rq.Queue(name, connection=self.connection))

    def add(self, queue, name, delay=0, attempts=1, after=None):
        import rq

        module = __import__("engine")
        more = {"retry": rq.Retry(max=attempts - 1, interval=3600)} if attempts > 1 else {}
        if after:
            more["depends_on"] = after
        if delay:
            job = self.queue(queue).enqueue_in(timedelta(milliseconds=delay), module.JOBS[name], **more)
        else:
            job = self.queue(queue).enqueue(module.JOBS[name], **more)
        return job.id

    def work(self, *names):
        import rq

        rq.Worker([self.queue(n) for n in names], connection=self.connection).work(with_scheduler=True, logging_level="ERROR")

    def pause(self):
        from rq import suspension

        suspension.suspend(self.connection)

    def resume(self):
        from rq import suspension

        suspension.resume(self.connection)

    def report(self):
        for name, queue in self.queues.items():
            for job in queue.jobs:
                yield name, "waiting", job.id, millis(job.enqueued_at)
            fetch = lambda registry: [j for j in (queue.fetch_job(i) for i in registry.get_job_ids()) if j]  # noqa: E731
            for job in fetch(queue.started_job_registry):
                yield name, "running", job.id, millis(job.started_at)
            for job in fetch(queue.scheduled_job_registry):
                yield name, "delayed", job.id, millis(job.ended_at, job.created_at)
            for job in fetch(queue.failed_job_registry):
                yield name, "failed", job.id, millis(job.ended_at)
            for job in fetch(queue.deferred_job_registry):
                yield name, "deferred", job.id, millis(job.created_at)


class Celery:
    """Celery's queues. Its API has no times of messages that wait."""

    def __init__(self, port):
        import celery

        self.app = celery.Celery("engine", broker=f"redis://127.0.0.1:{port}/0", backend=None)
        self.app.conf.update(task_acks_late=True, worker_prefetch_multiplier=1, task_create_missing_queues=True, broker_connection_retry_on_startup=True, worker_hijack_root_logger=False)
        for name, run in JOBS.items():
            self.app.task(name=name)(run)
        self.ids = {}

    def add(self, queue, name, delay=0, priority=None, **_):
        return self.app.send_task(name, queue=queue, countdown=delay / 1000 or None, priority=priority).id

    def work(self, *names):
        self.app.worker_main(["worker", "-Q", ",".join(names), "-c", "2", "-P", "threads", "-l", "ERROR", "--without-gossip", "--without-mingle"])


def main():
    library, port, *works = sys.argv[1:]
    lib = {"rq": RQ, "celery": Celery}[library](int(port))
    if works:
        lib.work(*works)
        return
    workers = []
    print("ok", flush=True)
    for line in sys.stdin:
        command, *args = line.split()
        try:
            if command == "add":
                print(lib.add(args[0], args[1], **json.loads(args[2] if len(args) > 2 else "{}")))
            elif command == "work":
                workers.append(subprocess.Popen([sys.executable, __file__, library, port, *args], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL))
            elif command == "kill":
                for w in workers:
                    kill(w)
                workers.clear()
            elif command == "report":
                for row in lib.report():
                    print("at", *row)
            else:
                getattr(lib, command)(*args)
            print("ok", flush=True)
        except Exception as e:  # noqa: BLE001
            print("error", repr(e), flush=True)
    for w in workers:
        kill(w)


if __name__ == "__main__":
    main()
