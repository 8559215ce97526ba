// SPDX-License-Identifier: Apache-2.0
// What differs between a moment of the past and now. A difference is a number with its
// sign, or a word, so that no one needs the colours.
import { count, signed } from './format.js';

/**
 * @typedef {import('./model.js').Alarm} Alarm
 * @typedef {{then?: number, now?: number, by: number|null, aged: number}} Change
 *   by: null where one of the two is not known; aged: by how much the same oldest token is older, s, 0 where it left
 */

/** Rates that differ by a smaller share are equal. */
const steady = 0.1;

/**
 * The tokens of a place.
 * @param {import('./frame.js').PlaceRow|undefined} then
 * @param {import('./frame.js').PlaceRow|undefined} now
 * @param {number} passed since then, s
 * @param {boolean} [calm] the age of its tokens is no problem
 * @returns {Change}
 */
export function placeChange(then, now, passed, calm) {
  const same = !calm && then?.since && then.since === now?.since;
  return { then: then?.tokens, now: now?.tokens, by: less(now?.tokens, then?.tokens), aged: same ? passed : 0 };
}

/**
 * A change of tokens in a few characters, '' for none.
 * @param {Change} change
 */
export function brief({ by }) {
  return by ? signed(by) : '';
}

/**
 * A difference, null where one of the two is not known.
 * @param {number|null|undefined} a
 * @param {number|null|undefined} b
 */
export function less(a, b) {
  return a == null || b == null ? null : a - b;
}

/**
 * Whether a rate is another one.
 * @param {number|null|undefined} then
 * @param {number|null|undefined} now
 */
export function otherRate(then, now) {
  return then != null && now != null && Math.abs(then - now) > steady * Math.max(then, now);
}

/**
 * Both values and their difference, one value where they are equal.
 * @param {number|null|undefined} then
 * @param {number|null|undefined} now
 * @param {(n: number|null|undefined) => string} [say]
 */
export function both(then, now, say = count) {
  const by = less(now, then);
  return say(then) === say(now) ? say(then) : `${say(then)} → ${say(now)}${by === null ? '' : ` (${signed(by, say)})`}`;
}

/**
 * What an alarm is about: an alarm of then and one of now are the same if it is.
 * @param {Alarm} a
 */
export function about({ alarm, net, place, transition, source, region }) {
  return JSON.stringify([alarm, net, place, transition, source, region]);
}

/**
 * The alarms of then and those of now that were not there, and what became of each.
 * @param {Alarm[]} then
 * @param {Alarm[]} now
 * @returns {Alarm[]} with changed: new, gone or ''
 */
export function alarmsOfBoth(then, now) {
  const before = new Set(then.map(about));
  const after = new Set(now.map(about));
  return [...then.map((a) => ({ ...a, changed: after.has(about(a)) ? '' : 'gone' })), ...now.filter((a) => !before.has(about(a))).map((a) => ({ ...a, changed: 'new' }))];
}

/**
 * The nets or sources of then and those that came since.
 * @template {object} T
 * @param {T[]} then
 * @param {T[]} now
 * @param {(x: T) => string} key
 * @returns {(T & {changed?: string})[]} with changed: new, gone or absent
 */
export function listOfBoth(then, now, key) {
  const before = new Set(then.map(key));
  const after = new Set(now.map(key));
  return [...then.map((x) => (after.has(key(x)) ? x : { ...x, changed: 'gone' })), ...now.filter((x) => !before.has(key(x))).map((x) => ({ ...x, changed: 'new' }))];
}
