// SPDX-License-Identifier: Apache-2.0
import { post } from './api.js';
import { el, say } from './dom.js';
import { age, label, plural } from './format.js';

/** @typedef {{verb: 'fire'|'retry'|'inject', net: string, instance: string, place?: string, transition?: string, tokens?: number}} Act */

/** Says what a request to an engine would do, asks whether to send it, and shows the result. */
export class Confirmation {
  /**
   * @param {import('./model.js').Model} model
   * @param {Act} act
   */
  constructor(model, act) {
    this.model = model;
    this.act = act;
    this.said = el('div', { class: 'said', role: 'status' }, 'asking the engine …');
    this.comment = /** @type {HTMLInputElement} */ (el('input', { type: 'text', maxlength: 256, placeholder: 'why (optional, for the audit log)', 'aria-label': 'Comment, may be empty', autocomplete: 'off' }));
    this.yes = /** @type {HTMLButtonElement} */ (el('button', { type: 'submit', disabled: true }, this.#what()));
    this.no = el('button', { type: 'button', onclick: () => this.dialog.close() }, 'Cancel');
    const form = el('form', { method: 'dialog' }, this.comment, this.yes, this.no);
    this.dialog = /** @type {HTMLDialogElement} */ (el('dialog', { class: 'confirm', 'aria-labelledby': 'confirm-title' }, el('h2', { id: 'confirm-title' }, `${this.#what()} in ${act.instance}?`), this.said, form));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#send();
    });
    this.dialog.addEventListener('close', () => this.dialog.remove());
  }

  /** Asks the engine what the request would do, and the reader whether to send it. */
  async ask() {
    document.body.append(this.dialog);
    this.dialog.showModal();
    this.no.focus();
    try {
      const answer = await post('act', { ...this.act, dry_run: true });
      this.said.replaceChildren(el('p', null, `Source ${answer.source} has the instance.`), el('ul', { class: 'waits' }, ...answer.held.map((/** @type {any} */ h) => this.#held(h))));
      this.yes.disabled = false;
      this.comment.focus();
    } catch (error) {
      this.#failed(error);
    }
  }

  async #send() {
    const comment = this.comment.value.trim();
    this.yes.disabled = true;
    say(this.said, 'sending …');
    try {
      const answer = await post('act', { ...this.act, ...(comment && { comment }) });
      this.said.replaceChildren(el('p', { class: 'good' }, `Done by ${answer.source}.`));
      this.#over();
      this.model.dispatchEvent(new Event('acted'));
    } catch (error) {
      this.#failed(error);
    }
  }

  /** @param {unknown} error */
  #failed(error) {
    this.said.replaceChildren(el('p', { class: 'note' }, `Not done: ${error instanceof Error ? error.message : String(error)}`));
    this.#over();
  }

  /** Nothing is left to ask. */
  #over() {
    this.comment.remove();
    this.yes.remove();
    say(this.no, 'Close');
    this.no.focus();
  }

  #what() {
    const { verb, place, transition, tokens } = this.act;
    if (verb === 'inject') return `Inject ${plural(tokens ?? 1, 'token')} into ${this.#name('place', place)}`;
    return `${verb === 'fire' ? 'Fire' : 'Retry'} ${this.#name('transition', transition)}`;
  }

  /**
   * Tokens that the request is about, and what they wait for.
   * @param {{place: string, tokens: number, age_seconds: number, wait?: {text?: string}}} h
   */
  #held(h) {
    return el('li', null, `${plural(h.tokens, 'token')} in ${this.#name('place', h.place)} for ${age(h.age_seconds)}${h.wait?.text ? `: ${h.wait.text}` : ''}`);
  }

  /**
   * @param {'place'|'transition'} kind
   * @param {string} [id]
   */
  #name(kind, id = '') {
    const node = this.model.scene?.nodes[this.model.scene.find(kind, id)];
    return node ? label(node) : id;
  }
}
