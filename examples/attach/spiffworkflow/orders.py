#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SpiffWorkflow, whose steps go to pnagent as lines over HTTP.

    pip install SpiffWorkflow==3.1.0
    pnagent attach lines --nats nats://127.0.0.1:4222 --source shop --http 127.0.0.1:8088 orders.bpmn &
    python3 orders.py orders.bpmn http://127.0.0.1:8088/events

Three orders begin. The first one is approved and ends; the others wait for approval.
Hook is what to copy into a program of your own.
"""
import json
import sys
import urllib.request

from SpiffWorkflow.bpmn.parser.BpmnParser import BpmnParser
from SpiffWorkflow.bpmn.workflow import BpmnWorkflow
from SpiffWorkflow.util.task import TaskState


class Hook:
    """Sends which tasks of workflows have ended, once each. Call it after each step."""

    def __init__(self, url):
        self.url, self.sent = url, {}

    def __call__(self, workflow, instance):
        sent, net = self.sent.setdefault(instance, set()), workflow.spec.name
        ended = [t for t in workflow.get_tasks(state=TaskState.COMPLETED)
                 if t.id not in sent and t.task_spec.bpmn_id and type(t.task_spec).__name__.endswith("Task")]
        ended.sort(key=lambda t: t.last_state_change)
        lines = [{"time": t.last_state_change, "net": net, "instance": instance, "transition": t.task_spec.bpmn_id} for t in ended]
        if workflow.is_completed():
            lines.append({"net": net, "instance": instance, "end": True})
        if not lines:
            return
        body = "\n".join(json.dumps(line) for line in lines).encode()
        with urllib.request.urlopen(urllib.request.Request(self.url, body), timeout=10):
            pass  # an error is raised, and nothing is marked as sent: the next call sends it again
        sent.update(t.id for t in ended)
        if workflow.is_completed():
            del self.sent[instance]


def main():
    parser = BpmnParser()
    parser.add_bpmn_file(sys.argv[1])
    spec, hook = parser.get_spec("orders"), Hook(sys.argv[2])
    for number in range(1, 4):
        workflow, instance = BpmnWorkflow(spec), "order %d" % number
        workflow.do_engine_steps()
        hook(workflow, instance)
        if number == 1:
            for task in workflow.get_tasks(state=TaskState.READY, manual=True):
                task.run()
            workflow.do_engine_steps()
            hook(workflow, instance)


if __name__ == "__main__":
    main()
