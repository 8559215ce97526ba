# SPDX-License-Identifier: Apache-2.0
"""The flows of the tests: python flows.py NAME."""

import os
import sys
import time

from prefect import flow, task
from prefect.flow_runs import pause_flow_run

RELEASE = os.environ["PREFECT_HOME"] + "/release"


@task
def extract():
    return 1


@task(tags=["one"])
def holds(n):
    while not os.path.exists(RELEASE):
        time.sleep(0.1)


@task(tags=["one"])
def full(n):
    pass


@task(retries=2, retry_delay_seconds=3600)
def flaky(n):
    raise RuntimeError("card declined")


@task
def load(flaky):
    pass


@task
def fails():
    raise RuntimeError("for good")


@task
def after(n):
    pass


@flow(name="child")
def child():
    pause_flow_run(wait_for_input=str, timeout=3600)


@flow(name="stuck")
def stuck():
    first = extract.submit()
    slot = holds.submit(first)
    while slot.state.name != "Running":
        time.sleep(0.1)
    full.submit(first)
    failed = flaky.submit(first)
    load.submit(failed, wait_for=[slot, first])
    after.submit(fails.submit())
    child()


@task
def one():
    return 1


@task(retries=1)
def twice(n, attempts=[]):
    attempts.append(n)
    if len(attempts) < 2:
        raise RuntimeError("the first time")


@task
def never():
    raise RuntimeError("for good")


@flow(name="quick")
def quick():
    never.submit(wait_for=[twice.submit(one.submit())]).wait(raise_on_failure=False)


@flow(name="nightly")
def nightly():
    pass


if __name__ == "__main__":
    {"stuck": stuck, "quick": quick}[sys.argv[1]]()
