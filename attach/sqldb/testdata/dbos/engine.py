# SPDX-License-Identifier: Apache-2.0
"""DBOS for the tests: python engine.py DATABASE.

It reads commands from standard input, and answers each with lines and "ok":

    enqueue QUEUE WORKFLOW [OPTION=VALUE...]  enqueues a workflow, with options of DBOSClient.enqueue
    work ID                                   starts an executor in a process of its own, with this version of the application
    kill ID                                   kills it
    cancel WORKFLOW                           does so with the only run of a workflow
    schedule WORKFLOW MINUTE                  has a workflow started each day at this minute of three o'clock
    report                                    the workflows by list_workflows, as other engines report their instances
"""

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import dbos
from commands import Workers, serve
from dbos import DBOS

OPEN = ("DELAYED", "ENQUEUED", "PENDING", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")


class Engine:
    def __init__(self, database):
        self.client = dbos.DBOSClient(system_database_url=database)
        self.first = None

    def enqueue(self, queue, workflow, *options):
        options = dict(o.split("=") for o in options)
        if "delay_seconds" in options:
            options["delay_seconds"] = float(options["delay_seconds"])
        run = self.client.enqueue({"queue_name": queue, "workflow_name": workflow, **options}).workflow_id
        self.first = self.first or run

    def run(self, workflow):
        return self.client.list_workflows(name=workflow)[0].workflow_id

    def cancel(self, workflow):
        self.client.cancel_workflow(self.run(workflow))

    def schedule(self, workflow, minute):
        self.client.create_schedule(schedule_name=workflow, workflow_name=workflow, schedule=f"{minute} 3 * * *", cron_timezone="Europe/Berlin")

    def report(self):
        now = time.time() * 1000
        counts = {}
        for w in self.client.list_workflows():
            came = max(w.created_at, w.delay_until_epoch_ms or 0)
            print("state", w.name, w.workflow_id, w.status)
            if w.status in OPEN and came <= now:
                print("at", w.name, w.workflow_id, "workflow", came)
                print("job", w.name, w.workflow_id, w.name, "due", came)
            n = counts.setdefault(w.name, [0, 0, 0])
            n[0] += w.workflow_id != self.first
            n[1] += w.status not in OPEN
            n[2] += w.status == "SUCCESS"
        for name, (came_in, ended, fired) in counts.items():
            print("count", name, "workflow", came_in, ended, fired)
            print("count", name, "instances", came_in, fired, ended - fired)


def work(database, name):
    DBOS(config={"name": "shop", "system_database_url": database, "executor_id": name, "application_version": "two", "run_admin_server": False, "log_level": "CRITICAL"})

    @DBOS.step(name="charge")
    def charge():
        pass

    def hangs():
        charge()
        while True:
            time.sleep(1)

    for workflow in ("holds", "narrow", "narrow2"):
        DBOS.workflow(name=workflow)(lambda: hangs())
    DBOS.workflow(name="parks", max_recovery_attempts=0)(lambda: hangs())
    DBOS.workflow(name="sleeps")(lambda: DBOS.sleep(3600))
    DBOS.workflow(name="waits")(lambda: DBOS.recv("paid", 3600))
    DBOS.workflow(name="fails")(lambda: 1 // 0)
    for workflow in ("quick", "due"):
        DBOS.workflow(name=workflow)(lambda: None)
    DBOS.launch()
    DBOS.register_queue("mail", polling_interval_sec=0.1)
    DBOS.register_queue("narrow", global_concurrency=1, polling_interval_sec=0.1)
    print("works", flush=True)
    while True:
        time.sleep(1)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        work(*sys.argv[1:])
    dbos.run_dbos_database_migrations(sys.argv[1])
    serve(Engine(sys.argv[1]), Workers(sys.executable, __file__, sys.argv[1]))
