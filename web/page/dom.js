// SPDX-License-Identifier: Apache-2.0
// Elements, made without ever parsing HTML: whatever a name holds, it is text.

import { visible } from './format.js';

/** @typedef {Node|string|null|undefined|false} Child */

const svgNamespace = 'http://www.w3.org/2000/svg';

/**
 * An HTML element. Keys that start with "on" are listeners, true and false
 * set and leave out an attribute, the rest are attributes.
 * @param {string} tag
 * @param {Record<string, any>|null} attributes
 * @param {...Child} children strings become text
 * @returns {HTMLElement}
 */
export function el(tag, attributes, ...children) {
  return /** @type {HTMLElement} */ (fill(document.createElement(tag), attributes, children));
}

/**
 * An SVG element, see el.
 * @param {string} tag
 * @param {Record<string, any>|null} attributes
 * @param {...Child} children
 * @returns {SVGElement}
 */
export function svg(tag, attributes, ...children) {
  return /** @type {SVGElement} */ (fill(document.createElementNS(svgNamespace, tag), attributes, children));
}

/**
 * @param {Element} element
 * @param {Record<string, any>|null} attributes
 * @param {Child[]} children
 */
function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, '');
    else if (value !== false && value != null) element.setAttribute(key, key.startsWith('data-') ? String(value) : visible(String(value)));
  }
  for (const child of children) if (child) element.append(typeof child === 'string' ? visible(child) : child);
  return element;
}

/**
 * A name in its own direction, so that one that is written from right to left
 * does not turn what stands beside it.
 * @param {string} text
 * @param {string} [id] for its title
 */
export function name(text, id) {
  return el('bdi', { class: 'name', title: id ?? text }, text);
}

/**
 * The element of the page with that id.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element ${id}`);
  return found;
}

/**
 * Sets the text of a node if it differs. To set the same text would make the browser lay out the page again.
 * @param {Node} node
 * @param {string} text
 */
export function say(node, text) {
  text = visible(text);
  if (node.textContent !== text) node.textContent = text;
}

/** A text longer than this, in characters, loses its middle where a line has no room; this much of its end stays. */
const longest = 24;
const end = 9;

/**
 * Sets the text of a name on one line, which loses its middle where the line has no room: names often differ at their end.
 * @template {HTMLElement} T
 * @param {T} node
 * @param {string} text
 */
export function sayName(node, text) {
  text = visible(text);
  const points = Array.from(text);
  if (points.length <= longest) say(node, text);
  else if (node.textContent !== text || !node.querySelector('.tail')) node.replaceChildren(el('span', { class: 'head' }, points.slice(0, -end).join('')), el('span', { class: 'tail' }, points.slice(-end).join('')));
  return node;
}

/**
 * Makes parent's children one element per item, keeping those that stay (and
 * with them focus, hover and a click that has begun).
 * @template T
 * @param {Element} parent
 * @param {T[]} items
 * @param {(item: T) => string} key different for each item
 * @param {(item: T) => Element} make
 * @param {(element: any, item: T) => void} update
 */
export function syncRows(parent, items, key, make, update) {
  /** @type {Map<string, Element>} */
  const old = new Map();
  for (const child of parent.children) old.set(child.getAttribute('data-key') ?? '', child);
  let next = parent.firstElementChild;
  for (const item of items) {
    const k = key(item);
    let row = old.get(k);
    if (row) {
      old.delete(k);
    } else {
      row = make(item);
      row.setAttribute('data-key', k);
    }
    if (row === next) next = next.nextElementSibling;
    else parent.insertBefore(row, next);
    update(row, item);
  }
  for (const row of old.values()) row.remove();
}

/**
 * Replaces what a parent holds; what had the focus has it again where an
 * element with the same data-key exists.
 * @param {HTMLElement} parent
 * @param {...Child} children
 */
export function replaceKeepingFocus(parent, ...children) {
  const active = document.activeElement;
  const key = active && parent.contains(active) ? active.getAttribute('data-key') : null;
  const scroll = parent.scrollTop;
  parent.replaceChildren(.../** @type {Node[]} */ (children.filter(Boolean)));
  parent.scrollTop = scroll;
  if (key === null) return;
  for (const candidate of parent.querySelectorAll('[data-key]')) {
    if (candidate.getAttribute('data-key') === key) {
      /** @type {HTMLElement} */ (candidate).focus({ preventScroll: true });
      return;
    }
  }
}
