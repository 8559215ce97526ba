// SPDX-License-Identifier: Apache-2.0
import { commands } from './act.js';
import { facts, histogram, ladder, sparkline } from './chart.js';
import { el, name } from './dom.js';
import { age, count, unknown, when } from './format.js';
import { Instances } from './instances.js';
import { badge, folded, waits } from './token.js';

/** @typedef {{model: import('./model.js').Model, heat: import('./heat.js').HeatScale}} Context */

/**
 * What is known of a place.
 * @param {any} p as /api/v1/place answers
 * @param {Context} context
 * @returns {HTMLElement[]}
 */
export function place(p, { model, heat: scale }) {
  const out = [facts([
    ['tokens', count(p.tokens)], ['instances', count(p.instances)], ['oldest', p.tokens === 0 ? 'empty' : age(p.oldest_age_seconds)],
    ['mean age', p.tokens === 0 ? 'empty' : age(p.mean_age_seconds)], ['arrived', count(p.arrivals)], ['left', count(p.departures)],
  ])];
  const calm = model.scene?.nodes[model.scene.find('place', p.id)]?.calm;
  if (p.final) out.push(el('p', { class: 'quiet' }, 'No transition takes tokens from here: they are finished work, not stuck.'));
  else if (calm) out.push(el('p', { class: 'quiet' }, 'Tokens may stay here: the rules of alarms turn tokenStuck off for this place.'));
  if (p.reasons?.length) out.push(el('h3', null, 'Why they wait'), reasons(p, model, calm ? scale.cold() : scale));
  if (!p.final) out.push(el('h3', null, 'Oldest tokens'), oldest(p.stuck, p.id, model, calm ? scale.cold() : scale), ...commands(p, model));
  if (p.older_than) out.push(ladder(p.older_than, p.tokens, calm ? scale.cold() : scale));
  out.push(...series(p.series, model));
  out.push(histogram(p.dwell, 'Time spent here'));
  return out;
}

/**
 * How many tokens wait for each reason, with the oldest one, so that an old token does not hide a young one that has failed.
 * @param {any} p
 * @param {import('./model.js').Model} model
 * @param {import('./heat.js').HeatScale} scale
 */
function reasons(p, model, scale) {
  const rest = p.tokens - p.reasons.reduce((/** @type {number} */ sum, /** @type {any} */ r) => sum + r.tokens, 0);
  return el('ol', { class: 'reasons' }, ...p.reasons.map((/** @type {any} */ r, /** @type {number} */ i) => el('li', null,
    el('b', { class: 'num' }, `${count(r.tokens)} `), `${r.reason}, the oldest `, instance(r.oldest, 'reason ' + i, model), badge(r.oldest.age_seconds, scale),
    waits(r.oldest.waits, model))),
  rest > 0 && el('li', { class: 'quiet' }, `${count(rest)} for a reason that is not reported`));
}

/**
 * A token by its instance. A message of which a metric has the age has no name.
 * @param {any} t
 * @param {string} key
 * @param {import('./model.js').Model} model
 */
function instance(t, key, model) {
  if (!t.instance) return el('span', { class: 'quiet' }, 'without a name');
  return el('button', { type: 'button', class: 'link-like', 'data-key': key, onclick: () => model.select('instance', t.instance) }, name(t.instance));
}

/**
 * @param {any[]|undefined} tokens
 * @param {string} place id
 * @param {import('./model.js').Model} model
 * @param {import('./heat.js').HeatScale} scale
 */
function oldest(tokens, place, model, scale) {
  if (!tokens) return el('p', { class: 'quiet' }, unknown);
  if (!tokens.length) return el('p', { class: 'quiet' }, 'none');
  return el('div', null, el('ol', { class: 'tokens' }, ...folded(tokens, (t) => t.instance ?? '').map((t, i) => el('li', null,
    instance(t, 'token ' + i, model), t.tokens > 1 && el('span', { class: 'num' }, `×${count(t.tokens)}, oldest`),
    badge(t.age_seconds, scale),
    el('span', { class: 'quiet num' }, `since ${when(Date.parse(t.injected))}`),
    waits(t.waits, model)))),
  el('button', { type: 'button', class: 'link-like all', 'data-key': 'all', onclick: () => new Instances(model, scale, place).open() }, 'All instances in this place …'));
}

/**
 * @param {{points: (number|null)[][]}|undefined} s
 * @param {import('./model.js').Model} model
 */
function series(s, model) {
  if (!s?.points?.length) return [];
  const range = hour(model);
  return [
    sparkline(s.points, 1, { title: 'Tokens', say: count, ...range }),
    sparkline(s.points, 2, { title: 'Oldest token', say: age, ...range, className: 'warm' }),
  ];
}

/**
 * The last hour for a sparkline: from, to, what is shown, how to go there.
 * @param {import('./model.js').Model} model
 */
export function hour(model) {
  const h = model.latest?.history;
  const to = h ? Date.parse(h.to) : model.clock.now();
  const from = h ? Date.parse(h.from) : to - 3600e3;
  return { from, to, mark: model.at, pick: (/** @type {number} */ ms) => model.travel(Math.max(from + 1, Math.round(ms))) };
}
