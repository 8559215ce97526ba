# SPDX-License-Identifier: Apache-2.0
"""Dagster for the tests: python engine.py DATABASE.

It reads commands from standard input, and answers each with lines and "ok":

    create JOB STATUS   creates a run of a job in a status, as what launches it does
    work JOB            runs a job in a process of its own
    kill JOB            kills it
    beat SECONDS        the daemon of the run queue reports a sign of life, of a time since the Unix epoch or, with 0, of now
    cancel JOB          reports the last run of a job as being canceled
    report              the runs by the instance, as other engines report theirs
"""

import logging
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import dagster
from commands import Workers, serve
from dagster import DagsterEventType, DagsterInstance, DagsterRunStatus
from dagster._core.remote_origin import RegisteredCodeLocationOrigin, RemoteRepositoryOrigin
from dagster._daemon.types import DaemonHeartbeat

SHOP = RemoteRepositoryOrigin(RegisteredCodeLocationOrigin("shop"), "shop")
ENDS = ("SUCCESS", "FAILURE", "CANCELED")


@dagster.op
def load():
    pass


@dagster.op
def hangs(loaded):
    print("works", flush=True)
    while True:
        time.sleep(1)


@dagster.op(retry_policy=dagster.RetryPolicy(max_retries=1, delay=3600))
def flaky(loaded):
    print("works", flush=True)
    raise RuntimeError("no route to Ann")


@dagster.op
def broken(loaded):
    raise RuntimeError("no route to Ann")


def job(name, op=None):
    @dagster.job(name=name)
    def run():
        op(load()) if op else load()

    return run


JOBS = {name: job(name) for name in ("idle", "queued", "launched", "quick")} | {"holds": job("holds", hangs), "retries": job("retries", flaky), "fails": job("fails", broken)}


class Engine:
    def __init__(self, instance):
        self.instance = instance
        self.first = None

    def create(self, name, status):
        run = self.instance.create_run_for_job(JOBS[name], status=DagsterRunStatus[status], remote_job_origin=SHOP.get_job_origin(name))
        self.first = self.first or run.run_id

    def beat(self, at):
        self.instance.add_daemon_heartbeat(DaemonHeartbeat(float(at) or time.time(), "QUEUED_RUN_COORDINATOR", "one", []))

    def cancel(self, name):
        run = self.instance.get_runs(dagster.RunsFilter(job_name=name), limit=1)[0]
        self.instance.report_run_canceling(run)

    def execute(self, name):
        JOBS[name].execute_in_process(instance=self.instance, raise_on_error=False)

    def report(self):
        counts = {}
        for r in self.instance.get_run_records():
            run, status = r.dagster_run, r.dagster_run.status.value
            came = int(r.create_timestamp.timestamp() * 1000)
            print("state", run.job_name, run.run_id, status)
            if status not in ENDS:
                print("at", run.job_name, run.run_id, "run", came)
                for event in self.instance.all_logs(run.run_id, of_type={DagsterEventType.STEP_START, DagsterEventType.STEP_UP_FOR_RETRY}):
                    print("job", run.job_name, run.run_id, run.job_name, "step", int(event.timestamp * 1000))
            n = counts.setdefault(run.job_name, [0, 0, 0])
            n[0] += run.run_id != self.first
            n[1] += status in ENDS
            n[2] += status == "SUCCESS"
        for name, (came_in, ended, fired) in counts.items():
            print("count", name, "run", came_in, ended, fired)
            print("count", name, "instances", came_in, fired, ended - fired)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        with open(os.path.join(home, "dagster.yaml"), "w") as f:
            f.write("storage:\n  postgres:\n    postgres_url: " + sys.argv[1] + "\ntelemetry:\n  enabled: false\n")
        with DagsterInstance.from_config(home) as instance:
            if len(sys.argv) > 2:
                Engine(instance).execute(sys.argv[2])
            else:
                logging.disable()
                serve(Engine(instance), Workers(sys.executable, __file__, sys.argv[1]))
