// SPDX-License-Identifier: Apache-2.0
// What an alarm is about, in a few words with the number first.
import { count, label, plural, rate, span, waiting, when } from './format.js';

/** @typedef {import('./model.js').Alarm} Alarm */

/** The severities, the most serious first, with the class of their mark. */
const severities = new Map([['critical', 'bad'], ['major', 'bad'], ['minor', 'warn'], ['warning', 'warn']]);

/** The kinds of alarms for people: one, and several. */
const kinds = new Map(Object.entries({
  tokenStuck: ['stuck place', 'stuck places'], transitionStarved: ['starved transition', 'starved transitions'],
  netDeadlocked: ['deadlocked net', 'deadlocked nets'], failureRatio: ['failing transition', 'failing transitions'],
  firingMissed: ['transition that did not fire', 'transitions that did not fire'],
  transitionLoop: ['looping transition', 'looping transitions'], regionStopped: ['stopped region', 'stopped regions'],
  sourceLost: ['silent source', 'silent sources'], sourceConflict: ['source name used twice', 'source names used twice'],
  sourceRefused: ['refused source', 'refused sources'], natsDisconnected: ['lost connection to NATS', 'lost connections to NATS'],
  agentxDisconnected: ['missing AgentX session', 'missing AgentX sessions'],
}));

export const kindNames = Object.freeze([...kinds.keys()]);

/**
 * @param {string} kind
 * @param {Alarm[]} [of] the alarms of the kind
 * @returns {string} such as stuck places; of elements of BPMN stuck elements
 */
export function kindName(kind, of = []) {
  const words = kinds.get(kind)?.[of.length < 2 ? 0 : 1] ?? kind;
  return of.length && of.every((a) => a.called) ? words.replace(/place|transition/, 'element') : words;
}

/** The names of the severities, the most serious first. */
export const grades = Object.freeze([...severities.keys()]);

/**
 * @param {string} severity
 * @returns {[string, string]} sign and class of its mark
 */
export function mark(severity) {
  const kind = severities.get(severity) ?? 'bad';
  return [kind === 'bad' ? '▲' : '△', kind];
}

/**
 * Whether an alarm is not shown in red.
 * @param {Alarm} a
 */
export const isMild = (a) => mark(a.severity)[1] !== 'bad';

/**
 * @param {Pick<Alarm, 'severity'|'unknown'>} a
 * @returns {[string, string, string]} sign and class of its mark, and words for them
 */
export function signOf({ severity, unknown }) {
  return unknown ? ['?', 'warn', `unknown, ${severity}`] : [...mark(severity), severity];
}

/**
 * How many alarms of a net are known to hold and follow from no lost source.
 * @param {import('./model.js').NetSummary} n
 */
export function causes(n) {
  return n.alarms - (n.alarms_unknown ?? 0) - (n.alarms_following ?? 0);
}

/**
 * The alarms of a net, those that are unknown, and those that follow from a lost source.
 * @param {import('./model.js').NetSummary} n
 */
export function tally(n) {
  const { alarms_unknown: doubts, alarms_following: following } = n;
  return [plural(causes(n), 'alarm'), doubts && `${doubts} unknown`, following && `${following} following from a lost source`].filter(Boolean).join(', ');
}

/**
 * What needs attention first: what is not silenced, what follows from no other alarm, what is
 * known to hold, the most serious, what is not acknowledged, the net of the reader, the oldest.
 * @param {string} net of the reader
 * @returns {(a: Alarm, b: Alarm) => number}
 */
export function urgency(net) {
  const not = (/** @type {unknown} */ x) => (x ? 1 : 0);
  const grade = (/** @type {Alarm} */ a) => grades.indexOf(a.severity);
  return (a, b) => not(a.silenced_until) - not(b.silenced_until) || not(a.follows) - not(b.follows) || not(a.unknown) - not(b.unknown) || grade(a) - grade(b) || not(a.acknowledged) - not(b.acknowledged) ||
    not(a.net !== net) - not(b.net !== net) || Date.parse(a.since) - Date.parse(b.since) || a.index - b.index;
}

/**
 * The id of what an alarm is about, '' for its net.
 * @param {Alarm} a
 */
export const about = (a) => a.place ?? a.transition ?? a.source ?? a.region ?? '';

/**
 * What an alarm is about, by its name for people.
 * @param {Alarm} a
 */
export function subject(a) {
  return label({ id: about(a) || a.net_name || a.net || 'this sidecar', name: a.name, called: a.called });
}

/** @type {Record<string, (a: Alarm) => string>} */
const facts = {
  tokenStuck: (a) => `${waiting(a.affected, a)}${a.for_reason ? ` with reason ${a.for_reason}` : ''}${a.after_seconds ? ` for more than ${span(a.after_seconds)}` : ''}`,
  transitionStarved: (a) => `${plural(a.affected, 'instance')} for more than ${span(a.after_seconds)} without a firing`,
  netDeadlocked: (a) => `${plural(a.affected, 'instance')} deadlocked`,
  failureRatio: (a) => `${count(a.affected)} of ${count(a.runs)} runs failed in ${span(a.window_seconds)}`,
  transitionLoop: (a) => `${rate(a.rate)} over ${span(a.window_seconds)}, more than ${rate(a.above)}`,
  firingMissed: (a) => `${plural(a.affected, 'firing')} missed, due ${when(Date.parse(a.since))}${a.last_fired ? `, last fired ${when(Date.parse(a.last_fired))}` : ''}`,
  sourceLost: (a) => `${plural(a.affected, 'net')} without messages`,
  sourceConflict: (a) => `${plural(a.affected, 'net')} from two processes with this name`,
  sourceRefused: (a) => `${plural(a.affected, 'net')} whose messages are refused`,
  regionStopped: () => 'stopped',
  natsDisconnected: () => 'no connection to NATS',
  agentxDisconnected: () => 'no session with the AgentX master',
};

/**
 * What is wrong, from the fields of the alarm.
 * @param {Alarm} a
 */
export function words(a) {
  const now = (facts[a.alarm]?.(a) ?? kindName(a.alarm)) + (a.why ? `; ${a.instance}: ${a.why}` : '');
  return a.unknown ? `${now}, when it was last known` : a.outdated ? `${now}, at an earlier moment` : now;
}
