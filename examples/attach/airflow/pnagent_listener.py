# SPDX-License-Identifier: Apache-2.0
"""A plugin for Airflow 3.1 that reports runs and tasks to pnagent as lines over HTTP.

    pnagent attach lines --nats nats://127.0.0.1:4222 --source airflow --http 127.0.0.1:9799 orders.pnml &
    cp pnagent_listener.py $AIRFLOW_HOME/plugins/
    export PNAGENT_LINES=http://127.0.0.1:9799/events    # before the scheduler and the workers start

The net has the name of the DAG, and an instance is a run. A run that starts brings a token to
the place "begin". Each task has the transitions TASK/start, TASK/retry, TASK/fail and
TASK/success; the first one is for its first try. If a line cannot be sent, Airflow logs the
error and the event is lost. Airflow calls no hook for a task that is skipped.
"""
import json
import os
import sys
import time
import urllib.request

from airflow.listeners import hookimpl
from airflow.plugins_manager import AirflowPlugin


def send(of, **event):
    line = {"time": time.time(), "net": of.dag_id, "instance": of.run_id, **event}
    with urllib.request.urlopen(urllib.request.Request(os.environ["PNAGENT_LINES"], json.dumps(line).encode()), timeout=5):
        pass


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


class PnagentListener(AirflowPlugin):
    name = "pnagent"
    listeners = [sys.modules[__name__]]
