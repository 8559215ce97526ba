// SPDX-License-Identifier: Apache-2.0
import { ask } from './api.js';
import { about } from './compare.js';
import { when } from './format.js';
import { grades, subject, words } from './problem.js';

/** Alarms that are remembered, and marks of them, at most. */
const most = 2000;
const shown = 80;
/** The server is asked for cleared alarms so often at most, ms. */
const pause = 5000;

/**
 * @typedef {{alarm: import('./model.js').Alarm, raised: number, cleared: number}} Known ms; cleared: Infinity where that is not known
 * @typedef {{at: number, go: number, kind: 'raised'|'cleared', severity: string, texts: string[]}} Mark go: a moment that shows it; severity: the worst
 */

/** When alarms were raised and cleared, as far as the server reports. */
export class AlarmMarks {
  constructor() {
    /** @type {Map<string, Known>} */ this.known = new Map();
    /** The alarms that were active last. @type {Set<string>} */ this.active = new Set();
    /** Whether alarms may have been cleared that are not known. */ this.stale = true;
    this.lookedAt = -Infinity;
  }

  /**
   * Learns from the alarms of a moment.
   * @param {import('./model.js').Overview} overview
   * @returns {Set<string>} what is active
   */
  learn(overview) {
    const active = new Set(overview.alarms.map((a) => key(a)));
    for (const alarm of overview.alarms) if (!this.known.has(key(alarm))) this.#note(alarm, Infinity);
    return active;
  }

  /**
   * Learns from the alarms of now.
   * @param {import('./model.js').Overview} overview
   */
  follow(overview) {
    const before = this.active;
    this.active = this.learn(overview);
    for (const k of before) this.stale ||= !this.active.has(k);
  }

  /**
   * Asks for the alarms that were cleared, if there may be others.
   * @param {() => void} learnt called when the answer is there
   */
  async look(learnt) {
    if (!this.stale || Date.now() - this.lookedAt < pause) return;
    this.stale = false;
    this.lookedAt = Date.now();
    try {
      for (const c of (await ask('alarms/cleared')).cleared) this.#note(c, Date.parse(c.cleared));
      learnt();
    } catch {
      this.stale = true; // asked again with a later overview
    }
  }

  /**
   * @param {import('./model.js').Alarm} alarm
   * @param {number} cleared
   */
  #note(alarm, cleared) {
    const known = this.known.get(key(alarm));
    this.known.set(key(alarm), { alarm: known?.alarm ?? alarm, raised: raised(alarm), cleared });
    if (this.known.size > most) this.known.delete(/** @type {string} */ (this.known.keys().next().value));
  }

  /**
   * Marks in a span, those that would cover each other as one.
   * @param {import('./spans.js').Span} span
   * @returns {Mark[]} in the order of time
   */
  in({ from, to, step }) {
    /** @type {Map<string, Mark>} */
    const marks = new Map();
    const add = (/** @type {Mark['kind']} */ kind, /** @type {number} */ at, /** @type {string} */ severity, /** @type {string} */ what) => {
      if (!(at >= from && at <= to)) return;
      const place = `${kind} ${Math.floor(((at - from) / (to - from)) * shown)}`;
      const same = marks.get(place);
      const text = `${when(at)} ${kind}: ${what}`;
      if (!same) {
        marks.set(place, { at, go: Math.min(at + step, to), kind, severity, texts: [text] });
        return;
      }
      same.texts.push(text);
      if (grades.indexOf(severity) < grades.indexOf(same.severity)) same.severity = severity;
    };
    for (const { alarm, raised: begun, cleared } of this.known.values()) {
      const what = `${subject(alarm)}: ${words(alarm)}`;
      add('raised', begun, alarm.severity, what);
      add('cleared', cleared, alarm.severity, what);
    }
    return [...marks.values()].sort((a, b) => a.at - b.at);
  }
}

/** @param {import('./model.js').Alarm} a */
function raised(a) {
  return Date.parse(a.raised ?? a.since);
}

/** @param {import('./model.js').Alarm} a */
function key(a) {
  return `${about(a)} ${raised(a)}`;
}
