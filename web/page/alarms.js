// SPDX-License-Identifier: Apache-2.0
import { post } from './api.js';
import { el, name, say } from './dom.js';
import { age, clock, label, visible } from './format.js';

/** How long the button of an alarm silences it, s. */
const silence = 3600;

/** The severities, the most serious first, with the class of their mark. */
const severities = new Map([['critical', 'bad'], ['major', 'bad'], ['minor', 'warn'], ['warning', 'warn']]);

/** @typedef {import('./model.js').Alarm} Alarm */

/**
 * The id of what an alarm is about, '' for its net.
 * @param {Alarm} a
 */
export const about = (a) => a.place ?? a.transition ?? a.source ?? a.region ?? '';

/** The rows of alarms and silences, and the changes that the reader may make. */
export class AlarmRows {
  /**
   * @param {import('./model.js').Model} model
   * @param {(trouble: string) => void} fail shows why a change was refused, '' for none
   */
  constructor(model, fail) {
    this.model = model;
    this.fail = fail;
  }

  /**
   * The net of the reader first, then what is not silenced, the most serious and the oldest.
   * @param {Alarm[]} alarms
   */
  order(alarms) {
    const here = (/** @type {Alarm} */ a) => (a.net === this.model.where.net ? 0 : 1);
    const grades = [...severities.keys()];
    return [...alarms].sort((a, b) => here(a) - here(b) || Number(Boolean(a.silenced_until)) - Number(Boolean(b.silenced_until)) ||
      grades.indexOf(a.severity) - grades.indexOf(b.severity) || Date.parse(a.since) - Date.parse(b.since));
  }

  /** @param {Alarm} a */
  make(a) {
    const kind = severities.get(a.severity) ?? 'bad';
    return el('li', null, el('button', { type: 'button', class: 'row alarm', onclick: () => this.#go(a) },
      el('span', { class: 'mark ' + kind, role: 'img', 'aria-label': a.severity, title: a.severity }, kind === 'bad' ? '▲' : '△'),
      el('span', { class: 'title' }, name(about(a) || a.net || '')),
      el('span', { class: 'age num', title: 'raised so long ago' }),
      el('span', { class: 'text' }),
      el('span', { class: 'text noted' })),
    this.model.overview?.actions && this.#buttons(a));
  }

  /**
   * @param {HTMLElement} row
   * @param {Alarm} a
   */
  update(row, a) {
    const part = (/** @type {string} */ of) => /** @type {HTMLElement} */ (row.querySelector(of));
    say(part('.age'), age((this.model.clock.now() - Date.parse(a.since)) / 1000));
    say(part('.text'), a.text);
    row.title = visible(a.text);
    say(part('.name'), this.#subject(a));
    say(part('.noted'), notes(a));
    part('.row').classList.toggle('silenced', Boolean(a.silenced_until));
    const button = /** @type {HTMLElement|null} */ (row.querySelector('.ack'));
    if (button) say(button, a.acknowledged ? 'Withdraw' : 'Acknowledge');
  }

  /**
   * A key that is another one where the row is made of other parts.
   * @param {Alarm} a
   */
  key(a) {
    return `${a.index} ${a.since} ${a.severity} ${Boolean(this.model.overview?.actions)}`;
  }

  /** @param {Alarm} a */
  #buttons(a) {
    const current = () => this.model.overview?.alarms.find((other) => other.index === a.index) ?? a;
    return el('div', { class: 'acts' },
      el('button', { type: 'button', class: 'link-like ack', onclick: () => this.#post(`alarms/${current().acknowledged ? 'unack' : 'ack'}`, { indices: [a.index] }) }, 'Acknowledge'),
      el('button', { type: 'button', class: 'link-like', onclick: () => this.#post('alarms/silence', { for_seconds: silence, alarm: a.alarm, net: a.net, place: a.place, transition: a.transition, source: a.source }) },
        'Silence for 1 h'));
  }

  /** @param {import('./model.js').Silence} s */
  makeSilence(s) {
    const what = [s.alarm, s.net, s.place, s.transition, s.source].filter(Boolean).join(' ');
    return el('li', { class: 'row silence' },
      el('span', { class: 'mark', 'aria-hidden': 'true' }, '∅'),
      el('span', { class: 'title' }, name(what)),
      this.model.overview?.actions ? el('button', { type: 'button', class: 'link-like', onclick: () => this.#post('alarms/unsilence', { id: s.id }) }, 'End') : el('span'),
      el('span', { class: 'text' }, `until ${moment(Date.parse(s.until))} by ${s.by}${s.comment ? `: ${s.comment}` : ''}`));
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

  /**
   * What an alarm is about, by its name where that is at hand.
   * @param {Alarm} a
   */
  #subject(a) {
    const scene = a.net === this.model.where.net ? this.model.scene : null;
    const node = scene?.nodes[Math.max(scene.find('place', a.place ?? ''), scene.find('transition', a.transition ?? ''))];
    return node ? label(node) : about(a) || a.net || '';
  }

  /** @param {Alarm} a */
  #go(a) {
    const kind = a.place ? 'place' : a.transition ? 'transition' : '';
    this.model.address.go({ net: a.net ?? '', kind, id: a.place ?? a.transition ?? '', at: 0 });
  }
}

/**
 * The severity of an alarm, and what operators noted.
 * @param {Alarm} a
 */
function notes(a) {
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
function moment(ms) {
  return Math.abs(ms - Date.now()) < 24 * 3600e3 ? clock(ms) : `${new Date(ms).toISOString().slice(0, 10)} ${clock(ms)}`;
}
