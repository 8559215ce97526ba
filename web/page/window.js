// SPDX-License-Identifier: Apache-2.0
import { el, say } from './dom.js';
import { kindName, kindNames } from './problem.js';
import { label, span } from './format.js';

/** For how long a silence may be each time, s. */
const durations = [900, 3600, 2 * 3600, 4 * 3600, 8 * 3600, 24 * 3600, 7 * 24 * 3600];
const usual = 3600;
/** The days of a week as cron has them, with what people read. */
const days = Object.freeze(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']);
const dayName = (/** @type {string} */ day) => day[0].toUpperCase() + day.slice(1);
/** The ways in which a silence begins. */
const ways = Object.freeze({ now: 'from now on', later: 'from a time on', weekly: 'every week', cron: 'by a cron expression' });

/** @typedef {{parts: HTMLElement[], value: () => object}} Fields parts of a form, and what they say in a request */

/**
 * When a silence holds: from now on, from a time on, or again and again by the reader's clock.
 * @returns {Fields}
 */
export function windowFields() {
  const way = select('When', Object.entries(ways), 'now');
  const length = select('For how long', durations.map((s) => [String(s), `for ${span(s)}`]), String(usual));
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';
  const begins = input('datetime-local', { 'aria-label': 'Begins', min: local(Date.now()), value: local(Math.ceil(Date.now() / 3600e3) * 3600e3) });
  const boxes = days.map((day) => input('checkbox', { value: day }));
  const time = input('time', { 'aria-label': 'Time of day', value: '02:00' });
  const cron = input('text', { 'aria-label': 'Cron expression: minute, hour, day, month, weekday', placeholder: '0 2 1 * *', autocomplete: 'off', spellcheck: 'false' });
  const last = input('date', { 'aria-label': 'Last day, may be empty', min: local(Date.now()).slice(0, 10) });
  last.required = false;
  for (const box of boxes) box.required = false;
  const groups = {
    later: group('Begins', begins),
    weekly: group('Days', el('span', { class: 'days' }, ...boxes.map((box, i) => el('label', null, box, dayName(days[i])))), el('label', null, 'at', time)),
    cron: group('Cron expression', cron),
    again: group('Recurs', el('label', null, 'until', last), el('span', { class: 'quiet' }, `by the clock of ${zone}`)),
  };
  const show = () => {
    const again = way.value === 'weekly' || way.value === 'cron';
    for (const [name, root] of Object.entries(groups)) root.hidden = root.disabled = !(name === way.value || (name === 'again' && again));
    for (const option of length.options) say(option, `for ${span(Number(option.value))}${again ? ' each time' : ''}`);
    boxes[0].setCustomValidity(way.value === 'weekly' && !boxes.some((box) => box.checked) ? 'Choose at least one day.' : '');
  };
  for (const node of [way, ...boxes]) node.addEventListener('change', show);
  show();
  const chosen = () => boxes.filter((box) => box.checked).map((box) => box.value);
  const value = () => {
    const lasting = { for_seconds: Number(length.value) };
    if (way.value === 'now') return lasting;
    if (way.value === 'later') return { ...lasting, from: new Date(begins.value).toISOString() };
    const expression = way.value === 'cron' ? cron.value.trim() : weekly(chosen(), time.value);
    return { ...lasting, cron: expression, zone, ...(last.value && { ends: new Date(`${last.value}T23:59:59`).toISOString() }) };
  };
  return { parts: [way, ...Object.values(groups), length], value };
}

/**
 * Which alarms a planned silence is of.
 * @param {import('./model.js').Model} model
 * @returns {Fields}
 */
export function selectionFields(model) {
  /** @type {[string, string][]} */
  const nets = (model.overview?.nets ?? []).map((n) => [n.id, label(n)]);
  const net = select('Net', [['*', 'of all nets'], ...nets], model.where.net || '*');
  const kind = select('Kind of alarm', [['', 'all alarms'], .../** @type {[string, string][]} */ (kindNames.map((k) => [k, kindName(k)]))], '');
  const place = input('text', { 'aria-label': 'Only places like, may be empty', placeholder: 'places like await* (optional)', autocomplete: 'off', spellcheck: 'false', maxlength: 256 });
  place.required = false;
  const value = () => ({ net: net.value, ...(kind.value && { alarm: kind.value }), ...(place.value.trim() && { place: place.value.trim() }) });
  return { parts: [kind, net, place], value };
}

/**
 * When a silence recurs, in words if it is weekly.
 * @param {string} cron
 * @param {string} [zone]
 */
export function recurs(cron, zone = 'UTC') {
  const [minute, hour, day, month, week] = cron.trim().split(/\s+/);
  const plain = /^\d+$/.test(minute) && /^\d+$/.test(hour) && day === '*' && month === '*' && /^(\*|[a-z]{3}(,[a-z]{3})*)$/i.test(week ?? '');
  if (!plain) return `recurs (${cron} ${zone})`;
  const on = week === '*' ? 'day' : week.toLowerCase().split(',').map(dayName).join(', ');
  return `every ${on} at ${hour.padStart(2, '0')}:${minute.padStart(2, '0')} ${zone}`;
}

/**
 * @param {string[]} chosen days
 * @param {string} time such as 02:00
 */
function weekly(chosen, time) {
  const [hour, minute] = time.split(':').map(Number);
  return `${minute} ${hour} * * ${chosen.length === days.length ? '*' : chosen.join(',')}`;
}

/**
 * A time as inputs of browsers have it, by the reader's clock.
 * @param {number} ms since the Unix epoch
 */
function local(ms) {
  return new Date(ms - new Date(ms).getTimezoneOffset() * 60e3).toISOString().slice(0, 16);
}

/**
 * @param {string} title
 * @param {[string, string][]} options values, with their words
 * @param {string} chosen
 */
function select(title, options, chosen) {
  return /** @type {HTMLSelectElement} */ (el('select', { 'aria-label': title }, ...options.map(([value, words]) => el('option', { value, selected: value === chosen }, words))));
}

/**
 * @param {string} type
 * @param {Record<string, any>} attributes
 */
function input(type, attributes) {
  return /** @type {HTMLInputElement} */ (el('input', { type, required: true, ...attributes }));
}

/**
 * @param {string} title
 * @param {...HTMLElement} parts
 */
function group(title, ...parts) {
  return /** @type {HTMLFieldSetElement} */ (el('fieldset', null, el('legend', null, title), ...parts));
}
