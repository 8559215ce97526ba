// SPDX-License-Identifier: Apache-2.0
import { connecting } from './connect.js';
import { byId, el, say, syncRows } from './dom.js';
import { when } from './format.js';
import { margin } from './spans.js';
import { stages, states } from './states.js';

/** The digest of this page's files, which is in the address of each and in the ETag of the page. */
const version = /\/assets\/(\w+)\//.exec(import.meta.url)?.[1] ?? '';
/** @typedef {import('./states.js').Situation} Situation */
/** @typedef {import('./states.js').State} State */

/** A loss shorter than this is not worth a banner, ms. */
const patience = 1500;
/** Viewers who come back ask for versions within so long, ms. */
const spread = 2000;
/** @type {Readonly<Record<import('./states.js').Grade, [string, string]>>} sign of a grade, and its words for a screen reader */
const grades = Object.freeze({ bad: ['■', 'Not current: '], warn: ['▲', 'Attention: '], past: ['◷', ''], info: ['i', ''] });

/** Shows the states that hold, see states.js. */
export class Banners {
  /** @param {import('./model.js').Model} model */
  constructor(model) {
    this.model = model;
    this.root = byId('banners');
    this.link = byId('link');
    this.empty = byId('empty');
    this.newer = false;
    this.lostAt = Date.now();
    this.down = true;
    /** @type {Map<string, number>} since when the condition of a state holds, ms */ this.since = new Map();
    /** @type {Set<string>} the states that a screen reader was given */ this.told = new Set();
    model.on('address overview drawing frame link', () => this.show());
    model.live.addEventListener('down', () => {
      if (!this.down) this.lostAt = Date.now();
      this.down = true;
    });
    model.live.addEventListener('up', (event) => {
      this.down = false;
      if (/** @type {CustomEvent} */ (event).detail) this.#version();
    });
    this.root.addEventListener('click', (event) => /** @type {Element} */ (event.target).closest('.banner')?.classList.toggle('open'));
    setInterval(() => this.show(), 500);
  }

  show() {
    const { model } = this;
    const { up } = model.live;
    const lost = !up && Date.now() - this.lostAt > patience;
    /** @type {Situation} */
    const situation = { model, lost, lostAt: this.lostAt, newer: this.newer };
    const shows = (/** @type {State} */ { of = 'now' }) => of === 'any' || of === (model.moment ? 'then' : 'now');
    const all = states.filter((state) => (!lost || state.offline) && shows(state) && this.#lasts(state, situation));
    const outdated = all.map((state) => (typeof state.outdated === 'function' ? state.outdated(situation) : state.outdated ?? ''));
    this.#grey(outdated.includes('all'), outdated.includes('net'));
    const now = model.moment ? 'past' : model.outdated ? 'not current' : 'live';
    say(this.link, up ? now : model.live.received ? 'reconnecting' : 'connecting');
    this.link.className = `link ${up ? 'up' : 'down'}${model.outdated ? ' old' : ''}${model.moment ? ' at-past' : ''}`;
    syncRows(this.root, all, (state) => state.id, (state) => row(state, situation), (element, state) => say(element.querySelector('bdi'), state.words(situation)));
    this.root.tabIndex = all.length && this.root.scrollHeight > this.root.clientHeight ? 0 : -1;
    const stage = this.#stage(situation);
    this.#tell(stage ? [...all, stage] : all, situation);
  }

  /**
   * Whether a state has held for long enough.
   * @param {State} state
   * @param {Situation} situation
   */
  #lasts(state, situation) {
    if (!state.when(situation)) {
      this.since.delete(state.id);
      return false;
    }
    const since = this.since.get(state.id) ?? Date.now();
    this.since.set(state.id, since);
    return Date.now() - since >= (state.after ?? 0);
  }

  /**
   * Shows numbers that are not current in grey. Those of the past are as asked for.
   * @param {boolean} all
   * @param {boolean} net of the net that is shown
   */
  #grey(all, net) {
    const { model } = this;
    const { received } = model.live;
    const before = model.outdated;
    model.outdated = (all || net) && received > 0 && !model.moment;
    document.documentElement.classList.toggle('outdated', model.outdated);
    document.documentElement.classList.toggle('all-outdated', all && model.outdated);
    if (model.outdated !== before) model.dispatchEvent(new Event('frame')); // the drawing stops or continues
  }

  /**
   * What is shown instead of a drawing.
   * @param {Situation} situation
   */
  #stage(situation) {
    const { latest, scene, where, moment, shown } = this.model;
    const found = scene && (!moment || shown) ? undefined : stages.find((stage) => stage.when(situation));
    const stage = where.table && ['waiting', 'asking'].includes(found?.id ?? '') ? undefined : found;
    this.empty.hidden = !stage;
    byId('stage').classList.toggle('no-data', moment !== null && !shown);
    const [title, words] = stage ? [stage.title(situation), stage.words(situation)] : ['', ''];
    const connect = stage && ['no-nats', 'none'].includes(stage.id) ? latest?.sidecar?.connect : undefined;
    const absent = stage?.id === 'absent' ? moment : null;
    const key = JSON.stringify([stage?.id, title, words, connect, absent?.before]);
    if (this.empty.dataset.key === key) return stage;
    this.empty.dataset.key = key;
    this.empty.dataset.state = stage?.id ?? '';
    const all = stage ? [title && el('h2', null, title), el('p', { class: title ? '' : 'quiet' }, words), ...connecting(connect), connect && more(), absent && this.#others(absent)] : [];
    this.empty.replaceChildren(...all.filter((x) => x instanceof Node));
    return stage;
  }

  /**
   * Where the next numbers are.
   * @param {import('./moments.js').Moment} moment
   */
  #others({ before }) {
    const { model } = this;
    const h = model.latest?.history;
    const first = h ? Date.parse(h.archive?.from ?? h.from) + margin : 0;
    const go = (/** @type {number} */ at, /** @type {string} */ text) => el('button', { type: 'button', class: 'go', onclick: () => model.travel(at) }, text);
    return el('p', { class: 'choices' }, before > 0 && go(before + 1, `to ${when(before)}`), first > 0 && model.where.at < first && go(first, `to ${when(first)}`), go(0, 'to now'));
  }

  /**
   * Gives a screen reader each state once, when it begins, and that all numbers are current again.
   * @param {{id: string, words: (s: Situation) => string}[]} all
   * @param {Situation} situation
   */
  #tell(all, situation) {
    const fresh = all.filter((state) => !this.told.has(state.id)).map((state) => state.words(situation));
    const were = this.told.has('numbers');
    this.told = new Set(all.map((state) => state.id));
    if (this.model.outdated) this.told.add('numbers');
    else if (were) fresh.push('The numbers are current again.');
    if (fresh.length) say(byId('said'), fresh.join(' '));
  }

  /** Looks for another version of the page, not at the same moment as all other viewers. */
  async #version() {
    await new Promise((done) => setTimeout(done, Math.random() * spread));
    try {
      const answer = await fetch(location.pathname, { method: 'HEAD', cache: 'no-store' });
      if (answer.ok) this.newer = !answer.headers.get('ETag')?.includes(version);
      this.show();
    } catch {
      // The server went again; it is asked when it is back.
    }
  }
}

/**
 * @param {State} state
 * @param {Situation} situation
 */
function row(state, situation) {
  const [sign, meaning] = grades[state.grade];
  return el('p', { class: `banner ${state.grade} ${state.id}` }, el('span', { class: 'sign', 'aria-hidden': 'true' }, sign), meaning && el('span', { class: 'unseen' }, meaning), el('bdi', null), state.act?.(situation));
}

/** What else brings a net. */
function more() {
  return el('p', { class: 'quiet' }, 'pnagent attach --help lists adapters for other engines. To draw a net before an engine runs it, add its file to the command line of this sidecar (pnagent serve … NET.pnml).');
}
