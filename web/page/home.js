// SPDX-License-Identifier: Apache-2.0
// The home of the page: all nets, those that need attention first.
import { hash } from './address.js';
import { ask } from './api.js';
import { trend } from './chart.js';
import { byId, el, name, say, sayName, syncRows } from './dom.js';
import { age, count, label, plural, rate, unknown } from './format.js';
import { health } from './lists.js';
import { causes, grades, tally } from './problem.js';

/** @typedef {import('./model.js').NetSummary} NetSummary */

/** The most rows; the search finds nets beyond. */
const most = 200;
/** How often the last hour is asked for while it is shown, ms. */
const fresh = 30e3;

/** All nets with what waits in each and the age of its oldest token over the last hour. */
export class Home {
  /** @param {import('./model.js').Model} model */
  constructor(model) {
    this.model = model;
    this.root = byId('home');
    this.list = el('ol', { class: 'nets', 'aria-label': 'All nets, those that need attention first' });
    this.more = el('p', { class: 'quiet more', hidden: true });
    this.root.append(this.list, this.more);
    /** @type {Map<string, (number|null)[][]>} ages over the last hour, by net */ this.trends = new Map();
    this.askedAt = 0;
    model.on('overview address link', () => this.show());
    setInterval(() => document.visibilityState === 'visible' && this.show(), 1000);
    this.show();
  }

  show() {
    const { model, root } = this;
    const nets = model.overview?.nets ?? [];
    root.hidden = Boolean(model.where.net) || !nets.length;
    byId('stage').classList.toggle('at-home', !model.where.net);
    byId('to-home').hidden = !model.where.net;
    byId('as-table').hidden = !model.where.net;
    if (root.hidden) return;
    if (Date.now() - this.askedAt > fresh) this.#ask();
    const ranks = new Map(nets.map((n) => [n.id, rank(n, model.overview)]));
    const sorted = [...nets].sort((a, b) => (ranks.get(a.id) ?? 0) - (ranks.get(b.id) ?? 0) || (b.oldest_age_seconds ?? -1) - (a.oldest_age_seconds ?? -1) || label(a).localeCompare(label(b)));
    syncRows(this.list, sorted.slice(0, most), (n) => n.id, (n) => this.#make(n), (row, n) => this.#update(row, n));
    this.more.hidden = sorted.length <= most;
    say(this.more, this.more.hidden ? '' : `and ${sorted.length - most} more: search with /`);
  }

  async #ask() {
    this.askedAt = Date.now();
    try {
      const { nets } = await ask('trends');
      this.trends = new Map(nets.map((/** @type {{net: string, points: (number|null)[][]}} */ n) => [n.net, n.points]));
    } catch {
      return; // the rows are there without
    }
    this.show();
  }

  /** @param {NetSummary} n */
  #make(n) {
    return el('li', null, el('a', { class: 'net-card', href: hash({ ...this.model.where, net: n.id, kind: '', id: '' }) },
      el('span', { class: 'mark', role: 'img' }),
      el('span', { class: 'title' }, sayName(name('', n.id), label(n)), ' ', el('span', { class: 'quiet' }, n.kind ?? 'net')),
      el('span', { class: 'oldest' }, el('span', { class: 'quiet' }, 'oldest '), el('strong', { class: 'num' }), ' ', el('span', { class: 'at quiet' })),
      el('span', { class: 'text' }),
      el('span', { class: 'trend' })));
  }

  /**
   * @param {HTMLElement} row
   * @param {NetSummary} n
   */
  #update(row, n) {
    const { model } = this;
    const part = (/** @type {string} */ selector) => /** @type {HTMLElement} */ (row.querySelector(selector));
    const link = part('a');
    const to = hash({ ...model.where, net: n.id, kind: '', id: '' });
    if (link.getAttribute('href') !== to) link.setAttribute('href', to);
    const [sign, kind, words] = health(n, model.overview);
    const mark = part('.mark');
    say(mark, sign);
    mark.className = 'mark ' + kind;
    mark.setAttribute('aria-label', words);
    row.classList.toggle('old', !n.sources_up);
    const waits = n.oldest_age_seconds != null;
    say(part('.oldest strong'), waits ? age((n.oldest_age_seconds ?? 0) + model.passed()) : n.tokens == null ? unknown : 'none');
    const at = n.oldest_place ? label({ id: n.oldest_place, name: n.oldest_name, called: n.oldest_called }) : '';
    say(part('.at'), waits && at ? `in ${at}` : '');
    const facts = [plural(n.tokens, 'token'), rate(n.rate), n.alarms ? tally(n) : '', n.instances?.deadlocked ? `${count(n.instances.deadlocked)} deadlocked` : '', plural(n.sources_up, 'source'), n.sources_stale ? `${n.sources_stale} silent` : ''];
    say(part('.text'), facts.filter(Boolean).join(' · '));
    const points = this.trends.get(n.id) ?? [];
    const key = String(points.length && points[points.length - 1][0]);
    const picture = part('.trend');
    if (picture.dataset.of === key) return;
    picture.dataset.of = key;
    picture.replaceChildren(...(points.length > 1 ? [trend(points)] : []));
  }
}

/**
 * How much a net needs attention, the lowest most: by its worst alarm, by alarms that may hold, by what it lacks.
 * @param {NetSummary} n
 * @param {import('./model.js').Overview|null} overview
 */
function rank(n, overview) {
  if (causes(n) > 0) {
    const of = (overview?.alarms ?? []).filter((a) => a.net === n.id && !a.unknown && !a.follows);
    const worst = Math.min(...of.map((a) => grades.indexOf(a.severity)));
    return Number.isFinite(worst) ? worst : grades.length;
  }
  const doubts = [n.alarms_unknown, n.instances?.deadlocked, !n.sources_up, n.sources_stale || n.alarms];
  const first = doubts.findIndex(Boolean);
  return grades.length + 1 + (first < 0 ? doubts.length : first);
}
