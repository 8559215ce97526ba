# SPDX-License-Identifier: Apache-2.0
"""Airflow 2 or 3 in one process, for the tests: python engine.py DAGS.

It reads commands from standard input, and answers each with lines and "ok":

    run DAG RUN          makes a run
    step                 one round of the scheduler
    pause DAG
    next DAG             when the scheduler is to make the next run
    miss DAG             it was to make one an hour ago
    report               task instances by the ORM, as the Java engines report theirs
    clear DAG RUN TASK   clears a finished task instance
    release              ends the task that holds the pool

The scheduler and the task runner are Airflow's. What differs is that the scheduler
takes a step when it is told to, and that the executor runs no task of the queue
"idle", as if no worker listened there.
"""

import logging
import os
import signal
import sys
import threading
import unittest.mock
from datetime import datetime, timedelta, timezone

try:
    import airflow.sdk  # noqa: F401
    V3 = True
except ImportError:
    V3 = False

if V3:
    from airflow.executors.base_executor import BaseExecutor

    class Executor(BaseExecutor):
        """Runs tasks with the supervisor of Airflow's SDK, and the API in this process."""

        is_local = True

        def start(self):
            from airflow.sdk.execution_time.supervisor import InProcessTestSupervisor, WatchedSubprocess

            self.results, self.client = [], InProcessTestSupervisor._api_client()

            # A supervisor looks only every five seconds whether its task has ended, if
            # the task closed its sockets before.
            service = WatchedSubprocess._service_subprocess
            WatchedSubprocess._service_subprocess = lambda of, max_wait_time, **more: service(of, min(max_wait_time, 0.05), **more)

            # From 3.2 on, a supervisor handles signals, which only the main thread of a process may.
            handle = signal.signal
            signal.signal = lambda *of: handle(*of) if threading.current_thread() is threading.main_thread() else None

        def _process_workloads(self, workloads):
            for w in workloads:
                del self.queued_tasks[w.ti.key]
                self.running.add(w.ti.key)
                if w.ti.queue != "idle":
                    # The supervisor forks: a lock that another thread holds then is held
                    # forever in the task. So one task starts at a time: when the one before
                    # has ended, or writes that it has begun and stays.
                    t = threading.Thread(target=self.work, args=(w,), daemon=True)
                    t.start()
                    while t.is_alive() and not os.path.exists(os.environ["AIRFLOW_HOME"] + "/stays-" + w.ti.task_id):
                        t.join(0.05)

        def work(self, w):
            from airflow.sdk.execution_time.supervisor import supervise

            try:
                supervise(ti=w.ti, bundle_info=w.bundle_info, dag_rel_path=w.dag_rel_path, token=w.token,
                          client=self.client, log_path=w.log_path)
                self.results.append((w.ti.key, "success"))
            except Exception as e:
                print(e, file=sys.stderr)
                self.results.append((w.ti.key, "failed"))

        def sync(self):
            while self.results:
                self.change_state(*self.results.pop())

        def end(self):
            pass

        def terminate(self):
            pass
else:
    from airflow.executors.local_executor import LocalExecutor

    class Executor(LocalExecutor):
        """LocalExecutor without workers for the queue "idle"."""

        def execute_async(self, key, command, queue=None, executor_config=None):
            if queue != "idle":
                super().execute_async(key, command, queue, executor_config)


def main(dags):
    from airflow.jobs.job import Job, perform_heartbeat
    from airflow.jobs.scheduler_job_runner import SchedulerJobRunner
    from airflow.models import DagModel, DagRun, Pool, TaskInstance
    from airflow.models.taskinstance import clear_task_instances
    from airflow.models.taskinstancehistory import TaskInstanceHistory
    from airflow.models.taskreschedule import TaskReschedule
    from airflow.utils.state import State
    from airflow.utils.session import create_session
    from sqlalchemy import select

    from airflow.utils import db

    db.initdb()
    if V3:
        from airflow.dag_processing.bundles.manager import DagBundlesManager
        try:
            from airflow.dag_processing.dagbag import DagBag, sync_bag_to_db
        except ImportError:  # before 3.2
            from airflow.models.dagbag import DagBag, sync_bag_to_db

        DagBundlesManager().sync_bundles_to_db()
        bag = DagBag(dags, bundle_path=dags)
        sync_bag_to_db(bag, "dags-folder", None)
    else:
        from airflow.models.dagbag import DagBag

        bag = DagBag(dags, include_examples=False)
        bag.sync_to_db()
    assert not bag.import_errors, bag.import_errors
    with create_session() as session:
        if not session.scalar(select(Pool).where(Pool.pool == "one")):
            session.add(Pool(pool="one", slots=1, include_deferred=False))
        for d in session.scalars(select(DagModel)):
            d.is_paused = False
    job = Job()
    runner = SchedulerJobRunner(job)
    job.prepare_for_execution()
    executor = getattr(runner, "executor", None) or job.executor
    executor.job_id = job.id
    executor.start()
    if not V3:
        runner.processor_agent = unittest.mock.Mock()  # it parses files

    def run(dag, run_id):
        from airflow.utils.state import DagRunState
        from airflow.utils.types import DagRunType

        more = {}
        now = datetime.now(timezone.utc)
        if V3:
            from airflow.utils.types import DagRunTriggeredByType

            more = dict(run_after=now, triggered_by=DagRunTriggeredByType.TEST, logical_date=now)
        else:
            more = dict(execution_date=now)
        if V3:
            from airflow.models.serialized_dag import SerializedDagModel

            of = SerializedDagModel.get_dag(dag)
            of.create_dagrun(run_id=run_id, run_type=DagRunType.MANUAL, state=DagRunState.QUEUED, data_interval=(now, now), **more)
        else:
            bag.get_dag(dag).create_dagrun(run_id=run_id, run_type=DagRunType.MANUAL, state=DagRunState.QUEUED, data_interval=(now, now), external_trigger=True, **more)

    def step():
        with create_session() as session:
            runner._do_scheduling(session)
        executor.heartbeat()
        with create_session() as session:
            runner._process_executor_events(executor=executor, session=session)
        perform_heartbeat(job, lambda *a, **k: None, only_if_necessary=True)

    def millis(t):
        return int(t.timestamp() * 1000)

    def report():
        """What the ORM knows, by its own rules: an independent reading of the tables."""
        with create_session() as session:
            counts = {}
            for ti in session.scalars(select(TaskInstance)):
                run = ti.get_dagrun(session=session)
                task = bag.get_dag(ti.dag_id).get_task(ti.task_id)
                ti.task = task
                tries = [h.start_date for h in session.scalars(select(TaskInstanceHistory)) if h.max_tries == ti.max_tries and
                         (h.dag_id, h.run_id, h.task_id, h.map_index) == (ti.dag_id, ti.run_id, ti.task_id, ti.map_index)]
                count = counts.setdefault((ti.dag_id, ti.task_id), [0, 0, 0])
                count[0] += ti.start_date is not None and ti.state not in (None, "scheduled", "queued") or len(tries) > 0
                count[1] += ti.state in State.finished
                count[2] += ti.state == "success"
                if ti.state in State.finished:
                    continue
                since = min(tries) if tries else ti.start_date
                if ti.state is None:
                    before = [o for o in run.get_task_instances(session=session) if o.task_id in task.upstream_task_ids]
                    ended = [o.end_date for o in before if o.state in State.finished]
                    if before and not ended:
                        continue
                    since = min(ended) if ended else run.start_date or run.queued_at
                elif ti.state == "scheduled" and not tries:
                    since = ti.scheduled_dttm if V3 else ti.updated_at
                elif ti.state == "queued" and not tries:
                    since = ti.queued_dttm
                print("at", ti.dag_id, ti.run_id, ti.task_id, millis(since))
                if ti.state == "up_for_retry":
                    print("job", ti.dag_id, ti.run_id, ti.task_id, "retry", millis(ti.next_retry_datetime()))
                if ti.state == "up_for_reschedule":
                    due = max(r.reschedule_date for r in session.scalars(select(TaskReschedule)))
                    print("job", ti.dag_id, ti.run_id, ti.task_id, "poke", millis(due))
                print("state", ti.dag_id, ti.run_id, ti.task_id + "=" + str(ti.state))
            for run in session.scalars(select(DagRun)):
                count = counts.setdefault((run.dag_id, "instances"), [0, 0, 0])
                count[0] += run.start_date is not None
                count[1] += run.state == "success"
                count[2] += run.state == "failed"
            for (dag, task), n in counts.items():
                print("count", dag, task, *n)

    def clear(dag, run_id, task):
        with create_session() as session:
            tis = [t for t in session.scalars(select(TaskInstance)) if (t.dag_id, t.run_id, t.task_id) == (dag, run_id, task)]
            clear_task_instances(tis, session, **({} if V3 else {"dag": bag.get_dag(dag)}))

    print("ok", flush=True)
    for line in sys.stdin:
        words = line.split()
        try:
            if words[0] == "run":
                run(*words[1:])
            elif words[0] == "step":
                step()
            elif words[0] == "report":
                report()
            elif words[0] == "clear":
                clear(*words[1:])
            elif words[0] == "pause":
                with create_session() as session:
                    session.scalars(select(DagModel).where(DagModel.dag_id == words[1])).one().is_paused = True
            elif words[0] in ("next", "miss"):
                with create_session() as session:
                    of = session.scalars(select(DagModel).where(DagModel.dag_id == words[1])).one()
                    if words[0] == "miss":
                        of.next_dagrun_create_after = datetime.now(timezone.utc) - timedelta(hours=1)
                    print(millis(of.next_dagrun_create_after))
            elif words[0] == "release":
                open(os.environ["AIRFLOW_HOME"] + "/release", "w").close()
            print("ok", flush=True)
        except Exception as e:
            logging.exception(line)
            print("error", repr(e), flush=True)
    open(os.environ["AIRFLOW_HOME"] + "/release", "w").close()


if __name__ == "__main__":
    main(sys.argv[1])
