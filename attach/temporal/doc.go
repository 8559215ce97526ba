// SPDX-License-Identifier: Apache-2.0

// Package temporal is a telemetry source for a Temporal server. It asks the server
// by gRPC and changes nothing; workflows and workers stay as they are.
//
//	server ──► poll ──► run, one for each execution ──► ledger ──► telemetry
//	        within a budget   pure
//
// An [Adapter] polls until the context of its Run ends. A poll does, in this order:
//
//   - Lists. ListWorkflowExecutions returns the executions that run, and those that
//     closed since the last list. A list that takes long continues in later polls;
//     nothing is published before the first one is complete.
//   - Readings. An execution is described, and its history is read from the last
//     event on that is known, newest first. Executions whose last reading is the
//     oldest come first, as many as the budget allows. [Status] has how many of
//     the running ones were read. Those that closed wait in a bounded backlog.
//   - Queues. DescribeTaskQueue returns when a worker polled a task queue last.
//   - Questions. If nothing is pending in an execution, its worker is asked for the
//     stack trace, which names what it waits for. There is a budget of its own
//     for this, and the answer is kept until the history grows.
//
// # The net
//
// A net is a workflow type, an instance is WorkflowId/RunId. A place is what an
// execution waits for: an activity, "type@queue", a child, a timer, a Nexus
// operation, its workflow task, or what the stack trace names. One transition,
// "PLACE/done", takes from it. Temporal has no diagram: after each of them, a
// workflow task runs the code of the workflow, which begins the next ones. So the
// arcs lead from each transition to the place of the workflow task, and from its
// transition to all other places.
//
// # Time
//
// Ages and counts are by the times of the history's events, which the server
// writes. No answer has the server's present time, so its clock and that of this
// host are taken to agree.
//
// # Restarts
//
// The state file holds, for each open execution, up to which event its history was
// counted, up to when closed ones were read, and those that closed lately. After a restart the histories are
// read again, and only events after those are counted.
//
// The pure part is tested with answers of a real server in testdata. The module
// temporaltest runs the server.
package temporal
