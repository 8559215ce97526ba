// SPDX-License-Identifier: Apache-2.0
import { el, say } from './dom.js';
import { grades, kindName } from './problem.js';

/** @typedef {import('./model.js').Alarm} Alarm */
/** @typedef {Record<string, string>} Chosen by parameter of the address; what is absent selects everything */

/** What alarms are filtered by: a label, the value of an alarm, and the words for a value. */
const fields = new Map(Object.entries({
  severity: { title: 'Severity', of: (/** @type {Alarm} */ a) => a.severity, say: (/** @type {string} */ v) => v },
  of: { title: 'Net', of: (/** @type {Alarm} */ a) => a.net ?? '', say: (/** @type {string} */ v, /** @type {Alarm[]} */ alarms) => alarms.find((a) => a.net === v)?.net_name || v },
  alarm: { title: 'Kind', of: (/** @type {Alarm} */ a) => a.alarm, say: (/** @type {string} */ v) => kindName(v) },
  acknowledged: { title: 'Acknowledged', of: (/** @type {Alarm} */ a) => (a.acknowledged ? 'yes' : 'no'), say: (/** @type {string} */ v) => v },
  silenced: { title: 'Silenced', of: (/** @type {Alarm} */ a) => (a.silenced_until ? 'yes' : 'no'), say: (/** @type {string} */ v) => v },
}));

/**
 * @param {Alarm} a
 * @param {Chosen} chosen
 */
export function matches(a, chosen) {
  return Object.entries(chosen).every(([key, value]) => fields.get(key)?.of(a) === value);
}

/** The filters of the alarms. What is chosen is in the address. */
export class Filter {
  /** @param {import('./model.js').Model} model */
  constructor(model) {
    this.model = model;
    this.summary = el('summary', null);
    /** @type {Map<string, HTMLSelectElement>} */
    this.selects = new Map();
    const rows = [...fields].map(([key, field]) => {
      const select = /** @type {HTMLSelectElement} */ (el('select', { name: key, onchange: () => this.#choose(key, select.value) }));
      this.selects.set(key, select);
      return el('label', null, field.title, select);
    });
    this.clear = el('button', { type: 'button', class: 'link-like', onclick: () => model.address.go({ filter: {} }) }, 'Show all');
    this.root = el('details', { class: 'filter' }, this.summary, ...rows, this.clear);
  }

  /**
   * Shows the values that the alarms have.
   * @param {Alarm[]} alarms
   * @param {number} shown how many match
   */
  show(alarms, shown) {
    const chosen = this.model.where.filter;
    const active = Object.keys(chosen).length > 0;
    this.root.hidden = !active && alarms.length < 2;
    this.clear.hidden = !active;
    const words = Object.entries(chosen).map(([key, value]) => `${fields.get(key)?.title.toLowerCase()} ${fields.get(key)?.say(value, alarms)}`);
    say(this.summary, active ? `${shown} of ${alarms.length} shown: ${words.join(', ')}` : 'Filter');
    for (const [key, select] of this.selects) this.#options(key, select, alarms, chosen[key] ?? '');
  }

  /**
   * @param {string} key
   * @param {HTMLSelectElement} select
   * @param {Alarm[]} alarms
   * @param {string} value
   */
  #options(key, select, alarms, value) {
    const field = /** @type {any} */ (fields.get(key));
    const values = [...new Set([...alarms.map(field.of), value])].filter(Boolean).sort((a, b) => grades.indexOf(a) - grades.indexOf(b) || a.localeCompare(b));
    const state = JSON.stringify(values);
    if (select.dataset.values !== state) {
      select.dataset.values = state;
      select.replaceChildren(el('option', { value: '' }, 'all'), ...values.map((v) => el('option', { value: v }, field.say(v, alarms))));
    }
    if (select.value !== value) select.value = value;
  }

  /**
   * @param {string} key
   * @param {string} value
   */
  #choose(key, value) {
    const { [key]: _, ...rest } = this.model.where.filter;
    this.model.address.go({ filter: value ? { ...rest, [key]: value } : rest });
  }
}
