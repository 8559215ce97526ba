# SPDX-License-Identifier: Apache-2.0
"""Plays the processes of a checkout with SpiffWorkflow: its own, or those of another project in files
without expressions, events and work that need this project.

Prints a list of JSON: by process, which tasks ended in which order, with the data
then; what waited each time that only a user could continue; and where the process
was at rest, or why SpiffWorkflow did not play it further.
"""
import collections
import glob
import json
import logging
import os
import re
import signal
import sys
import warnings

from SpiffWorkflow.bpmn.parser.BpmnParser import BpmnParser
from SpiffWorkflow.bpmn.workflow import BpmnWorkflow
from SpiffWorkflow.camunda.parser.CamundaParser import CamundaParser
from SpiffWorkflow.spiff.parser.process import SpiffBpmnParser
from SpiffWorkflow.util.task import TaskState

TASKS = ("NoneTask", "UserTask", "ManualTask", "ScriptTask", "ServiceTask", "SendTask", "BusinessRuleTask")
WAITS = TASKS + ("IntermediateCatchEvent", "ReceiveTask")
SECONDS, TURNS = 5, 100
# What is in another language in other projects, needs what they have besides, or comes from outside.
FOREIGN = re.compile(r"[$#]\{|=\"=|onditionExpression|completionCondition|(service|send|receive|script|businessRule)Task\b"
                     r"|(error|escalation|signal|message|compensate|conditional)EventDefinition")


def late(*_):
    raise TimeoutError("the process is not at rest after %d s" % SECONDS)


def plain(data):
    """The data that JSON has."""
    out = {}
    for name, value in data.items():
        try:
            out[name] = json.loads(json.dumps(value))
        except (TypeError, ValueError):
            pass
    return out


def waiting(workflow):
    tasks = workflow.get_tasks(state=TaskState.READY | TaskState.WAITING)
    return collections.Counter(t.task_spec.bpmn_id for t in tasks if type(t.task_spec).__name__ in WAITS and t.task_spec.bpmn_id)


def play(workflow, answer):
    """Runs what can run by itself, otherwise the first task of a user, by its id."""
    for _ in range(TURNS):
        ready = workflow.get_tasks(state=TaskState.READY)
        if not ready:
            break
        alone = [t for t in ready if not t.task_spec.manual]
        task = alone[0] if alone else min(ready, key=lambda t: str(t.task_spec.bpmn_id))
        if not alone:
            answer["steps"].append({"at": waiting(workflow)})
        task.run()
        if type(task.task_spec).__name__ in TASKS and task.task_spec.bpmn_id:
            answer["steps"].append({"complete": task.task_spec.bpmn_id, "data": plain({**task.workflow.data_objects, **task.data})})
        workflow.refresh_waiting_tasks()
    else:
        raise TimeoutError("the process is not at rest after %d tasks" % TURNS)
    answer["steps"].append({"at": waiting(workflow), "ended": workflow.is_completed()})


def specs(path, process, files):
    """The process, with the files of the processes that it calls."""
    kind = CamundaParser if "/camunda/" in path else SpiffBpmnParser if "/spiff/" in path else BpmnParser
    parser, used = kind(), []
    missing = [path]
    while missing:
        used.append(missing[0])
        parser.add_bpmn_file(missing[0])
        known = parser.get_process_dependencies()
        missing = sorted({files[p] for p in known if p in files} - set(used))
    return parser.get_spec(process), parser.get_subprocess_specs(process), used


def main(root):
    answers, sys.stdout = sys.stdout, sys.stderr  # scripts of processes print, too
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    signal.signal(signal.SIGALRM, late)
    foreign = os.path.basename(root) != "SpiffWorkflow"
    paths = sorted(p for end in ("*.bpmn", "*.bpmn2", "*.bpmn20.xml") for p in glob.glob(os.path.join(root, "**", end), recursive=True))
    inside, seen = {}, set()
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as f:
            text = f.read()
        if not foreign or not FOREIGN.search(text) and text not in seen:
            inside[path] = re.findall(r"<(?:\w+:)?process\s[^>]*?\bid=\"([^\"]+)\"", text)
            seen.add(text)
    paths = [p for p in paths if p in inside]
    out = []
    for path in paths:
        beside = {p: other for other in paths if os.path.dirname(other) == os.path.dirname(path) for p in inside[other]}
        beside.update({p: path for p in inside[path]})
        for process in inside[path]:
            answer = {"files": [os.path.relpath(path, root)], "process": process, "steps": []}
            out.append(answer)
            signal.alarm(SECONDS)
            try:
                spec, others, used = specs(path, process, beside)
                answer["files"] = [os.path.relpath(p, root) for p in used]
                play(BpmnWorkflow(spec, others), answer)
            except Exception as e:  # whatever SpiffWorkflow raises is its answer
                answer["error"] = type(e).__name__ + ": " + str(e).split("\n", 1)[0][:200]
            finally:
                signal.alarm(0)
    json.dump(out, answers)


main(sys.argv[1])
