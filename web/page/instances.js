// SPDX-License-Identifier: Apache-2.0
import { ask, download } from './api.js';
import { el, name, say } from './dom.js';
import { count, label, plural, when } from './format.js';
import { work } from './scene.js';
import { given } from './share.js';
import { badge, called, data, waits } from './token.js';

/** Rows of a page. */
const rows = 50;

/** What the reader chooses the least age from, s. */
const ages = [[0, 'any age'], [60, '1 minute and more'], [600, '10 minutes and more'], [3600, '1 hour and more'], [86400, '1 day and more']];

/** The instances that wait in a place or in a net as a table in pages, found by name, data, place and age. */
export class Instances {
  /**
   * @param {import('./model.js').Model} model
   * @param {import('./heat.js').HeatScale} scale
   * @param {string} place id, '' for all places that are not final
   * @param {string} [wanted] what their data holds
   */
  constructor(model, scale, place, wanted = '') {
    this.model = model;
    this.scale = scale;
    /** @type {string[]} what the pages before and this one begin after */ this.pages = [''];
    this.next = '';
    this.name = /** @type {HTMLInputElement} */ (el('input', { type: 'search', placeholder: 'instance name', 'aria-label': 'Part of the name of the instance', autocomplete: 'off' }));
    this.data = /** @type {HTMLInputElement} */ (el('input', { type: 'search', placeholder: 'data, like id=47', 'aria-label': 'Part of the data of the token', autocomplete: 'off', value: wanted }));
    this.place = select('Place', [['', 'all places'], ...this.#places()], place);
    this.older = select('Age', ages.map(([s, text]) => [String(s), String(text)]), '0');
    this.said = el('p', { class: 'quiet', role: 'status' });
    const past = model.moment && el('p', { class: 'note' }, 'These are the instances that wait now: those of the past are not kept.');
    this.body = el('tbody', null);
    this.back = el('button', { type: 'button', onclick: () => this.#turn(-1) }, '‹ older');
    this.on = el('button', { type: 'button', onclick: () => this.#turn(1) }, 'younger ›');
    const head = ['instance', 'age', 'place', 'since', 'waits for'].map((h) => el('th', { scope: 'col' }, h));
    const form = el('form', { class: 'chooser' }, this.name, this.data, this.place, this.older);
    this.dialog = /** @type {HTMLDialogElement} */ (el('dialog', { class: 'instances', 'aria-labelledby': 'instances-title' }, el('h2', { id: 'instances-title' }, 'Waiting instances'), past, form, this.said,
      el('div', { class: 'table', tabindex: 0, role: 'region', 'aria-label': 'Waiting instances' }, el('table', null, el('thead', null, el('tr', null, ...head)), this.body)),
      el('div', { class: 'pager' }, this.back, this.on, el('button', { type: 'button', class: 'csv', onclick: () => this.#save() }, 'Save all as CSV'), el('button', { type: 'button', onclick: () => this.dialog.close() }, 'Close'))));
    form.addEventListener('submit', (event) => event.preventDefault());
    form.addEventListener('input', () => this.#first());
    this.dialog.addEventListener('close', () => this.dialog.remove());
    this.body.addEventListener('click', (event) => /** @type {Element} */ (event.target).closest('button') && this.dialog.close());
    /** @type {AbortController|null} */ this.asked = null;
  }

  /** @returns {[string, string][]} ids and names */
  #places() {
    const { scene } = this.model;
    return scene?.nodes.slice(0, scene.placeCount).filter((n) => !n.final && work(n)).map((n) => /** @type {[string, string]} */ ([n.id, label(n)])) ?? [];
  }

  open() {
    document.body.append(this.dialog);
    this.dialog.showModal();
    (this.data.value ? this.data : this.name).focus();
    this.#show();
  }

  #first() {
    this.pages = [''];
    this.#show();
  }

  /** @param {-1|1} step */
  #turn(step) {
    if (step > 0) this.pages.push(this.next);
    else this.pages.pop();
    this.#show();
  }

  #query() {
    return { net: this.model.where.net, place: this.place.value, name: this.name.value.trim(), data: this.data.value.trim(), older: this.older.value };
  }

  async #save() {
    say(this.said, await given(() => download('stuck.csv', this.#query())));
  }

  async #show() {
    this.asked?.abort();
    const asked = (this.asked = new AbortController());
    try {
      const answer = await ask('stuck', { ...this.#query(), limit: String(rows), after: this.pages[this.pages.length - 1] }, asked.signal);
      this.next = answer.next ?? '';
      this.body.replaceChildren(...answer.tokens.map((/** @type {any} */ t) => this.#row(t)));
      say(this.said, this.#summary(answer));
    } catch (error) {
      if (!asked.signal.aborted) say(this.said, `No instances: ${error instanceof Error ? error.message : String(error)}`);
    }
    /** @type {HTMLButtonElement} */ (this.back).disabled = this.pages.length < 2;
    /** @type {HTMLButtonElement} */ (this.on).disabled = !this.next;
  }

  /** @param {{matches: number, tokens: any[], bounded?: boolean, left_out?: number, unanswered?: string[]}} answer */
  #summary({ matches, tokens, bounded, left_out: leftOut, unanswered }) {
    const first = (this.pages.length - 1) * rows;
    const all = `${count(matches)}${bounded ? ' or more' : ''}`;
    const shown = tokens.reduce((sum, t) => sum + t.tokens, 0) === tokens.length ? `of ${all}` : `with ${all} tokens in all`;
    const parts = [tokens.length ? `${first + 1} to ${first + tokens.length} ${shown}, the oldest first` : 'none'];
    if (!tokens.length && this.data.value.trim()) parts.push('an engine shows only the data that its configuration names');
    if (unanswered) parts.push(`without ${plural(unanswered.length, 'source')} that did not answer: ${unanswered.slice(0, 5).join(', ')}`);
    if (leftOut) parts.push('not all places were asked: choose one');
    return parts.join('; ');
  }

  /** @param {{instance: string, place: string, source?: string, tokens: number, age_seconds: number, injected: string, waits: any[], data?: Record<string, any>}} t */
  #row(t) {
    const open = () => this.model.select('instance', t.instance);
    return el('tr', null,
      el('th', { scope: 'row' }, el('button', { type: 'button', class: 'link-like', onclick: open }, name(t.instance)), t.tokens > 1 && ` ×${count(t.tokens)}`, data(t.data)),
      el('td', null, badge(t.age_seconds, this.scale)), el('td', null, name(called(this.model, 'place', t.place), t.place)),
      el('td', { class: 'num' }, when(Date.parse(t.injected))), el('td', null, waits(t.waits, this.model)));
  }
}

/**
 * @param {string} title
 * @param {[string, string][]} options values and texts
 * @param {string} value
 */
function select(title, options, value) {
  return /** @type {HTMLSelectElement} */ (el('select', { 'aria-label': title }, ...options.map(([v, text]) => el('option', { value: v, selected: v === value }, text))));
}
