// SPDX-License-Identifier: Apache-2.0
// What is shown of a token: its age, its data, why it waits.
import { el, name } from './dom.js';
import { age, label, short } from './format.js';
import { heat } from './heat.js';
import { moment } from './notes.js';

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
