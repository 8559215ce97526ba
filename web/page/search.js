// SPDX-License-Identifier: Apache-2.0
import { byId, el, name } from './dom.js';
import { label } from './format.js';

const most = 12;

/**
 * @typedef {{kind: 'place'|'transition'|'net'|'instance'|'data', id: string, name: string}} Match
 */

/** Search by name and id: nodes of this net, other nets, instances, and instances by the data of their tokens. */
export class Search {
  /**
   * @param {import('./model.js').Model} model
   * @param {(match: Match) => void} go to what was chosen
   * @param {() => void} home gives the focus to the drawing
   */
  constructor(model, go, home) {
    this.model = model;
    this.go = go;
    this.home = home;
    this.input = /** @type {HTMLInputElement} */ (byId('query'));
    this.list = byId('matches');
    /** @type {Match[]} */ this.matches = [];
    this.active = 0;
    this.input.value = model.where.find;
    this.input.addEventListener('input', () => {
      model.address.go({ find: this.input.value.slice(0, 200) }, true);
      this.#look();
    });
    model.on('address', () => this.#turn());
    model.addEventListener('drawing', () => model.where.find && !model.where.kind && this.#look(), { once: true });
    this.input.addEventListener('focus', () => this.#look());
    this.input.addEventListener('blur', () => this.#close());
    this.input.addEventListener('keydown', (event) => this.#key(event));
    this.list.addEventListener('pointerdown', (event) => event.preventDefault());
    byId('search').addEventListener('submit', (event) => event.preventDefault());
  }

  open() {
    this.input.focus();
    this.input.select();
  }

  /** Shows the search of the address, unless the reader types. */
  #turn() {
    if (document.activeElement === this.input || this.input.value === this.model.where.find) return;
    this.input.value = this.model.where.find;
    this.#close();
  }

  #look() {
    const query = this.input.value.trim();
    this.matches = query ? find(this.model, query) : [];
    this.active = 0;
    this.#show();
  }

  #show() {
    this.list.hidden = this.matches.length === 0;
    this.input.setAttribute('aria-expanded', String(!this.list.hidden));
    this.list.replaceChildren(...this.matches.map((m, i) => el('li', {
      role: 'option', id: 'match-' + i, 'aria-selected': String(i === this.active), onclick: () => this.#choose(i),
    }, el('span', { class: 'quiet kind' }, m.kind), name(m.name), m.name !== m.id && el('span', { class: 'quiet' }, name(m.id)))));
    if (this.matches.length) this.input.setAttribute('aria-activedescendant', 'match-' + this.active);
    else this.input.removeAttribute('aria-activedescendant');
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && this.matches.length) {
      this.active = (this.active + step + this.matches.length) % this.matches.length;
      this.#show();
    } else if (event.key === 'Enter' && this.matches.length) {
      this.#choose(this.active);
    } else if (event.key === 'Escape') {
      this.input.value = '';
      this.model.address.go({ find: '' }, true);
      this.#close();
      this.home();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {number} i */
  #choose(i) {
    const match = this.matches[i];
    this.#close();
    this.home();
    this.go(match);
  }

  #close() {
    this.matches = [];
    this.#show();
  }
}

/**
 * Those that begin with the query first, then those that hold it.
 * @param {import('./model.js').Model} model
 * @param {string} query
 * @returns {Match[]}
 */
function find(model, query) {
  const wanted = query.toLocaleLowerCase();
  /** @type {{match: Match, rank: number}[]} */
  const found = [];
  const look = (/** @type {Match['kind']} */ kind, /** @type {{id: string, name?: string}} */ x) => {
    const at = [x.name ?? '', x.id].map((s) => s.toLocaleLowerCase().indexOf(wanted)).filter((i) => i >= 0);
    if (at.length) found.push({ match: { kind, id: x.id, name: label(x) }, rank: Math.min(...at) ? 1 : 0 });
  };
  for (const node of model.scene?.nodes ?? []) look(node.kind, node);
  for (const net of model.latest?.nets ?? []) look('net', net);
  found.sort((a, b) => a.rank - b.rank);
  const matches = found.slice(0, most).map((f) => f.match);
  if (model.where.net) matches.push({ kind: 'instance', id: query, name: query }, { kind: 'data', id: query, name: query });
  return matches;
}
