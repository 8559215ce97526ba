// SPDX-License-Identifier: Apache-2.0
import { el, name, say, syncRows } from './dom.js';
import { about as identity } from './compare.js';
import { age, full, short, twoRows, visible, when } from './format.js';
import { matches } from './filter.js';
import { Notes, notes } from './notes.js';
import { about, grades, signOf, subject, urgency, words } from './problem.js';
import { recurs } from './window.js';

/** The most rows of one level. */
const most = 200;

/** @typedef {import('./model.js').Alarm} Alarm */
/** @typedef {import('./groups.js').Group} Group */

/** The rows of alarms, in groups that open, and of silences. */
export class AlarmRows {
  /**
   * @param {import('./model.js').Model} model
   * @param {(words: string) => void} report shows what a change did not do, '' for nothing
   */
  constructor(model, report) {
    this.model = model;
    this.notes = new Notes(report);
    /** @type {Set<string>} keys of the groups that are open */ this.opened = new Set();
    /** @type {Map<string, Group>} the groups as of now, by key */ this.groups = new Map();
  }

  /**
   * The alarms that the filters select, the most urgent first.
   * @param {Alarm[]} alarms
   */
  select(alarms) {
    const { net, filter } = this.model.where;
    return alarms.filter((a) => matches(a, filter)).sort(urgency(net));
  }

  /** @param {[Element, Group[]][]} lists all lists, with their groups */
  show(...lists) {
    this.groups.clear();
    for (const [list, groups] of lists) this.#fill(list, groups);
  }

  /**
   * @param {Element} list
   * @param {Group[]} groups
   */
  #fill(list, groups) {
    for (const g of groups) this.groups.set(g.key, g);
    const shown = groups.slice(0, most);
    const rest = groups.length - shown.length;
    const actions = this.model.actions;
    /** @type {(Group|null)[]} */
    const rows = rest ? [...shown, null] : shown;
    syncRows(list, rows, (g) => (g ? `${g.parts.length > 1} ${g.parts.length > 1 ? g.key : [g.alarms[0].index, g.alarms[0].since, g.alarms[0].changed, identity(g.alarms[0])].join(' ')} ${actions}` : 'more'),
      (g) => (!g ? el('li', { class: 'quiet more' }) : g.parts.length > 1 ? this.#makeGroup(g.key) : this.#make(g.alarms[0])),
      (row, g) => (!g ? say(row, `and ${rest} more`) : g.parts.length > 1 ? this.#updateGroup(row, g) : this.#update(row, g.alarms[0])));
  }

  /** @param {string} key */
  #makeGroup(key) {
    const toggle = () => {
      if (!this.opened.delete(key)) this.opened.add(key);
      this.model.dispatchEvent(new Event('overview'));
    };
    const row = el('li', { class: 'group' }, el('button', { type: 'button', class: 'row alarm', 'aria-expanded': 'false', onclick: toggle },
      el('span', { class: 'mark', role: 'img' }),
      el('span', { class: 'title' }, el('strong', { class: 'num' }), ' ', name('')),
      el('span', { class: 'age num', title: 'time since the condition of the oldest began' }),
      el('span', { class: 'text' }),
      el('span', { class: 'text noted' })));
    if (this.model.actions) row.append(this.notes.buttons(this.#subjectOf(key)));
    return row;
  }

  /** Whether alarms are not shown because of the filters. */
  #filtered() {
    return Object.keys(this.model.where.filter).length > 0;
  }

  /** @param {string} key */
  #subjectOf(key) {
    return { alarms: () => this.groups.get(key)?.alarms.slice(0, 1000) ?? [], of: this.groups.get(key)?.of ?? null, lost: this.#filtered() ? '' : this.groups.get(key)?.lost };
  }

  /**
   * @param {HTMLElement} row
   * @param {Group} g
   */
  #updateGroup(row, g) {
    const open = this.opened.has(g.key);
    const button = /** @type {HTMLElement} */ (row.firstElementChild);
    button.setAttribute('aria-expanded', String(open));
    say(part(row, '.num'), g.count ? String(g.count) : '');
    titled(part(row, '.name'), g.title, g.id);
    const causes = g.alarms.some((a) => !a.follows) ? g.alarms.filter((a) => !a.follows) : g.alarms;
    const worst = causes.reduce((w, a) => Math.min(w, grades.indexOf(a.severity)), grades.length - 1);
    marked(part(row, '.mark'), { severity: grades[worst], unknown: g.alarms.every((a) => a.unknown) ? g.text : '' });
    const ages = causes.map((a) => this.#now(a) - Date.parse(a.since));
    say(part(row, '.age'), age(Math.max(...ages) / 1000));
    say(part(row, '.text'), g.text);
    part(row, '.text').hidden = !g.text;
    say(part(row, '.noted'), summary(g.alarms, this.model.at));
    button.classList.toggle('silenced', g.alarms.every((a) => a.silenced_until));
    const acts = /** @type {HTMLElement|null} */ (row.querySelector(':scope > .acts'));
    if (acts) this.notes.update(acts, this.#subjectOf(g.key));
    let inner = row.querySelector(':scope > ul');
    if (!open) return inner?.remove();
    if (!inner) row.append((inner = el('ul', { class: 'inner' })));
    this.#fill(inner, g.parts);
  }

  /** @param {Alarm} a */
  #make(a) {
    const current = () => this.model.overview?.alarms.filter((other) => other.index === a.index) ?? [];
    return el('li', null, el('button', { type: 'button', class: 'row alarm', onclick: () => this.#go(a) },
      el('span', { class: 'mark', role: 'img' }),
      el('span', { class: 'title' }, name('')),
      el('span', { class: 'age num', title: 'time since its condition began' }),
      el('span', { class: 'text' }),
      el('span', { class: 'text noted' })),
    this.model.actions && this.notes.buttons({ alarms: current, of: { alarm: a.alarm, net: a.net, place: a.place, transition: a.transition, source: a.source, for_reason: a.for_reason } }));
  }

  /**
   * @param {HTMLElement} row
   * @param {Alarm} a
   */
  #update(row, a) {
    marked(part(row, '.mark'), a);
    say(part(row, '.age'), age((this.#now(a) - Date.parse(a.since)) / 1000));
    say(part(row, '.text'), words(a));
    row.title = visible(a.text);
    titled(part(row, '.name'), subject(a), about(a) || a.net || '');
    const elsewhere = a.net && about(a) && a.net !== this.model.where.net && !row.closest('.group') ? `${a.net_name || a.net} · ` : '';
    const changed = a.changed ? `${a.changed} since ${when(this.model.at)} · ` : '';
    say(part(row, '.noted'), elsewhere + changed + notes(a));
    part(row, '.row').dataset.changed = a.changed ?? '';
    part(row, '.row').classList.toggle('silenced', Boolean(a.silenced_until));
    const acts = /** @type {HTMLElement|null} */ (row.querySelector('.acts'));
    if (acts) this.notes.update(acts, { alarms: () => [a], of: null });
  }

  /**
   * The time that an alarm is shown for, ms: one that is new since the moment shown is of now.
   * @param {Alarm} a
   */
  #now(a) {
    return a.changed === 'new' ? this.model.clock.now() : this.model.now();
  }

  /** @param {import('./model.js').Silence} s */
  makeSilence(s) {
    const what = [s.alarm, s.for_reason, s.net, s.place, s.transition, s.source].filter(Boolean).join(' ');
    return el('li', { class: 'row silence' },
      el('span', { class: 'mark', 'aria-hidden': 'true' }, '∅'),
      el('span', { class: 'title' }, name(what)),
      this.model.actions ? el('button', { type: 'button', class: 'link-like', onclick: () => this.notes.end(s.id) }, 'End') : el('span', null),
      el('span', { class: 'text' }, `${s.pending ? `from ${when(Date.parse(s.from))} ` : ''}until ${when(Date.parse(s.until))}${s.cron ? `, ${recurs(s.cron, s.zone)}` : ''} by ${s.by}${s.comment ? `: ${s.comment}` : ''}`));
  }

  /** @param {Alarm} a */
  #go(a) {
    const kind = a.place ? 'place' : a.transition ? 'transition' : '';
    this.model.address.go({ net: a.net ?? this.model.where.net, kind, id: a.place ?? a.transition ?? '' });
  }
}

/**
 * @param {HTMLElement} row
 * @param {string} selector of a part that each row has
 */
function part(row, selector) {
  return /** @type {HTMLElement} */ (row.querySelector(selector));
}

/**
 * A name for people, with the id in the title.
 * @param {HTMLElement} node
 * @param {string} text
 * @param {string} id
 */
function titled(node, text, id) {
  say(node, short(text, twoRows));
  node.title = full(text, id);
}

/**
 * @param {HTMLElement} node
 * @param {Pick<Alarm, 'severity'|'unknown'>} a
 */
function marked(node, a) {
  const [sign, kind, words] = signOf(a);
  say(node, sign);
  node.className = 'mark ' + kind;
  node.setAttribute('aria-label', words);
  node.title = words;
}

/**
 * How many alarms of a group have each severity, and how many are acknowledged and silenced.
 * @param {Alarm[]} alarms
 * @param {number} at since when some are new or gone, ms
 */
function summary(alarms, at) {
  const parts = grades.map((grade) => [alarms.filter((a) => a.severity === grade).length, grade]);
  for (const changed of ['new', 'gone']) parts.push([alarms.filter((a) => a.changed === changed).length, `${changed} since ${when(at)}`]);
  parts.push([alarms.filter((a) => a.follows).length, 'following from a lost source']);
  parts.push([alarms.filter((a) => a.acknowledged).length, 'acknowledged'], [alarms.filter((a) => a.silenced_until).length, 'silenced']);
  return parts.filter(([n]) => n).map((p) => p.join(' ')).join(' · ');
}
