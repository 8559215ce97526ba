// SPDX-License-Identifier: Apache-2.0
import { AlarmRows } from './alarms.js';
import { alarmsOfBoth, both, listOfBoth } from './compare.js';
import { Filter } from './filter.js';
import { doubted, grouped } from './groups.js';
import { causes, grades, mark, tally } from './problem.js';
import { el, name, say, syncRows } from './dom.js';
import { age, count, full, label, plural, rate, short, twoRows, unknown, when } from './format.js';

/** @typedef {import('./model.js').Alarm} Alarm */

/** Where nothing is known. */
const nothing = Object.freeze({ nets: [], sources: [], alarms: [], silences: [] });
/** The most rows; the search finds nets beyond. */
const most = 200;

/** The left side: alarms, silences, nets, sources. */
export class Lists {
  /**
   * @param {import('./model.js').Model} model
   * @param {HTMLElement} root
   */
  constructor(model, root) {
    this.model = model;
    this.alarms = section('Alarms');
    this.alarms.root.className = 'first';
    this.filter = new Filter(model);
    this.alarms.list.before(this.filter.root);
    this.doubts = section('Unknown alarms');
    this.end = el('p', { class: 'quiet more' });
    this.doubts.list.before(this.end);
    this.silences = section('Silences');
    this.plan = el('div', null);
    this.silences.root.append(this.plan);
    this.nets = section('Nets');
    this.sources = section('Engines');
    this.sources.list.tabIndex = 0; // it scrolls, and nothing in it has the focus
    const trouble = el('p', { class: 'note', role: 'alert', hidden: true });
    this.note = el('p', { class: 'note past-note', hidden: true });
    this.rows = new AlarmRows(model, (words) => {
      trouble.hidden = !words;
      say(trouble, words);
    });
    root.append(trouble, this.note, this.alarms.root, this.doubts.root, this.silences.root, this.nets.root, this.sources.root);
    model.on('overview address link drawing', () => this.show());
    setInterval(() => document.visibilityState === 'visible' && this.show(), 1000);
  }

  show() {
    const { model } = this;
    const { where, latest, comparing } = model;
    if (!latest) return;
    const overview = /** @type {import('./model.js').Overview} */ (model.overview ?? nothing);
    this.#note();
    const here = (/** @type {{net?: string}} */ x) => (x.net === where.net ? 0 : 1);
    const active = comparing ? alarmsOfBoth(overview.alarms, latest.alarms) : overview.alarms;
    const nets = comparing ? listOfBoth(overview.nets, latest.nets, (n) => n.id) : overview.nets;
    const listed = comparing ? listOfBoth(overview.sources, latest.sources, (s) => `${s.net}\n${s.name}`) : [...overview.sources];
    const sources = listed.sort((a, b) => here(a) - here(b) || a.net.localeCompare(b.net) || a.name.localeCompare(b.name));
    this.#alarms(overview, active);
    this.nets.root.hidden = !where.net; // home has them
    this.silences.root.hidden = overview.silences.length === 0 && !model.actions;
    if (model.actions !== this.plan.hasChildNodes()) this.plan.replaceChildren(...(model.actions ? [this.rows.notes.plan(model)] : []));
    this.#fill(this.silences, overview.silences, overview.silences_left_out, (s) => `${s.id} ${s.until} ${s.pending} ${model.actions}`, (s) => this.rows.makeSilence(s), () => {});
    this.#fill(this.nets, nets, 0, (n) => n.id, (n) => this.#net(n), (row, n) => this.#showNet(row, n));
    this.#fill(this.sources, engines(sources), overview.sources_left_out, (e) => e.name, engineRow, (row, e) => this.#showEngine(row, e));
  }

  /**
   * @param {import('./model.js').Overview} overview
   * @param {import('./model.js').Alarm[]} active those of the overview, and of now where that is compared
   */
  #alarms(overview, active) {
    const { root, list, more, count: number } = this.alarms;
    const leftOut = overview.alarms_left_out ?? 0;
    const shown = this.rows.select(active);
    this.filter.show(active, shown.length);
    root.hidden = active.length === 0 && this.filter.root.hidden;
    const isUnknown = (/** @type {Alarm} */ a) => Boolean(a.unknown);
    this.rows.show([list, grouped(shown.filter((a) => !a.unknown))], [this.doubts.list, doubted(shown.filter(isUnknown))]);
    const latest = /** @type {import('./model.js').Overview} */ (this.model.latest);
    const sum = (/** @type {(o: import('./model.js').Overview) => number} */ of) => (this.model.comparing ? both(of(overview), of(latest)) : String(of(overview)));
    const own = (/** @type {Alarm[]} */ alarms) => alarms.filter((a) => !a.follows).length;
    say(number, sum((o) => own(o.alarms.filter((a) => !a.unknown)) + (o.alarms_left_out ?? 0)));
    say(this.doubts.count, sum((o) => own(o.alarms.filter(isUnknown))));
    this.doubts.root.hidden = !active.some(isUnknown);
    say(this.end, `Their sources are lost, so it is not known whether these alarms still hold. They end once their source reports again or stops cleanly. If it never comes back, close them${this.model.actions ? '' : ': pnagent alarms close'}.`);
    more.hidden = !leftOut;
    say(more, `and ${leftOut} more, see pnagent alarms`);
  }

  /** What the lists lack of a moment of the past, and that it cannot be changed. */
  #note() {
    const { model } = this;
    const { moment, latest } = model;
    const words = !moment ? '' : moment.asking && !moment.overview ? 'asking …' : !moment.overview ? 'Nets, alarms and sources of this moment are not shown: there is no data.' : latest?.actions ? 'Alarms of the past cannot be acknowledged or silenced.' : '';
    this.note.hidden = !words;
    say(this.note, words);
  }

  /**
   * @template T
   * @param {{list: HTMLElement, more: HTMLElement, count: HTMLElement}} section
   * @param {T[]} items
   * @param {number|undefined} leftOut how many more the server has
   * @param {(item: T) => string} key
   * @param {(item: T) => Element} make
   * @param {(row: any, item: T) => void} update
   */
  #fill(section, items, leftOut, key, make, update) {
    const all = items.length + (leftOut ?? 0);
    syncRows(section.list, items.slice(0, most), key, make, update);
    say(section.count, String(all));
    section.more.hidden = all <= Math.min(most, items.length);
    say(section.more, section.more.hidden ? '' : `and ${all - Math.min(most, items.length)} more`);
  }

  /** @param {import('./model.js').NetSummary} n */
  #net(n) {
    return el('li', null, el('button', { type: 'button', class: 'row net', onclick: () => this.model.openNet(n.id) },
      el('span', { class: 'mark', role: 'img' }),
      el('span', { class: 'title' }, name(short(label(n), twoRows), full(label(n), n.id))),
      el('span', { class: 'age num', title: 'age of the oldest token' }),
      el('span', { class: 'text' })));
  }

  /**
   * @param {HTMLElement} row
   * @param {import('./model.js').NetSummary & {changed?: string}} n
   */
  #showNet(row, n) {
    const button = /** @type {HTMLElement} */ (row.firstElementChild);
    if (n.id === this.model.where.net) button.setAttribute('aria-current', 'true');
    else button.removeAttribute('aria-current');
    const mark = /** @type {HTMLElement} */ (row.querySelector('.mark'));
    const [sign, kind, words] = health(n, this.model.overview);
    say(mark, sign);
    mark.className = 'mark ' + kind;
    mark.setAttribute('aria-label', words);
    mark.title = words;
    row.classList.toggle('old', !n.sources_up);
    const { model } = this;
    const passed = model.passed();
    say(/** @type {Element} */ (row.querySelector('.age')), n.oldest_age_seconds == null ? (n.tokens === 0 ? 'empty' : unknown) : age(n.oldest_age_seconds + passed));
    const later = model.comparing && !n.changed ? model.latest?.nets.find((other) => other.id === n.id) ?? n : n;
    const parts = [...since(n, model), `${both(n.tokens, later.tokens)} tokens`, both(n.rate, later.rate, rate)];
    if (n.alarms || later.alarms) parts.push(tally(n) === tally(later) ? tally(n) : `${tally(n)} → ${tally(later)}`);
    if (n.instances?.deadlocked) parts.push(`${count(n.instances.deadlocked)} deadlocked`);
    say(/** @type {Element} */ (row.querySelector('.text')), parts.join(' · '));
  }

  /**
   * @param {HTMLElement} row
   * @param {Engine} engine
   */
  #showEngine(row, { parts }) {
    const part = (/** @type {string} */ selector) => /** @type {HTMLElement} */ (row.querySelector(selector));
    const worst = parts.find((s) => s.state !== 'up') ?? parts[0];
    const up = worst.state === 'up';
    const mark = part('.mark');
    say(mark, up ? '●' : worst.state === 'unknown' ? '?' : '◌');
    mark.className = up ? 'mark good' : 'mark warn';
    mark.title = worst.state;
    const heard = parts.map((s) => s.last_heard_age_seconds).filter((a) => a != null);
    say(part('.age'), heard.length ? age(Math.max(...heard) + this.model.passed()) : unknown);
    const several = parts.length > 1;
    say(part('.text'), several ? `${up ? 'up' : `${parts.filter((s) => s.state !== 'up').length} not up`} · ${plural(parts.length, 'net')}` : this.#ofNet(parts[0], true));
    syncRows(part('.inner'), several ? parts : [], (s) => s.net, () => el('li', { class: 'text' }), (li, s) => say(li, this.#ofNet(s, !up)));
  }

  /**
   * What an engine is to one of its nets.
   * @param {import('./model.js').SourceSummary & {changed?: string}} s
   * @param {boolean} state whether its state is said
   */
  #ofNet(s, state) {
    const { model } = this;
    const net = (s.changed === 'new' ? model.latest : model.overview)?.nets.find((n) => n.id === s.net);
    const later = model.comparing && !s.changed ? model.latest?.sources.find((other) => other.net === s.net && other.name === s.name) : undefined;
    const turned = later && later.state !== s.state ? `${s.state} → ${later.state}` : s.reason ? `${s.state}: ${s.reason}` : s.state;
    const parts = [...since(s, model), ...(state || turned !== 'up' ? [turned] : []), ...(s.below ? ['a sidecar below'] : []), net ? label(net) : s.net];
    if (s.region) parts.push(s.fence ? `${s.region}, owner ${s.fence}` : s.region);
    if (s.standbys != null) parts.push(standbys(s));
    if (s.gaps) parts.push(`${count(s.gaps)} gaps`);
    const refused = Object.values(s.refused_requests ?? {}).reduce((n, of) => n + of, 0);
    if (refused) parts.push(`${plural(refused, 'request')} refused`);
    return parts.join(' · ');
  }
}

/**
 * The sources of one engine: it is one for each of its nets.
 * @typedef {{name: string, parts: (import('./model.js').SourceSummary & {changed?: string})[]}} Engine
 */

/**
 * @param {Engine['parts']} sources
 * @returns {Engine[]} in the order of their first sources
 */
function engines(sources) {
  /** @type {Map<string, Engine>} */
  const all = new Map();
  for (const s of sources) {
    const engine = all.get(s.name);
    if (engine) engine.parts.push(s);
    else all.set(s.name, { name: s.name, parts: [s] });
  }
  return [...all.values()];
}

/**
 * Whether what is compared came or went since the moment that is shown.
 * @param {{changed?: string}} x
 * @param {import('./model.js').Model} model
 * @returns {string[]}
 */
function since(x, model) {
  return x.changed ? [`${x.changed} since ${when(model.at)}`] : [];
}

/**
 * How many processes are ready to take the region of a source over.
 * @param {import('./model.js').SourceSummary} s
 */
function standbys(s) {
  const behind = s.lag ? `, ${count(s.lag)} behind` : '';
  return s.standbys ? `${count(s.standbys)} standby${s.standbys === 1 ? '' : 's'}${behind}` : 'no standby';
}

/** @param {Engine} engine */
function engineRow(engine) {
  return el('li', { class: 'row source' },
    el('span', { class: 'mark', role: 'img' }),
    el('span', { class: 'title' }, name(short(engine.name, twoRows), engine.name)),
    el('span', { class: 'age num', title: 'time since the last message' }),
    el('span', { class: 'text' }),
    el('ul', { class: 'inner' }));
}

/**
 * Sign, class and words for how a net is.
 * @param {import('./model.js').NetSummary} n
 * @param {import('./model.js').Overview | null | undefined} overview
 * @returns {[string, string, string]}
 */
export function health(n, overview) {
  if (causes(n) > 0) {
    const of = (overview?.alarms ?? []).filter((a) => a.net === n.id && !a.unknown && !a.follows);
    const worst = grades.find((grade) => of.some((a) => a.severity === grade));
    return [...mark(worst ?? ''), worst ? `alarm, ${worst}` : 'alarm'];
  }
  if (n.alarms_unknown) return ['?', 'warn', 'alarms of which it is not known whether they hold'];
  if (overview?.deaf) return ['?', 'warn', 'not known: the sidecar receives no messages of sources'];
  if (!n.sources_up) return ['◌', 'warn', 'no source is up'];
  if (n.sources_stale) return ['◐', 'warn', 'some sources are silent'];
  if (n.alarms) return ['◐', 'warn', 'alarms that follow from a lost source'];
  return ['●', 'good', 'well'];
}

/** @param {string} title */
function section(title) {
  const list = el('ul', { class: 'rows' });
  const more = el('p', { class: 'quiet more', hidden: true });
  const number = el('span', { class: 'quiet num' });
  return { root: el('section', null, el('h2', null, title, ' ', number), list, more), list, more, count: number };
}
