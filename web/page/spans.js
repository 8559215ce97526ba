// SPDX-License-Identifier: Apache-2.0
// What the slider spans, and the times written below it.
import { clock, day } from './format.js';

const hour = 3600e3;
/** What is kept moves on while it is asked for, and the server's times are finer, ms. */
export const margin = 3000;
/** What a reader chooses from, ms. */
export const ranges = /** @type {Record<string, number>} */ (Object.freeze({ '': hour, '6h': 6 * hour, '24h': 24 * hour, '7d': 168 * hour }));
export const rangeNames = /** @type {Record<string, string>} */ (Object.freeze({ '': '1 h', '6h': '6 h', '24h': '24 h', '7d': '7 d' }));
/** The greatest number of steps of the slider. */
const finest = 1440;
/** Distances of times below the slider, ms. */
const units = [1, 2, 5, 10, 15, 30, 60, 120, 180, 240, 360, 720, 1440].map((minutes) => minutes * 60e3);

/**
 * @typedef {object} Span
 * @property {string} range that is shown, a key of ranges
 * @property {string[]} choices
 * @property {number} from the left end, ms
 * @property {number} to the right end, which is now
 * @property {number} first the first time of which there is data
 * @property {number} step ms
 * @property {number} steps
 * @property {boolean} kept whether there is a past at all
 */

/**
 * @param {import('./model.js').Model} model
 * @returns {Span}
 */
export function spanOf({ latest, where, clock: time }) {
  const h = latest?.history;
  const to = h ? Date.parse(h.to) : time.now();
  const recent = h ? Date.parse(h.from) + margin : to - hour;
  const oldest = h?.archive ? Math.min(recent, Date.parse(h.archive.from) + margin) : recent;
  const names = Object.keys(ranges);
  const choices = names.filter((name, i) => i === 0 || oldest < to - ranges[names[i - 1]]);
  const holds = (/** @type {string} */ name) => !where.at || where.at >= to - ranges[name];
  const wanted = choices.includes(where.range) ? where.range : where.range ? choices[choices.length - 1] : '';
  const range = choices.slice(choices.indexOf(wanted)).find(holds) ?? choices[choices.length - 1];
  const length = ranges[range];
  const first = Math.max(oldest, to - length);
  const from = Math.min(first, to - 60e3);
  const step = range ? Math.max((h?.archive?.step ?? 0) * 1000, length / finest) : (h?.step || 5) * 1000;
  return { range, choices, from, to, first, step, steps: Math.max(1, Math.ceil((to - from) / step)), kept: Boolean(h) };
}

/**
 * How much of what is kept lies between two moments that follow each other, ms.
 * @param {import('./model.js').Model} model
 * @param {number} at
 */
export function grain({ latest }, at) {
  const h = latest?.history;
  return ((h && h.archive && at < Date.parse(h.from) ? h.archive.step : h?.step) || 5) * 1000;
}

/**
 * Round times in a span, and what is written there.
 * @param {Span} span
 * @param {number} most how many
 * @returns {{at: number, share: number, text: string}[]}
 */
export function ticks({ from, to }, most) {
  const unit = units.find((u) => (to - from) / u <= most) ?? Math.ceil((to - from) / most / units[units.length - 1]) * units[units.length - 1];
  const zone = new Date(to).getTimezoneOffset() * 60e3;
  const out = [];
  for (let at = Math.ceil((from - zone) / unit) * unit + zone; at < to; at += unit) {
    const time = clock(at);
    out.push({ at, share: (at - from) / (to - from), text: time === '00:00:00' ? day(at) : time.slice(0, 5) });
  }
  return out;
}
