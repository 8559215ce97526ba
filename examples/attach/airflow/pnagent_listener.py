# SPDX-License-Identifier: Apache-2.0
"""A plugin for Airflow 3.1 that reports runs and tasks to pnagent as lines over HTTP.

    pnagent attach lines --nats nats://127.0.0.1:4222 --source airflow --http 127.0.0.1:9799 --window 5s orders.pnml &
    cp pnagent_listener.py $AIRFLOW_HOME/plugins/
    export PNAGENT_LINES=http://127.0.0.1:9799/events    # before the scheduler and the workers start

The net has the name of the DAG, and an instance is a run. A run that starts brings a token to
the place "begin". Each task has the transitions TASK/start, TASK/retry, TASK/fail and
TASK/success; the first one is for its first try. Airflow calls no hook for a task that is
skipped. The events of a run come from several processes: --window puts them in order.

A hook puts its line into a queue, and a thread sends the lines. So the scheduler, which calls
the hooks of runs, does not wait for pnagent. The process of a task waits at its end, for at
most 5 seconds. A line that cannot be sent is lost: Airflow logs the error, and the next lines
have the number of lost ones.
"""
import json
import logging
import os
import queue
import sys
import threading
import time
import urllib.request

from airflow.listeners import hookimpl
from airflow.plugins_manager import AirflowPlugin

log = logging.getLogger(__name__)


class Sender:
    """Sends lines in the order in which they came."""

    def __init__(self):
        self.lines, self.lost, self.thread = queue.Queue(1000), 0, None

    def put(self, line):
        try:
            self.lines.put_nowait(line)
        except queue.Full:
            self.lost += 1
            log.error("pnagent: an event is lost, because 1000 wait")
        if self.thread is None:
            self.thread = threading.Thread(target=self.run, name="pnagent", daemon=True)
            self.thread.start()

    def run(self):
        while True:
            line = self.lines.get()
            if isinstance(line, threading.Event):  # all before it was sent
                line.set()
                continue
            if self.lost:
                line["dropped"] = self.lost
            try:
                body = json.dumps(line).encode()
                with urllib.request.urlopen(urllib.request.Request(os.environ["PNAGENT_LINES"], body), timeout=30):
                    pass
            except Exception:
                self.lost += 1
                log.exception("pnagent: an event is lost")

    def wait(self, seconds):
        if self.thread is not None:
            sent = threading.Event()
            self.lines.put(sent, timeout=seconds)
            sent.wait(seconds)


sender = Sender()
os.register_at_fork(after_in_child=sender.__init__)  # a child has no thread, and its parent sends what waits


def send(of, **event):
    sender.put({"time": time.time(), "net": of.dag_id, "instance": of.run_id, **event})


@hookimpl
def on_dag_run_running(dag_run):
    send(dag_run, place="begin")


@hookimpl
def on_dag_run_success(dag_run):
    send(dag_run, end=True)


@hookimpl
def on_dag_run_failed(dag_run):
    send(dag_run, end=True)


@hookimpl
def on_task_instance_running(task_instance):
    send(task_instance, transition=task_instance.task_id + ("/start" if task_instance.try_number < 2 else "/retry"))


@hookimpl
def on_task_instance_success(task_instance):
    send(task_instance, transition=task_instance.task_id + "/success")


@hookimpl
def on_task_instance_failed(task_instance):
    send(task_instance, transition=task_instance.task_id + "/fail")


@hookimpl
def before_stopping(component):
    sender.wait(5)


class PnagentListener(AirflowPlugin):
    name = "pnagent"
    listeners = [sys.modules[__name__]]
