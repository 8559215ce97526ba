// SPDX-License-Identifier: Apache-2.0
import { actions, commands } from './act.js';
import { el, name, svg } from './dom.js';
import { age, count, label, when } from './format.js';
import { heat } from './heat.js';
import { hour } from './place.js';
import { badge, data, folded, waits } from './token.js';

/**
 * Where an instance is, and where it was seen among the oldest.
 * @param {any} a as /api/v1/instance answers
 * @param {import('./place.js').Context} context
 * @returns {HTMLElement[]}
 */
export function instance(a, { model, heat: scale }) {
  const out = [el('h3', null, 'Where it is now')];
  if (!a.now) out.push(el('p', { class: 'note' }, `Where it is now is not known: ${a.unanswered ?? 'no answer'}.`));
  else if (!a.now.length) out.push(el('p', { class: 'quiet' }, 'It holds no token.'));
  else out.push(el('ol', { class: 'tokens' }, ...folded(a.now, (/** @type {any} */ t) => [t.place, t.data]).map((/** @type {any} */ t, /** @type {number} */ i) => held(t, i, model, scale))));
  out.push(...commands(a, model), ...actions(a.actions));
  out.push(el('h3', null, 'Seen among the oldest, last hour'));
  if (!a.seen?.length) out.push(el('p', { class: 'quiet' }, 'Not among the oldest tokens of any place in the last hour.'));
  else out.push(stays(a.seen, { model, heat: scale }, 'seen'));
  return out;
}

/**
 * Stays of an instance in places.
 * @param {any[]} seen
 * @param {import('./place.js').Context} context
 * @param {string} key
 */
export function stays(seen, { model, heat: scale }, key) {
  return el('ol', { class: 'tokens seen' }, ...seen.map((s, i) => stay(s, `${key} ${i}`, model, scale)));
}

/**
 * Tokens that an instance holds in a place; in a final place they are finished
 * work, which is not hot and waits for nothing.
 * @param {any} t
 * @param {number} i
 * @param {import('./model.js').Model} model
 * @param {import('./heat.js').HeatScale} scale
 */
function held(t, i, model, scale) {
  const { final, calm } = model.scene?.nodes[model.scene.find('place', t.place)] ?? {};
  return el('li', null, toPlace(t.place, model, 'now ' + i), t.tokens > 1 && el('span', { class: 'num' }, `×${count(t.tokens)}, oldest`),
    badge(t.age_seconds, calm ? scale.cold() : scale), final ? el('span', { class: 'quiet' }, 'finished') : waits(t.waits, model), data(t.data));
}

/**
 * One stay in a place, as a bar over the last hour.
 * @param {any} s
 * @param {string} key
 * @param {import('./model.js').Model} model
 * @param {import('./heat.js').HeatScale} scale
 */
function stay(s, key, model, scale) {
  const { from, to } = hour(model);
  const begun = Date.parse(s.injected);
  const gone = s.gone && Date.parse(s.last_seen) <= model.now();
  const ended = gone ? Date.parse(s.last_seen) : model.now();
  const x = (/** @type {number} */ ms) => Math.max(0, Math.min(100, ((ms - from) / Math.max(1, to - from)) * 100));
  const lasted = (ended - begun) / 1000;
  const bar = svg('svg', { viewBox: '0 0 100 6', preserveAspectRatio: 'none', class: 'barline', 'aria-hidden': 'true' },
    svg('rect', { width: 100, height: 6, class: 'track' }),
    svg('rect', { x: Math.min(98.5, x(begun)), width: Math.max(1.5, x(ended) - x(begun)), height: 6, fill: scale.fill(heat(lasted)) }));
  const words = gone ? `from ${when(begun)}, last seen ${when(ended)}: ${age(lasted)}` : `since ${when(begun)}: ${age(lasted)}`;
  return el('li', null, toPlace(s.place, model, key), el('span', { class: 'quiet num' }, words), bar, waits(s.waits, model));
}

/**
 * A button that goes to a place.
 * @param {string} id
 * @param {import('./model.js').Model} model
 * @param {string} key
 */
function toPlace(id, model, key) {
  const node = model.scene?.nodes[model.scene.find('place', id)];
  return el('button', { type: 'button', class: 'link-like', 'data-key': key, onclick: () => model.select('place', id) }, name(node ? label(node) : id, id));
}
