// SPDX-License-Identifier: Apache-2.0
import { facts, histogram, sparkline } from './chart.js';
import { el } from './dom.js';
import { age, count, plural, rate, unknown, when } from './format.js';
import { hour } from './place.js';

/**
 * What is known of a transition.
 * @param {any} t as /api/v1/transition answers
 * @param {import('./place.js').Context} context
 * @returns {HTMLElement[]}
 */
export function transition(t, { model }) {
  /** @type {[string, string][]} */
  const due = t.next_due ? [['next due', when(Date.parse(t.next_due))]] : [];
  const out = [facts([
    ['rate', rate(t.rate)], ['firings', count(t.firings)], ['last', t.last_firing ? when(Date.parse(t.last_firing)) : unknown],
    ...due,
    ['enabled', count(t.enabled)], ['for', t.enabled ? age(t.enabled_age_seconds) : unknown], ['running', count(t.running)],
    ['failed', count(t.failures)], ['retried', count(t.retries)], ['cancelled', count(t.cancels)],
  ])];
  out.push(el('h3', null, 'Why it does not fire'), blocked(t.blocks));
  if (t.series?.points?.length) {
    const range = hour(model);
    out.push(sparkline(t.series.points, 1, { title: 'Firings', say: rate, ...range }));
    if (t.series.points.some((/** @type {(number|null)[]} */ p) => p[2])) {
      out.push(sparkline(t.series.points, 2, { title: 'Running', say: count, ...range, className: 'warm' }));
    }
  }
  out.push(histogram(t.duration, 'Time it takes'));
  return out;
}

/** @param {any[]|undefined} list */
function blocked(list) {
  if (!list) return el('p', { class: 'quiet' }, unknown);
  if (!list.length) return el('p', { class: 'quiet' }, 'Nothing holds it up.');
  return el('ul', { class: 'waits' }, ...list.map((b) => el('li', { title: b.reason },
    b.text || `${b.reason} ${b.place ?? ''}`, ' ', el('span', { class: 'quiet num' }, plural(b.instances, 'instance')))));
}
