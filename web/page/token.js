// SPDX-License-Identifier: Apache-2.0
// What is shown of a token: its age, its data, why it waits.
import { el, name } from './dom.js';
import { age, label, short, when } from './format.js';
import { heat } from './heat.js';

/** @typedef {{transition?: string, place?: string, reason: string, text?: string, until?: string}} Wait */

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
    w.transition && ': ', w.text || [w.reason, w.place && called(model, 'place', w.place)].filter(Boolean).join(' '), w.until && el('span', { class: 'num' }, `, ${due(w.until, model)}`),
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
 * Tokens of which nothing but the age differs, as one with the age of the oldest.
 * @template {{tokens?: number, age_seconds?: number, injected: string, waits?: Wait[]}} T
 * @param {T[]} tokens
 * @param {(token: T) => unknown} what else must be the same
 * @returns {(T & {tokens: number})[]} in the order of their first ones
 */
export function folded(tokens, what) {
  /** @type {Map<string, T & {tokens: number}>} */
  const all = new Map();
  for (const t of tokens) {
    const key = JSON.stringify([what(t), t.waits]);
    const first = all.get(key);
    if (!first) all.set(key, { ...t, tokens: t.tokens ?? 1 });
    else {
      first.tokens += t.tokens ?? 1;
      if (t.injected < first.injected) Object.assign(first, { injected: t.injected, age_seconds: t.age_seconds });
    }
  }
  return [...all.values()];
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
  return left > 0 ? `until ${when(at)} (in ${age(left)})` : `due since ${when(at)}`;
}
