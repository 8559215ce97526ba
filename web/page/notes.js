// SPDX-License-Identifier: Apache-2.0
import { ApiError, post } from './api.js';
import { el, say } from './dom.js';
import { plural, when } from './format.js';
import { subject as subjectOf } from './problem.js';
import { selectionFields, windowFields } from './window.js';

/** What to do about an alarm that holds. */
const instead = 'Mend its cause, or acknowledge or silence it.';

/** @typedef {import('./model.js').Alarm} Alarm */
/** @typedef {{alarms: () => Alarm[], of: object|null, lost?: string}} Subject current alarms, what a silence of them names, null for none, and the lost source of which they are all */

/** @typedef {{what: string, button: string, words?: string, fields?: import('./window.js').Fields[]}} Question button: its class; words: what the reader must know; fields: beside the comment */

/** What operators do to alarms: acknowledge, withdraw that, silence, end that, close. */
export class Notes {
  /** @param {(words: string) => void} report shows what a change did not do, '' for nothing */
  constructor(report) {
    this.report = report;
  }

  /**
   * The buttons of an alarm or of a group of alarms.
   * @param {Subject} subject
   */
  buttons(subject) {
    const acts = el('div', { class: 'acts' });
    const all = () => subject.alarms().every((a) => a.acknowledged);
    const ack = el('button', { type: 'button', class: 'link-like ack', onclick: () => (all() ? this.#acknowledge(subject, true, '') : this.#ask(acts, { what: 'Acknowledge', button: 'ack' }, (comment) => this.#acknowledge(subject, false, comment))) });
    acts.append(ack);
    if (subject.of) {
      acts.append(el('button', { type: 'button', class: 'link-like silence-it', onclick: () => this.#ask(acts, { what: 'Silence', button: 'silence-it', fields: [windowFields()] }, (comment, chosen) => this.#post('alarms/silence', { ...chosen, ...subject.of, ...noted(comment) })) }, 'Silence …'));
    }
    if (subject.alarms().every((a) => a.unknown)) {
      const words = 'Close what you know to be over. Its end is sent to all receivers, with your name and comment.';
      acts.append(el('button', { type: 'button', class: 'link-like close-it', onclick: () => this.#ask(acts, { what: 'Close', button: 'close-it', words }, (comment) => this.#close(subject, comment)) }, 'Close …'));
    }
    this.update(acts, subject);
    return acts;
  }

  /**
   * @param {HTMLElement} acts as buttons made it
   * @param {Subject} subject
   */
  update(acts, subject) {
    say(/** @type {Node} */ (acts.firstElementChild), subject.alarms().every((a) => a.acknowledged) ? 'Withdraw' : 'Acknowledge …');
  }

  /**
   * A button for a silence of alarms that need not be there yet.
   * @param {import('./model.js').Model} model
   */
  plan(model) {
    const acts = el('div', { class: 'acts' });
    acts.append(el('button', { type: 'button', class: 'link-like plan-it', onclick: () => this.#ask(acts, { what: 'Plan a silence', button: 'plan-it', fields: [selectionFields(model), windowFields()] },
      (comment, chosen) => this.#post('alarms/silence', { ...chosen, ...noted(comment) })) }, 'Plan a silence …'));
    return acts;
  }

  /** @param {string} id of a silence */
  end(id) {
    return this.#post('alarms/unsilence', { id });
  }

  /**
   * Asks for a comment, which may be empty, and for other fields. The form stays until what it asks for is done.
   * @param {HTMLElement} acts behind which the form is
   * @param {Question} question
   * @param {(comment: string, chosen: object) => Promise<boolean>} then reports whether it was done
   */
  #ask(acts, { what, button, words, fields = [] }, then) {
    const open = acts.nextElementSibling?.matches('form') ? acts.nextElementSibling : null;
    open?.remove();
    if (open?.getAttribute('aria-label') === what) return;
    const comment = /** @type {HTMLInputElement} */ (el('input', { type: 'text', maxlength: 256, placeholder: 'comment (optional)', 'aria-label': 'Comment, may be empty', autocomplete: 'off' }));
    const send = /** @type {HTMLButtonElement} */ (el('button', { type: 'submit' }, what));
    const form = el('form', { class: 'note-form', 'aria-label': what }, words && el('p', { class: 'quiet' }, words), comment, ...fields.flatMap((f) => f.parts),
      send, el('button', { type: 'button', onclick: () => close() }, 'Cancel'));
    const close = () => {
      form.remove();
      /** @type {HTMLElement} */ (acts.querySelector('.' + button)).focus();
    };
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      send.disabled = true;
      const done = await then(comment.value.trim(), Object.assign({}, ...fields.map((f) => f.value())));
      send.disabled = false;
      if (done && form.isConnected) close(); // the reader may have opened another one
    });
    form.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      close();
    });
    acts.after(form);
    comment.focus();
  }

  /**
   * @param {Subject} subject
   * @param {boolean} withdraw
   * @param {string} comment
   */
  #acknowledge(subject, withdraw, comment) {
    const indices = subject.alarms().filter((a) => withdraw === Boolean(a.acknowledged)).map((a) => a.index);
    return this.#post(`alarms/${withdraw ? 'unack' : 'ack'}`, { indices, ...noted(comment) });
  }

  /**
   * @param {string} path
   * @param {object} change
   * @returns {Promise<boolean>} whether it was done
   */
  async #post(path, change) {
    try {
      await post(path, change);
      this.report(''); // the stream brings the change
      return true;
    } catch (error) {
      this.report(`Not done: ${text(error)}`);
      return false;
    }
  }

  /**
   * Closes alarms: all of a lost source, also those that are not listed, or else these.
   * @param {Subject} subject
   * @param {string} comment
   * @returns {Promise<boolean>} whether any was closed
   */
  async #close(subject, comment) {
    const alarms = subject.alarms().filter((a) => a.unknown);
    const { lost } = subject;
    const which = lost && !/[*?]/.test(lost) ? { source: lost } : { indices: alarms.map((a) => a.index) };
    try {
      const { holding } = await post('alarms/close', { ...which, ...noted(comment) });
      this.report(holding?.length ? `Closed. Not closed, because known to hold: ${plural(holding.length, 'alarm')} of source ${lost}. ${instead}` : '');
      return true;
    } catch (error) {
      const holds = error instanceof ApiError && error.status === 409;
      const what = alarms.length === 1 ? `${subjectOf(alarms[0])} is known to hold again` : 'one of these alarms is known to hold again, and none is closed';
      this.report(holds ? `Not closed: ${what}. ${instead}` : `Not closed: ${text(error)}`);
      return false;
    }
  }
}

/** @param {unknown} error */
function text(error) {
  return error instanceof Error ? error.message : String(error);
}

/** @param {string} comment */
function noted(comment) {
  return comment ? { comment } : {};
}

/**
 * The severity of an alarm, and what operators noted.
 * @param {Alarm} a
 */
export function notes(a) {
  const parts = [a.severity];
  const ack = a.acknowledged;
  if (ack) parts.push(`acknowledged by ${ack.by}${ack.comment ? `: ${ack.comment}` : ''}`);
  if (a.silenced_until) parts.push(`silenced until ${when(Date.parse(a.silenced_until))}`);
  if (a.follows) parts.push(`follows from lost source ${a.follows}`);
  if (a.unknown) parts.push(`unknown: ${a.unknown}`);
  return parts.join(' · ');
}
