// SPDX-License-Identifier: Apache-2.0
import { ApiError, post } from './api.js';
import { el, say } from './dom.js';
import { plural, span, when } from './format.js';
import { subject as subjectOf } from './problem.js';

/** For how long a silence may be, s. */
const durations = [900, 3600, 4 * 3600, 24 * 3600, 7 * 24 * 3600];
const usual = 3600;
/** What to do about an alarm that holds. */
const instead = 'Mend its cause, or acknowledge or silence it.';

/** @typedef {import('./model.js').Alarm} Alarm */
/** @typedef {{alarms: () => Alarm[], of: object|null, lost?: string}} Subject current alarms, what a silence of them names, null for none, and the lost source of which they are all */

/** @typedef {{what: string, button: string, words?: string, lasting?: boolean}} Question button: its class; words: what the reader must know */

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
      acts.append(el('button', { type: 'button', class: 'link-like silence-it', onclick: () => this.#ask(acts, { what: 'Silence', button: 'silence-it', lasting: true }, (comment, seconds) => this.#post('alarms/silence', { for_seconds: seconds, ...subject.of, ...noted(comment) })) }, 'Silence …'));
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

  /** @param {string} id of a silence */
  end(id) {
    return this.#post('alarms/unsilence', { id });
  }

  /**
   * Asks for a comment, which may be empty, and for the duration of a silence.
   * @param {HTMLElement} acts behind which the form is
   * @param {Question} question
   * @param {(comment: string, seconds: number) => void} then
   */
  #ask(acts, { what, button, words, lasting }, then) {
    const open = acts.nextElementSibling?.matches('form') ? acts.nextElementSibling : null;
    open?.remove();
    if (open?.getAttribute('aria-label') === what) return;
    const comment = /** @type {HTMLInputElement} */ (el('input', { type: 'text', maxlength: 256, placeholder: 'comment (optional)', 'aria-label': 'Comment, may be empty', autocomplete: 'off' }));
    const length = /** @type {HTMLSelectElement} */ (el('select', { 'aria-label': 'For how long' },
      ...durations.map((s) => el('option', { value: s, selected: s === usual }, `for ${span(s)}`))));
    const form = el('form', { class: 'note-form', 'aria-label': what }, words && el('p', { class: 'quiet' }, words), comment, lasting && length,
      el('button', { type: 'submit' }, what), el('button', { type: 'button', onclick: () => close() }, 'Cancel'));
    const close = () => {
      form.remove();
      /** @type {HTMLElement} */ (acts.querySelector('.' + button)).focus();
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
      this.report(''); // the stream brings the change
    } catch (error) {
      this.report(`Not done: ${text(error)}`);
    }
  }

  /**
   * Closes alarms: all of a lost source, also those that are not listed, or else these.
   * @param {Subject} subject
   * @param {string} comment
   */
  async #close(subject, comment) {
    const alarms = subject.alarms().filter((a) => a.unknown);
    const { lost } = subject;
    const which = lost && !/[*?]/.test(lost) ? { source: lost } : { indices: alarms.map((a) => a.index) };
    try {
      const { holding } = await post('alarms/close', { ...which, ...noted(comment) });
      this.report(holding?.length ? `Closed. Not closed, because known to hold: ${plural(holding.length, 'alarm')} of source ${lost}. ${instead}` : '');
    } catch (error) {
      const holds = error instanceof ApiError && error.status === 409;
      const what = alarms.length === 1 ? `${subjectOf(alarms[0])} is known to hold again` : 'one of these alarms is known to hold again, and none is closed';
      this.report(holds ? `Not closed: ${what}. ${instead}` : `Not closed: ${text(error)}`);
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
  if (a.silenced_until) parts.push(`silenced until ${moment(Date.parse(a.silenced_until))}`);
  if (a.follows) parts.push(`follows from lost source ${a.follows}`);
  if (a.unknown) parts.push(`unknown: ${a.unknown}`);
  return parts.join(' · ');
}

/**
 * A time, with its date where that is another day.
 * @param {number} ms
 */
export function moment(ms) {
  return when(ms);
}
