// SPDX-License-Identifier: Apache-2.0
import { post } from './api.js';
import { el, say } from './dom.js';
import { clock, span } from './format.js';

/** For how long a silence may be, s. */
const durations = [900, 3600, 4 * 3600, 24 * 3600, 7 * 24 * 3600];
const usual = 3600;

/** @typedef {import('./model.js').Alarm} Alarm */
/** @typedef {{alarms: () => Alarm[], of: object|null}} Subject current alarms, and what a silence of them names; null for none */

/** What operators do to alarms: acknowledge, withdraw that, silence, end that. */
export class Notes {
  /** @param {(trouble: string) => void} fail shows why a change was refused, '' for none */
  constructor(fail) {
    this.fail = fail;
  }

  /**
   * The buttons of an alarm or of a group of alarms.
   * @param {Subject} subject
   */
  buttons(subject) {
    const acts = el('div', { class: 'acts' });
    const all = () => subject.alarms().every((a) => a.acknowledged);
    const ack = el('button', { type: 'button', class: 'link-like ack', onclick: () => (all() ? this.#acknowledge(subject, true, '') : this.#ask(acts, 'Acknowledge', false, (comment) => this.#acknowledge(subject, false, comment))) });
    acts.append(ack);
    if (subject.of) {
      acts.append(el('button', { type: 'button', class: 'link-like silence-it', onclick: () => this.#ask(acts, 'Silence', true, (comment, seconds) => this.#post('alarms/silence', { for_seconds: seconds, ...subject.of, ...noted(comment) })) }, 'Silence …'));
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

  /** @param {string} id of a silence */
  end(id) {
    return this.#post('alarms/unsilence', { id });
  }

  /**
   * Asks for a comment, which may be empty, and for the duration of a silence.
   * @param {HTMLElement} acts behind which the form is
   * @param {string} what
   * @param {boolean} lasting
   * @param {(comment: string, seconds: number) => void} then
   */
  #ask(acts, what, lasting, then) {
    const open = acts.nextElementSibling?.matches('form') ? acts.nextElementSibling : null;
    open?.remove();
    if (open?.getAttribute('aria-label') === what) return;
    const comment = /** @type {HTMLInputElement} */ (el('input', { type: 'text', maxlength: 256, placeholder: 'comment (optional)', 'aria-label': 'Comment, may be empty', autocomplete: 'off' }));
    const length = /** @type {HTMLSelectElement} */ (el('select', { 'aria-label': 'For how long' },
      ...durations.map((s) => el('option', { value: s, selected: s === usual }, `for ${span(s)}`))));
    const form = el('form', { class: 'note-form', 'aria-label': what }, comment, lasting && length,
      el('button', { type: 'submit' }, what), el('button', { type: 'button', onclick: () => close() }, 'Cancel'));
    const close = () => {
      form.remove();
      /** @type {HTMLElement} */ (acts.querySelector(lasting ? '.silence-it' : '.ack')).focus();
    };
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      close();
      then(comment.value.trim(), Number(length.value));
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
   */
  async #post(path, change) {
    try {
      await post(path, change);
      this.fail(''); // the stream brings the change
    } catch (error) {
      this.fail(error instanceof Error ? error.message : String(error));
    }
  }
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
  if (a.silenced_until) parts.push(`silenced until ${moment(Date.parse(a.silenced_until))}`);
  return parts.join(' · ');
}

/**
 * A time, with its date where that is another day.
 * @param {number} ms
 */
export function moment(ms) {
  return Math.abs(ms - Date.now()) < 24 * 3600e3 ? clock(ms) : `${new Date(ms).toISOString().slice(0, 10)} ${clock(ms)}`;
}
