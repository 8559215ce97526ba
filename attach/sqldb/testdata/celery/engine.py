# SPDX-License-Identifier: Apache-2.0
"""Celery with results in a database for the tests: python engine.py DATABASE. Its broker is a directory.

It reads commands from standard input, and answers each with lines and "ok":

    send TASK...    sends each task
    work ID         starts a worker in a process of its own
    kill ID         kills it
    report          the results of the tasks that were sent, as other engines report their instances
"""

import os
import shutil
import sys
import tempfile
import time
from datetime import timezone

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from celery import Celery
from celery.signals import worker_ready
from commands import Workers, serve

ENDS = ("SUCCESS", "FAILURE", "REVOKED")


def new_app(database, directory):
    app = Celery("shop", broker="filesystem://", backend="db+" + database)
    app.conf.update(
        task_track_started=True,
        result_extended=True,
        broker_transport_options={"data_folder_in": directory, "data_folder_out": directory, "control_folder": directory},
        broker_connection_retry_on_startup=True,
        database_create_tables_at_setup=True,
    )

    @app.task(name="holds")
    def holds():
        while True:
            time.sleep(1)

    @app.task(name="loads", bind=True)
    def loads(self):
        self.update_state(state="LOADING")
        holds()

    @app.task(name="flaky", bind=True, max_retries=3)
    def flaky(self):
        raise self.retry(exc=RuntimeError("no route to Ann"), countdown=3600)

    @app.task(name="dead", bind=True, max_retries=1)
    def dead(self):
        raise self.retry(exc=RuntimeError("no route to Ann"), countdown=0)

    @app.task(name="quick")
    def quick():
        pass

    return app


class Engine:
    def __init__(self, database, directory):
        self.app = new_app(database, directory)
        self.app.backend.ResultSession()  # makes the tables
        self.sent = []

    def send(self, *tasks):
        self.sent += [self.app.tasks[task].delay() for task in tasks]

    def report(self):
        for run in self.sent:
            meta = self.app.backend.get_task_meta(run.id, cache=False)
            if meta["status"] == "PENDING":  # there is no result
                continue
            changed = meta["date_done"] and int(meta["date_done"].replace(tzinfo=timezone.utc).timestamp() * 1000)
            print("state", meta["name"], run.id, meta["status"])
            if meta["status"] not in ENDS:
                print("at", meta["name"], run.id, "task", changed or 0)


def work(app, name):
    worker_ready.connect(lambda **_: os.write(1, b"works\n"), weak=False)
    app.Worker(quiet=True, loglevel="CRITICAL", hostname=name + "@shop", pool_cls="threads", concurrency=8, without_gossip=True, without_mingle=True, without_heartbeat=True).start()


if __name__ == "__main__":
    if len(sys.argv) > 3:
        _, database, directory, name = sys.argv
        work(new_app(database, directory), name)
    else:
        directory = tempfile.mkdtemp("celery")
        try:
            serve(Engine(sys.argv[1], directory), Workers(sys.executable, __file__, sys.argv[1], directory))
        finally:
            shutil.rmtree(directory, ignore_errors=True)
