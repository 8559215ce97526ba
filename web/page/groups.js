// SPDX-License-Identifier: Apache-2.0
import { kindName } from './problem.js';

/**
 * Alarms that are one line which opens, or one alarm.
 * @typedef {object} Group
 * @property {string} key different for each group
 * @property {string} title
 * @property {string} id of the net or of the kind
 * @property {string} text
 * @property {import('./model.js').Alarm[]} alarms the most urgent first
 * @property {Group[]} parts of more than one alarm
 * @property {{net?: string, alarm?: string}|null} of what a silence of the group names; null if no silence is only for it
 */

/** @typedef {import('./model.js').Alarm} Alarm */

/**
 * Alarms by net, and those of a net by kind. Groups are in the order of their first alarms.
 * @param {Alarm[]} alarms the most urgent first
 * @returns {Group[]}
 */
export function grouped(alarms) {
  return split(alarms, (a) => a.net ?? '').map(([net, list]) => {
    const kinds = split(list, (a) => a.alarm);
    const of = net ? { net } : null;
    const parts = kinds.length === 1 ? [] : kinds.map(([kind, some]) => group(`${net}\n${kind}`, kindName(kind, some.length), kind, some, { ...of, alarm: kind }, singles(some)));
    const text = kinds.map(([kind, some]) => `${some.length} ${kindName(kind, some.length)}`).join(', ');
    const only = kinds.length === 1 ? { ...of, alarm: kinds[0][0] } : of;
    return { ...group(net, list[0].net_name || net || 'Sources', net, list, only, parts.length ? parts : singles(list)), text };
  });
}

/** @param {Alarm[]} alarms */
function singles(alarms) {
  return alarms.map((a) => group(`${a.index}`, '', '', [a], null, []));
}

/**
 * @param {string} key
 * @param {string} title
 * @param {string} id
 * @param {Alarm[]} alarms
 * @param {Group['of']} of
 * @param {Group[]} parts
 * @returns {Group}
 */
function group(key, title, id, alarms, of, parts) {
  return { key, title, id, text: '', alarms, parts: alarms.length > 1 ? parts : [], of };
}

/**
 * @param {Alarm[]} alarms
 * @param {(a: Alarm) => string} by
 * @returns {[string, Alarm[]][]}
 */
function split(alarms, by) {
  /** @type {Map<string, Alarm[]>} */
  const out = new Map();
  for (const a of alarms) {
    const list = out.get(by(a));
    if (list) list.push(a);
    else out.set(by(a), [a]);
  }
  return [...out];
}
