# SPDX-License-Identifier: Apache-2.0
"""The DAGs of the tests, for Airflow 2 and 3."""

import os
import time
from datetime import datetime, timedelta

try:
    from airflow.sdk import DAG, task
    from airflow.sdk.bases.sensor import BaseSensorOperator
    from airflow.sdk.exceptions import AirflowSkipException, TaskDeferred
except ImportError:
    try:
        from airflow.sdk import DAG, task
        from airflow.exceptions import AirflowSkipException, TaskDeferred
        from airflow.sdk.bases.sensor import BaseSensorOperator
    except ImportError:
        from airflow import DAG
        from airflow.decorators import task
        from airflow.exceptions import AirflowSkipException, TaskDeferred
        from airflow.sensors.base import BaseSensorOperator

COMMON = dict(schedule=None, start_date=datetime(2024, 1, 1), catchup=False, max_active_runs=1)
RELEASE = os.environ["AIRFLOW_HOME"] + "/release"


class Never(BaseSensorOperator):
    """Pokes, and finds nothing."""

    def poke(self, context):
        return os.path.exists(RELEASE)


with DAG("stuck", **COMMON):

    @task
    def extract():
        return None

    @task(retries=2, retry_delay=timedelta(hours=1), owner="Ann")
    def flaky():
        raise RuntimeError("card declined")

    @task(retries=3, retry_exponential_backoff=True, retry_delay=timedelta(minutes=20))
    def backoff():
        raise RuntimeError("again")

    @task(queue="idle")
    def queued():
        pass

    @task(queue="idle")
    def mapped(n):
        pass

    @task(pool="one", priority_weight=10)
    def holds():
        open(os.environ["AIRFLOW_HOME"] + "/stays-holds", "w").close()
        while not os.path.exists(RELEASE):
            time.sleep(0.1)

    @task(pool="one")
    def full():
        pass

    @task
    def deferred():
        from airflow.triggers.testing import SuccessTrigger

        raise TaskDeferred(trigger=SuccessTrigger(), method_name="execute")

    @task
    def fails():
        raise RuntimeError("for good")

    @task
    def load():
        pass

    @task
    def report():
        pass

    first, end = extract(), load()
    broken = fails()
    first >> [flaky(), backoff(), queued(), mapped.expand(n=[1, 2]), holds(), full(), deferred()] >> end
    first >> Never(task_id="sensor", mode="reschedule", poke_interval=1800, timeout=86400) >> end
    first >> broken >> report()
    first >> end

with DAG("paused", **COMMON):

    @task
    def begin():
        pass

    @task
    def then():
        pass

    begin() >> then()

with DAG("quick", **{**COMMON, "max_active_runs": 10}):

    @task
    def one():
        pass

    @task(retries=3, retry_delay=timedelta(seconds=0))
    def twice(**context):
        if context["ti"].try_number < 2:
            raise RuntimeError("the first time")

    @task
    def skipped():
        raise AirflowSkipException

    one() >> twice() >> skipped()

with DAG("timed", **{**COMMON, "schedule": "0 6 * * *", "start_date": datetime(2100, 1, 1)}):

    @task
    def wake():
        pass

    @task
    def act():
        pass

    wake() >> act()
