// SPDX-License-Identifier: Apache-2.0
import { ask } from './api.js';
import { byId, el, name, sayName } from './dom.js';
import { title } from './format.js';

const most = 12;
/** The reader types no further for so long before other nets are searched, ms. */
const pause = 150;

/**
 * @typedef {{kind: 'place'|'transition'|'net'|'instance'|'data', id: string, name: string, word?: string, net?: string, netName?: string}} Match
 * word: what people call the kind, if it is another one; net: that it is in, if it is another one than the reader's
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
    this.waiting = 0;
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
    clearTimeout(this.waiting);
    if (query) this.waiting = window.setTimeout(() => this.#others(query), pause);
  }

  /**
   * Adds what the server finds in other nets, and instances of any net.
   * @param {string} query
   */
  async #others(query) {
    let answer;
    try {
      answer = await ask('search', { q: query.slice(0, 60) });
    } catch {
      return; // what the page knows is shown
    }
    if (query !== this.input.value.trim() || document.activeElement !== this.input) return;
    const here = this.model.where.net;
    const found = answer.matches.filter((/** @type {any} */ m) => m.net !== here || m.kind === 'instance').map((/** @type {any} */ m) => (
      { kind: m.kind, id: m.id, name: title(m), word: m.called?.kind, net: m.net === here ? '' : m.net, netName: m.net_name || m.net }));
    const own = this.matches.filter((m) => !m.net && m.kind !== 'instance' && m.kind !== 'data');
    const rest = this.matches.filter((m) => m.kind === 'data' || (m.kind === 'instance' && !found.some((/** @type {Match} */ f) => f.kind === 'instance' && f.id === m.id && !f.net)));
    this.matches = [...own, ...found, ...rest];
    this.active = Math.min(this.active, Math.max(0, this.matches.length - 1));
    this.#show();
  }

  #show() {
    this.list.hidden = this.matches.length === 0;
    this.input.setAttribute('aria-expanded', String(!this.list.hidden));
    this.list.replaceChildren(...this.matches.map((m, i) => el('li', {
      role: 'option', id: 'match-' + i, 'aria-selected': String(i === this.active), onclick: () => this.#choose(i),
    }, el('span', { class: 'quiet kind' }, m.word ?? m.kind), sayName(name(m.name), m.name), m.net ? el('span', { class: 'quiet' }, 'in ', name(m.netName ?? m.net)) : m.name !== m.id && el('span', { class: 'quiet' }, name(m.id)))));
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
  const look = (/** @type {Match['kind']} */ kind, /** @type {{id: string, name?: string, called?: import('./format.js').Called}} */ x) => {
    const at = [x.called?.name ?? x.name ?? '', x.id, x.called?.kind ?? ''].map((s) => s.toLocaleLowerCase().indexOf(wanted)).filter((i) => i >= 0);
    if (at.length) found.push({ match: { kind, id: x.id, name: title(x), word: x.called?.kind }, rank: Math.min(...at) ? 1 : 0 });
  };
  for (const node of model.scene?.nodes ?? []) look(node.kind, node);
  for (const net of model.latest?.nets ?? []) look('net', net);
  found.sort((a, b) => a.rank - b.rank);
  const matches = found.slice(0, most).map((f) => f.match);
  if (model.where.net) matches.push({ kind: 'instance', id: query, name: query }, { kind: 'data', id: query, name: query });
  return matches;
}
