// SPDX-License-Identifier: Apache-2.0
// Small pictures of numbers, as SVG.
import { el, svg } from './dom.js';
import { age, clock, count, unknown } from './format.js';
import { heat, marks } from './heat.js';

const width = 280;
const height = 44;

/**
 * A value over time. Where it is not known the line has a gap.
 * @param {(number|null)[][]} points [ms, value…]
 * @param {number} column of the value
 * @param {{title: string, say: (value: number) => string, from: number, to: number, mark?: number, pick?: (ms: number) => void, className?: string}} o
 *   from, to: the time shown, ms; mark: a time to mark; pick: called with the time that is clicked
 */
export function sparkline(points, column, o) {
  const known = points.filter((p) => p[column] != null && p[0] != null);
  const top = Math.max(1e-9, ...known.map((p) => /** @type {number} */ (p[column])));
  const until = o.mark ? known.filter((p) => /** @type {number} */ (p[0]) <= /** @type {number} */ (o.mark)) : known;
  const last = until.length ? /** @type {number} */ (until[until.length - 1][column]) : null;
  const x = (/** @type {number} */ ms) => ((ms - o.from) / Math.max(1, o.to - o.from)) * width;
  const y = (/** @type {number} */ v) => height - 3 - (v / top) * (height - 8);
  const picture = svg('svg', {
    viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', class: 'spark ' + (o.className ?? ''), role: 'img',
    'aria-label': `${o.title} over an hour: ${last == null ? 'not known' : o.say(last)} ${o.mark ? 'then' : 'now'}, at most ${known.length ? o.say(top) : unknown}`,
  });
  for (const run of runs(points, column)) {
    const line = run.map(([ms, v]) => `${x(ms).toFixed(1)},${y(v).toFixed(1)}`);
    picture.append(svg('polygon', { class: 'area', points: [`${x(run[0][0]).toFixed(1)},${height}`, ...line, `${x(run[run.length - 1][0]).toFixed(1)},${height}`].join(' ') }),
      svg('polyline', { class: 'line', points: line.join(' '), 'vector-effect': 'non-scaling-stroke' }));
  }
  if (o.mark && o.mark >= o.from) picture.append(svg('line', { class: 'now', x1: x(o.mark), x2: x(o.mark), y1: 0, y2: height, 'vector-effect': 'non-scaling-stroke' }));
  if (o.pick) {
    const pick = o.pick;
    picture.addEventListener('click', (event) => {
      const box = picture.getBoundingClientRect();
      pick(o.from + (/** @type {MouseEvent} */ (event).clientX - box.left) / box.width * (o.to - o.from));
    });
  }
  return el('figure', { class: 'chart' },
    el('figcaption', null, o.title, el('span', { class: 'num' }, last == null ? unknown : o.say(last)),
      el('span', { class: 'quiet num' }, known.length ? `max ${o.say(top)}` : '')),
    picture, el('div', { class: 'axis quiet' }, el('span', null, clock(o.from)), el('span', null, clock(o.to))));
}

/**
 * A small curve of the last hour, without words: what it shows is beside it.
 * @param {(number|null)[][]} points [ms, value]
 */
export function trend(points) {
  const [from, to] = [points[0][0] ?? 0, points[points.length - 1][0] ?? 1];
  const top = Math.max(1e-9, ...points.map((p) => p[1] ?? 0));
  const picture = svg('svg', { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', class: 'spark warm', 'aria-hidden': 'true' });
  for (const run of runs(points, 1)) {
    const line = run.map(([ms, v]) => `${((ms - from) / Math.max(1, to - from) * width).toFixed(1)},${(height - 3 - (v / top) * (height - 8)).toFixed(1)}`);
    picture.append(svg('polyline', { class: 'line', points: line.join(' '), 'vector-effect': 'non-scaling-stroke' }));
  }
  return picture;
}

/**
 * The stretches in which a value is known.
 * @param {(number|null)[][]} points
 * @param {number} column
 * @returns {[number, number][][]}
 */
function runs(points, column) {
  /** @type {[number, number][][]} */
  const all = [];
  let open = false;
  for (const p of points) {
    const v = p[column];
    if (v == null || p[0] == null) {
      open = false;
      continue;
    }
    if (!open) all.push([]);
    open = true;
    all[all.length - 1].push([p[0], v]);
  }
  return all;
}

/** Seconds of the units in which ages of older_than are named. */
const units = /** @type {Record<string, number>} */ ({ s: 1, m: 60, h: 3600, d: 86400 });

/**
 * How many tokens are older than each age.
 * @param {Record<string, number>} olderThan
 * @param {number|null|undefined} tokens all of them
 * @param {import('./heat.js').HeatScale} scale
 */
export function ladder(olderThan, tokens, scale) {
  const all = Math.max(1, tokens ?? 0, ...Object.values(olderThan));
  const table = el('table', { class: 'ladder' }, el('caption', null, 'Tokens older than'));
  for (const [label, older] of Object.entries(olderThan)) {
    const seconds = parseInt(label) * units[label.slice(-1)];
    const bar = svg('svg', { viewBox: '0 0 100 8', preserveAspectRatio: 'none', class: 'barline', 'aria-hidden': 'true' },
      svg('rect', { width: 100, height: 8, class: 'track' }),
      svg('rect', { width: older ? Math.max(1.5, (older / all) * 100) : 0, height: 8, fill: scale.fill(heat(seconds * 1.01)) }));
    table.append(el('tr', null, el('th', { scope: 'row' }, wholeAge(seconds)), el('td', null, bar), el('td', { class: 'num' }, count(older))));
  }
  return table;
}

/** @param {number} seconds */
function wholeAge(seconds) {
  for (const [size, unit] of /** @type {[number, string][]} */ ([[86400, 'd'], [3600, 'h'], [60, 'min']])) {
    if (seconds >= size && seconds % size === 0) return `${seconds / size} ${unit}`;
  }
  return `${seconds} s`;
}

/**
 * A histogram of durations, its buckets drawn on a logarithmic scale of time.
 * @param {{count: number, mean?: number, p50?: number, p95?: number, p99?: number, buckets?: [number|null, number][]}|null|undefined} d
 * @param {string} title
 */
export function histogram(d, title) {
  if (!d) return el('p', { class: 'quiet' }, `${title}: ${unknown}`);
  const figure = el('figure', { class: 'chart' }, el('figcaption', null, title, el('span', { class: 'quiet num' }, `${count(d.count)} measured`)));
  const buckets = (d.buckets ?? []).filter((b) => b[1] > 0);
  if (buckets.length) {
    const bars = merged(buckets);
    const top = Math.max(...bars.map((b) => b[1]));
    const step = width / bars.length;
    const steps = `${title}, ${bars.length} steps from ${age(bars[0][0])} to ${age(bars[bars.length - 1][0])}`;
    figure.append(svg('svg', { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', class: 'spark bars', role: 'img', 'aria-label': steps },
      ...bars.map(([upper, n], i) => svg('rect', {
        x: i * step + 0.5, width: Math.max(1, step - 1), y: height - Math.max(1.5, (n / top) * (height - 2)), height: Math.max(1.5, (n / top) * (height - 2)),
      }, svg('title', null, `up to ${upper === null ? 'any' : age(upper)}: ${count(n)}`)))),
    el('div', { class: 'axis quiet' }, el('span', null, `≤ ${age(bars[0][0])}`), el('span', null, `≤ ${age(bars[bars.length - 1][0])}`)));
  }
  figure.append(facts([['mean', age(d.mean)], ['p50', age(d.p50)], ['p95', age(d.p95)], ['p99', age(d.p99)]]));
  return figure;
}

/**
 * At most 40 bars, neighbours added up.
 * @param {[number|null, number][]} buckets
 */
function merged(buckets) {
  const each = Math.ceil(buckets.length / 40);
  /** @type {[number|null, number][]} */
  const bars = [];
  for (let i = 0; i < buckets.length; i += each) {
    const group = buckets.slice(i, i + each);
    bars.push([group[group.length - 1][0], group.reduce((a, b) => a + b[1], 0)]);
  }
  return bars;
}

/**
 * Names and values side by side; no element of a value is ever parsed.
 * @param {[string, string|Node][]} pairs
 */
export function facts(pairs) {
  return el('dl', { class: 'facts' }, ...pairs.map(([term, value]) => el('div', null, el('dt', null, term), el('dd', { class: 'num' }, value))));
}

/**
 * The legend of heat.
 * @param {import('./heat.js').HeatScale} scale
 */
export function heatLegend(scale) {
  const cells = 24;
  const ramp = Array.from({ length: cells }, (_, i) => svg('rect', { x: i, width: 1.05, height: 1, fill: scale.fill(i / (cells - 1)) }));
  return el('div', { class: 'heat' }, el('span', { class: 'quiet' }, 'oldest token'),
    svg('svg', { viewBox: `0 0 ${cells} 1`, preserveAspectRatio: 'none' }, ...ramp),
    el('div', { class: 'scale' }, ...marks.map(([seconds, text]) => el('span', { class: 'm' + Math.round(heat(seconds) * 100) }, text))));
}
