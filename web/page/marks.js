// SPDX-License-Identifier: Apache-2.0
import { ask } from './api.js';
import { about } from './compare.js';
import { when } from './format.js';
import { subject, words } from './problem.js';

/** Alarms that are remembered, and marks of them, at most. */
const most = 2000;
const shown = 80;
/** A past that was looked through is looked through again after so long, ms; at so many moments. */
const again = 10 * 60e3;
const looks = 12;

/**
 * @typedef {{alarm: import('./model.js').Alarm, raised: number, last: number, gone: number}} Known last: when it was last seen, ms; gone: when it was first not seen after, Infinity for never
 * @typedef {{at: number, go: number, kind: 'raised'|'cleared', texts: string[]}} Mark go: a moment that shows it
 */

/** When alarms were raised and cleared, as far as the overviews that came tell. */
export class AlarmMarks {
  constructor() {
    /** @type {Map<string, Known>} */ this.known = new Map();
    this.lookedAt = -Infinity;
  }

  /**
   * Learns from the alarms of one moment.
   * @param {import('./model.js').Overview|null} overview
   */
  learn(overview) {
    if (!overview) return;
    const at = Date.parse(overview.at);
    const active = new Set();
    for (const alarm of overview.alarms) {
      const raised = Date.parse(alarm.raised ?? alarm.since);
      const key = `${about(alarm)} ${raised}`;
      active.add(key);
      const known = this.known.get(key) ?? { alarm, raised, last: at, gone: Infinity };
      known.last = Math.max(known.last, at);
      if (known.gone <= known.last) known.gone = Infinity;
      this.known.set(key, known);
    }
    if (!overview.alarms_left_out) {
      for (const [key, k] of this.known) if (!active.has(key) && at > k.last) k.gone = Math.min(k.gone, at);
    }
    while (this.known.size > most) this.known.delete(/** @type {string} */ (this.known.keys().next().value));
  }

  /**
   * Looks through the past once, so that alarms that are over have marks too.
   * @param {import('./moments.js').Kept|undefined} kept
   * @param {() => void} learnt called when it is done
   */
  async look(kept, learnt) {
    if (!kept || Date.now() - this.lookedAt < again) return;
    this.lookedAt = Date.now();
    const from = Date.parse(kept.from);
    const to = Date.parse(kept.to);
    try {
      for (let i = 1; i < looks; i++) this.learn(await ask('overview', { at: new Date(from + ((to - from) * i) / looks).toISOString() }));
    } catch {
      // The marks show what is known.
    }
    learnt();
  }

  /**
   * Marks in a span, those that would cover each other as one.
   * @param {import('./spans.js').Span} span
   * @returns {Mark[]} in the order of time
   */
  in({ from, to, step }) {
    /** @type {Map<string, Mark>} */
    const marks = new Map();
    const add = (/** @type {Mark['kind']} */ kind, /** @type {number} */ at, /** @type {number} */ go, /** @type {string} */ text) => {
      if (at < from || at > to) return;
      const key = `${kind} ${Math.floor(((at - from) / (to - from)) * shown)}`;
      const same = marks.get(key);
      if (same) same.texts.push(text);
      else marks.set(key, { at, go: Math.min(go, to), kind, texts: [text] });
    };
    for (const { alarm, raised, last, gone } of this.known.values()) {
      const what = `${subject(alarm)}: ${words(alarm)}`;
      add('raised', raised, raised + step, `${when(raised)} raised: ${what}`);
      if (gone < Infinity) add('cleared', Math.max(last, (last + gone) / 2), gone, `between ${when(last)} and ${when(gone)} cleared: ${what}`);
    }
    return [...marks.values()].sort((a, b) => a.at - b.at);
  }
}
