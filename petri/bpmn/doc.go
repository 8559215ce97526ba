// SPDX-License-Identifier: Apache-2.0

// Package bpmn reads the processes of BPMN 2.0 files (ISO/IEC 19510) as nets.
//
// [Read] returns a net for each process that has flow nodes, what each element
// became, and the sequence flows as a graph. It works in three steps: the XML
// becomes a tree (parser), the tree becomes flow nodes joined by flows in scopes
// and is checked (document), and each process becomes a net (builder). What is
// not built is refused by its name, with file:line:column; all refusals of a
// file are reported together, and then no net is returned.
//
// # What becomes what
//
// Places and transitions have the ids of the elements, so that people recognise
// them; where an element becomes several, the others are called id/word or
// id/flowid.
//
//   - A sequence flow is a place. An activity or an event is a transition, with
//     a trigger: tasks, throwing events: work; user, manual and receive tasks,
//     caught messages, signals, conditions and errors: an event; timers: a delay
//     or a time, if they are constants.
//   - Several incoming flows merge into id/in without waiting, several outgoing
//     ones all get a token (startQuantity and completionQuantity are weights). Flows with conditions out of an activity or event
//     are an inclusive split of the place id/out.
//   - A none start event takes the one token of id/start, which is there when an
//     instance begins; if a process has several, an instance begins at all of
//     them. Other start events are source transitions; a constant timer has a
//     token in id/start, so that it fires once. A process that has only those
//     begins empty. Nodes that nothing leads to begin like none start events.
//   - An end event puts its token in id/end at the top level, where it can be
//     seen; in a sub-process the token is gone. A node without outgoing flows is
//     an end too. Terminate empties its process or sub-process.
//   - Exclusive gateways: one transition a flow, id/flowid, guarded g1, then
//     !(g1) && (g2), and so on; the default where none holds, and if there is none that is an incident. If no flow has a
//     condition, they are chosen in turn. Parallel and inclusive gateways: one
//     transition, with join and branch arcs if inclusive; inclusive flows
//     without any condition are all taken. Event gateway: one place at which
//     several events wait; the first takes the token. Complex gateway: see
//     complexJoin.
//   - A sub-process begins with id/begin, which puts a token in id/active, and
//     ends with id, when all places in it are empty. One runs at a time in an
//     instance: its beginning waits while id/active is marked. A call activity
//     whose process is in the same file is the same, with that process inside
//     under ids that begin with "id:"; another one, and a sub-process drawn without content, is a piece of work.
//   - A boundary event that interrupts takes the token of id/active and empties
//     what is inside. Another is armed (a token in its place id/armed) while the
//     activity runs; a timer comes once, another event as often as it is said.
//     The start of an event sub-process is the same for what is around it. A
//     process with event sub-processes ends with the transition process/done.
//   - Errors and escalations lead to the nearest event around them that catches
//     their code, or any. An error that nothing catches ends the instance, with
//     a warning. Link events lead to the event of the same name.
//
// Transitions that end what may be running have Preempts set. Runs of an event
// sub-process that does not interrupt can overlap; they share its places.
// Messages and signals that are thrown are work: whoever does that work also
// tells those that wait for them. A token that leaves a sub-process carries on
// what id/active held, not what was consumed inside.
//
// # Expressions
//
// Conditions are kept as text, with the operators of C: ${…}, #{…} and the = of
// FEEL are taken off, words for operators become signs, guards are put together
// with ! and &&. Dates without a zone are UTC. Timers that are expressions,
// cycles or months wait for an event of that name, with a warning.
//
// # What is refused
//
// Multi-instance and looping activities, transactions, ad hoc sub-processes,
// compensation, cancel and multiple events, event gateways that are parallel or
// instantiate, complex gateways without a condition that counts tokens,
// exclusive gateways at which several of the flows beside conditions have none,
// processes that call themselves, choreographies, links and flows to nowhere,
// ids given twice, and what BPMN forbids (sequence flows into start events and
// the like). No DOCTYPE is followed, no entity expanded. [Limits] bound bytes,
// token length, depth, elements, and what they become.
//
// # What is left out
//
// Pools, lanes, message flows, data, people, annotations and groups: listed as
// Elements. Where things are drawn is kept: the centre of a shape, the middle of
// an edge. Extensions of Camunda, Zeebe, Activiti and Flowable name the work of
// a task; the others of theirs are listed as not followed.
package bpmn
