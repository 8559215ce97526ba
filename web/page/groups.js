// SPDX-License-Identifier: Apache-2.0
import { kindName, subject, words } from './problem.js';

/**
 * Alarms that are one line which opens, or one alarm.
 * @typedef {object} Group
 * @property {string} key different for each group
 * @property {string} title
 * @property {string} id of the net, of the kind or of the source
 * @property {string} text
 * @property {number} count of its alarms, without those that follow from another one; 0 is not written
 * @property {import('./model.js').Alarm[]} alarms the most urgent first
 * @property {Group[]} parts of more than one alarm
 * @property {{net?: string, alarm?: string, source?: string}|null} of what a silence of the group names; null if no silence is only for it
 * @property {string} lost the source because of which all of them are unknown, '' for none
 */

/** @typedef {import('./model.js').Alarm} Alarm */

/**
 * Alarms by net, and those of a net by kind. Alarms that follow from a lost source are in the
 * group of the alarm about it. Groups are in the order of their first alarms.
 * @param {Alarm[]} alarms the most urgent first
 * @param {string} [before] what the keys begin with
 * @returns {Group[]}
 */
export function grouped(alarms, before = '') {
  const causes = new Set(alarms.filter((a) => a.alarm === 'sourceLost').map((a) => a.source));
  const following = split(alarms.filter((a) => a.follows), (a) => a.follows ?? '');
  const rest = following.filter(([source]) => !causes.has(source)).map(([source, list]) => folded(source, undefined, list, before));
  return [...byNet(alarms.filter((a) => !a.follows), new Map(following), before), ...rest];
}

/**
 * @param {Alarm[]} alarms
 * @param {Map<string, Alarm[]>} following by source
 * @param {string} before
 */
function byNet(alarms, following, before) {
  return split(alarms, (a) => a.net ?? '').map(([net, list]) => ofNet(net, list, following, before));
}

/**
 * Alarms of which it is not known whether they hold, by the source because of which.
 * @param {Alarm[]} alarms the most urgent first
 * @returns {Group[]}
 */
export function doubted(alarms) {
  return split(alarms, (a) => a.lost || a.follows || a.unknown || '').map(([why, list]) => {
    const lost = list[0].lost || list[0].follows || '';
    const key = `unknown ${why}`;
    const parts = grouped(list, key + '\n');
    const count = list.filter((a) => !a.follows).length;
    const cause = list.find((a) => a.alarm === 'sourceLost'); // has the reason of all of them
    const reasons = cause ? [cause.unknown] : [...new Set(list.map((a) => a.unknown))];
    const text = `Unknown: ${reasons.slice(0, 3).join('; ')}${reasons.length > 3 ? '; …' : ''}`;
    return { ...group(key, lost || 'Not reported any more', lost, list, null, parts.length === 1 ? parts[0].parts : parts), text, count, lost };
  });
}

/**
 * @param {string} net
 * @param {Alarm[]} list
 * @param {Map<string, Alarm[]>} following by source
 * @param {string} before
 * @returns {Group}
 */
function ofNet(net, list, following, before) {
  if (list.length === 1) return single(list[0], following, before);
  const kinds = split(list, (a) => a.alarm);
  const of = net ? { net } : null;
  const ofKind = (/** @type {string} */ kind, /** @type {Alarm[]} */ some) => {
    const lines = equal(some, following, before);
    return lines.length === 1 ? lines[0] : group(`${before}${net}\n${kind}`, kindName(kind, some), kind, some, { ...of, alarm: kind }, lines);
  };
  const parts = kinds.length === 1 ? equal(list, following, before) : kinds.map(([kind, some]) => ofKind(kind, some));
  const text = kinds.map(([kind, some]) => `${some.length} ${kindName(kind, some)}`).join(', ');
  if (parts.length === 1) return { ...parts[0], text: `${text} · ${list[0].net_name || net}` };
  const only = kinds.length === 1 ? { ...of, alarm: kinds[0][0] } : of;
  return { ...group(before + net, list[0].net_name || net || 'Sources', net, list, only, parts), text };
}

/**
 * Alarms of one kind, of which those about things with one name are one line.
 * @param {Alarm[]} list
 * @param {Map<string, Alarm[]>} following
 * @param {string} before
 * @returns {Group[]}
 */
function equal(list, following, before) {
  return split(list, (a) => (a.place || a.transition ? `${a.net} ${subject(a)}` : String(a.index))).map(([key, same]) => {
    const parts = same.map((a) => single(a, following, before));
    return same.length === 1 ? parts[0] : { ...group(`${before}equal ${same[0].alarm} ${key}`, `${subject(same[0])} ×${same.length}`, '', same, null, parts), count: 0 };
  });
}

/**
 * One alarm, with those that follow from it.
 * @param {Alarm} a
 * @param {Map<string, Alarm[]>} following
 * @param {string} before
 */
function single(a, following, before) {
  const list = a.alarm === 'sourceLost' ? following.get(a.source ?? '') : undefined;
  return list ? folded(a.source ?? '', a, list, before) : group(`${before}${a.index}`, '', '', [a], null, []);
}

/**
 * The alarms that follow from a lost source, behind the alarm about it.
 * @param {string} source
 * @param {Alarm|undefined} cause undefined if that is not shown
 * @param {Alarm[]} list
 * @param {string} before
 * @returns {Group}
 */
function folded(source, cause, list, before) {
  const key = `${before}follows ${source}`;
  const parts = byNet(list, new Map(), key + '\n');
  const text = cause ? `${words(cause)} · ${list.length} follow from it` : `${list.length} that follow from this lost source`;
  const all = cause ? [cause, ...list] : list;
  const inner = cause ? [group(`${before}${cause.index}`, '', '', [cause], null, []), ...parts] : parts.length === 1 ? parts[0].parts : parts;
  return { ...group(key, source, source, all, cause ? { alarm: 'sourceLost', source } : null, inner), text, count: 0 };
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
  return { key, title, id, text: '', count: alarms.length, alarms, parts: alarms.length > 1 ? parts : [], of, lost: '' };
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
