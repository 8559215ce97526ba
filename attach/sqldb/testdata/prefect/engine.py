# SPDX-License-Identifier: Apache-2.0
"""Prefect's server and its flows, for the tests: python engine.py PORT.

It reads commands from standard input, and answers each with lines and "ok":

    run FLOW     starts a flow of flows.py in a process of its own
    late         schedules a flow run whose time has come, in a queue that no worker polls
    report       flow runs and task runs by Prefect's REST API, as the Java engines report theirs
    cancel FLOW  cancels the runs of a flow
    pause PATH   pauses a pool or a queue
    force TYPE NAME       sets the state of the late flow run
"""

import os
import subprocess
import sys
import time
from datetime import datetime, timedelta, timezone

import httpx

FINAL = ("COMPLETED", "FAILED", "CRASHED", "CANCELLED")
HERE = os.path.dirname(os.path.abspath(__file__))


class Engine:
    def __init__(self, port):
        self.api = httpx.Client(base_url="http://127.0.0.1:%s/api" % port, timeout=300)
        self.log = open(os.environ["PREFECT_HOME"] + "/log", "wb")
        self.started = [self.start("-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", port)]
        deadline = time.monotonic() + 300
        while not self.healthy():
            if time.monotonic() > deadline or self.started[0].poll() is not None:
                raise RuntimeError(open(self.log.name).read()[-1000:])
            time.sleep(0.2)
        self.post("/v2/concurrency_limits/", name="tag:one", limit=1)
        self.post("/work_pools/", name="idle", type="process")

    def start(self, *args):
        return subprocess.Popen([sys.executable, *args], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)

    def healthy(self):
        try:
            return self.api.get("/health").status_code == 200
        except httpx.TransportError:
            return False

    def ask(self, method, path, **body):
        """A server that finds its SQLite locked answers 503, and Prefect's own client asks again."""
        for _ in range(100):
            answer = self.api.request(method, path, json=body)
            if answer.status_code != 503:
                break
            time.sleep(0.2)
        return answer.raise_for_status()

    def post(self, path, **body):
        return self.ask("POST", path, **body).json()

    def all(self, path):
        out = []
        while True:
            page = self.post(path, offset=len(out), limit=200)
            out += page
            if len(page) < 200:
                return out

    def run(self, flow):
        self.started.append(self.start(HERE + "/flows.py", flow))

    def late(self):
        flow = self.post("/flows/", name="nightly")["id"]
        deployment = self.post("/deployments/", name="d", flow_id=flow, work_pool_name="idle", concurrency_limit=1)["id"]
        self.past = (datetime.now(timezone.utc) - timedelta(seconds=90)).isoformat()
        self.run_late = self.post("/deployments/%s/create_flow_run" % deployment, state={"type": "SCHEDULED", "state_details": {"scheduled_time": self.past}})["id"]
        tomorrow = (datetime.now(timezone.utc) + timedelta(days=1)).isoformat()
        self.post("/deployments/%s/create_flow_run" % deployment, state={"type": "SCHEDULED", "state_details": {"scheduled_time": tomorrow}})

    def cancel(self, flow):
        for run in self.all("/flow_runs/filter"):
            if self.flow(run) == flow and run["state_type"] not in FINAL:
                self.post("/flow_runs/%s/set_state" % run["id"], state={"type": "CANCELLED"}, force=True)

    def pause(self, path):
        self.ask("PATCH", path, is_paused=True)

    def force(self, kind, name):
        details = {"scheduled_time": self.past} if kind == "SCHEDULED" else {}
        self.post("/flow_runs/%s/set_state" % self.run_late, state={"type": kind, "name": name, "state_details": details}, force=True)

    def flow(self, run):
        return self.ask("GET", "/flows/" + run["flow_id"]).json()["name"]

    def report(self):
        runs = {run["id"]: (run, self.flow(run)) for run in self.all("/flow_runs/filter")}
        counts = {}
        for run, flow in runs.values():
            self.one(counts, run, flow, "flow-run", run["id"], run["state_type"] not in FINAL)
            self.count(counts, flow, "instances", run, run["state_type"] not in FINAL + ("COMPLETED",))
        for run in self.all("/task_runs/filter"):
            of, flow = runs[run["flow_run_id"]]
            node = run["task_key"].rsplit("-", 1)[0]
            self.one(counts, run, flow, node, of["id"], run["state_type"] not in FINAL and of["state_type"] not in FINAL)
        for (flow, node), n in counts.items():
            print("count", flow, node, *n)

    def one(self, counts, run, flow, node, instance, is_open):
        n = counts.setdefault((flow, node), [0, 0, 0])
        n[0] += run["start_time"] is not None
        n[1] += run["end_time"] is not None
        n[2] += run["state_type"] == "COMPLETED" and run["end_time"] is not None
        if run["state_type"] in FINAL:
            return
        print("state", flow, instance, node + "=" + run["state_name"])
        if is_open and not (run["start_time"] is None and run["state_name"] == "Scheduled"):
            print("at", flow, instance, node, millis(run["start_time"] or run["expected_start_time"]))
        if run["state_name"] == "AwaitingRetry":
            print("job", flow, instance, node, "retry", millis(run["state"]["state_details"]["scheduled_time"]))
        if run["state_name"] == "Paused" and node == "flow-run":
            print("job", flow, instance, node, "pause", millis(run["state"]["state_details"]["pause_timeout"]))

    def count(self, counts, flow, key, run, active):
        n = counts.setdefault((flow, key), [0, 0, 0])
        n[0] += run["start_time"] is not None
        n[1] += run["end_time"] is not None and run["state_type"] == "COMPLETED"
        n[2] += run["end_time"] is not None and run["state_type"] != "COMPLETED"

    def end(self):
        open(os.environ["PREFECT_HOME"] + "/release", "w").close()
        for p in reversed(self.started):
            p.kill()
            p.wait()


def millis(text):
    return int(datetime.fromisoformat(text).timestamp() * 1000)


def main():
    engine = Engine(sys.argv[1])
    try:
        print("ok", flush=True)
        for line in sys.stdin:
            name, *args = line.split()
            try:
                getattr(engine, name)(*args)
                print("ok", flush=True)
            except Exception as e:
                print("error", repr(e), flush=True)
    finally:
        engine.end()


if __name__ == "__main__":
    main()
