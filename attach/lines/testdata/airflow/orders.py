# SPDX-License-Identifier: Apache-2.0
"""The DAG of the example: the second try of a price works, and the order "bad" is not charged."""

from datetime import datetime, timedelta

from airflow.sdk import DAG, task

with DAG("orders", schedule=None, start_date=datetime(2024, 1, 1), catchup=False):

    @task(retries=1, retry_delay=timedelta(seconds=0))
    def price(**context):
        if context["ti"].try_number < 2:
            raise RuntimeError("the first time")

    @task(retries=1, retry_delay=timedelta(hours=1))
    def charge(**context):
        if context["run_id"] == "bad":
            raise RuntimeError("card declined")

    price() >> charge()
