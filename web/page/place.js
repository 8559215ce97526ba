// SPDX-License-Identifier: Apache-2.0
import { commands } from './act.js';
import { facts, histogram, ladder, sparkline } from './chart.js';
import { el, name } from './dom.js';
import { age, count, label, short, unknown } from './format.js';
import { heat } from './heat.js';
import { Instances } from './instances.js';
import { moment } from './notes.js';

/** @typedef {{transition?: string, place?: string, reason: string, text?: string, until?: string}} Wait */
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
  if (!p.final) out.push(el('h3', null, 'Oldest tokens'), oldest(p.stuck, p.id, model, calm ? scale.cold() : scale), ...commands(p, model));
  if (p.older_than) out.push(ladder(p.older_than, p.tokens, calm ? scale.cold() : scale));
  out.push(...series(p.series, model));
  out.push(histogram(p.dwell, 'Time spent here'));
  return out;
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
  return el('div', null, el('ol', { class: 'tokens' }, ...tokens.map((t, i) => el('li', null,
    el('button', { type: 'button', class: 'link-like', 'data-key': 'token ' + i, onclick: () => model.select('instance', t.instance) }, name(t.instance)),
    badge(t.age_seconds, scale),
    el('span', { class: 'quiet num' }, `since ${moment(Date.parse(t.injected))}`),
    waits(t.waits, model)))),
  el('button', { type: 'button', class: 'link-like all', 'data-key': 'all', onclick: () => new Instances(model, scale, place).open() }, 'All instances in this place …'));
}

/**
 * An age on its heat.
 * @param {number|undefined} seconds
 * @param {import('./heat.js').HeatScale} scale
 */
export function badge(seconds, scale) {
  const element = el('span', { class: 'badge num' }, age(seconds));
  element.style.setProperty('--fill', scale.fill(heat(seconds)));
  element.style.setProperty('--on-fill', scale.ink(heat(seconds)));
  return element;
}

/**
 * Why a token is still there, one line for each transition.
 * @param {Wait[]|undefined} list
 * @param {import('./model.js').Model} model
 */
export function waits(list, model) {
  if (!list?.length) return null;
  return el('ul', { class: 'waits' }, ...list.map((w) => el('li', { title: w.reason },
    w.transition && el('button', { type: 'button', class: 'link-like', onclick: () => model.select('transition', w.transition ?? '') }, name(called(model, 'transition', w.transition), w.transition)),
    w.transition && ': ', w.text || [w.reason, w.place && called(model, 'place', w.place)].filter(Boolean).join(' '), w.until && el('span', { class: 'num' }, ` ${due(w.until, model)}`),
    w.reason === 'manual' && about(model, w.transition))));
}

/**
 * What the engine shows of the data of a token.
 * @param {Record<string, any>|undefined} fields
 */
export function data(fields) {
  if (!fields) return null;
  const text = (/** @type {any} */ value) => (typeof value === 'string' ? value : JSON.stringify(value));
  return el('span', { class: 'data quiet' }, ...Object.entries(fields).flatMap(([field, value], i) => [i > 0 && ' · ', el('span', null, name(field), ' ', el('b', null, name(text(value))))]));
}

/**
 * The name for people of a node of the net that is shown.
 * @param {import('./model.js').Model} model
 * @param {'place'|'transition'} kind
 * @param {string} id
 */
export function called(model, kind, id) {
  const node = model.scene?.nodes[model.scene.find(kind, id)];
  return node ? label(node) : id;
}

/**
 * What the definition has on a transition that waits for a person, such as for whom it is.
 * @param {import('./model.js').Model} model
 * @param {string} [transition] id
 */
function about(model, transition = '') {
  const doc = model.scene?.nodes[model.scene.find('transition', transition)]?.doc;
  return doc && el('span', { class: 'quiet' }, ` – ${short(doc, 200)}`);
}

/**
 * When a delay ends.
 * @param {string} until
 * @param {import('./model.js').Model} model
 */
function due(until, model) {
  const at = Date.parse(until);
  const left = (at - model.clock.now()) / 1000;
  return left > 0 ? `until ${moment(at)} (in ${age(left)})` : `since ${moment(at)} it is due`;
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
