// SPDX-License-Identifier: Apache-2.0
import { el, say, svg, syncRows } from './dom.js';
import { age, when } from './format.js';
import { AlarmMarks } from './marks.js';
import { speeds } from './player.js';
import { mark } from './problem.js';
import { rangeNames, spanOf, ticks } from './spans.js';

/** The slider waits so long for the hand to rest before it asks, ms. */
const pause = 60;
/** The width of a time below the slider, pixels. */
const wide = 72;

/** The slider over the past, and what plays it, compares it and says how far it reaches. */
export class Timeline {
  /**
   * @param {import('./model.js').Model} model
   * @param {HTMLElement} root
   * @param {import('./player.js').Player} player
   */
  constructor(model, root, player) {
    this.model = model;
    this.root = root;
    this.player = player;
    this.alarms = new AlarmMarks();
    this.waiting = 0;
    /** Of the ticks as last laid out, pixels: to ask for it while the page changes lays out all of it. */ this.width = 0;
    this.span = spanOf(model);
    this.slider = /** @type {HTMLInputElement} */ (el('input', { type: 'range', id: 'time', 'aria-label': 'Time shown', min: 0, max: 1, step: 1, value: 1 }));
    this.marks = el('div', { class: 'alarm-marks' });
    this.gap = el('div', { class: 'gap', 'aria-hidden': 'true', hidden: true });
    this.ticks = el('div', { class: 'ticks num', 'aria-hidden': 'true' });
    this.play = /** @type {HTMLButtonElement} */ (el('button', { type: 'button', id: 'play', class: 'icon', onclick: () => player.toggle() },
      svg('svg', { viewBox: '0 0 16 16', 'aria-hidden': 'true' }, svg('path', { class: 'to-play', d: 'M4 2.5v11l9-5.5z' }), svg('path', { class: 'to-pause', d: 'M3.5 2.5h3v11h-3zM9.5 2.5h3v11h-3z' }))));
    this.speed = /** @type {HTMLSelectElement} */ (el('select', { id: 'speed', 'aria-label': 'Speed of playing', title: 'Speed of playing', onchange: () => (player.speed = Number(this.speed.value)) },
      ...speeds.map((s) => el('option', { value: s }, `${s}×`))));
    this.ago = el('span', { class: 'ago' });
    this.time = el('span', null);
    this.shown = el('output', { class: 'num shown', for: 'time' }, this.time, this.ago);
    this.compare = /** @type {HTMLButtonElement} */ (el('button', { type: 'button', id: 'compare', class: 'pill', onclick: () => this.toggleCompare() }, el('span', { 'aria-hidden': 'true' }, '±'), el('span', { class: 'wide' }, ' compare')));
    this.range = /** @type {HTMLSelectElement} */ (el('select', { id: 'range', 'aria-label': 'What the slider spans', title: 'What the slider spans', onchange: () => model.address.go({ range: /** @type {any} */ (this.range.value) }) }));
    this.back = el('button', { type: 'button', id: 'live', class: 'live pill', title: 'Back to now (l)', onclick: () => model.travel(0) }, 'live');
    this.root.append(this.play, this.speed, el('div', { class: 'track' }, this.marks, this.gap, this.slider, this.ticks), this.shown, this.compare, this.range, this.back);
    this.#listen();
    this.show();
  }

  #listen() {
    const { model, root } = this;
    this.slider.addEventListener('input', () => this.#slide());
    model.on('overview', () => this.#learn());
    for (const type of ['pointerenter', 'focusin']) root.addEventListener(type, () => this.#look());
    model.on('overview address link frame', () => this.show());
    new ResizeObserver(() => {
      this.width = this.ticks.clientWidth;
      this.show();
    }).observe(this.ticks);
  }

  show() {
    const { model } = this;
    const { where } = model;
    const span = (this.span = spanOf(model));
    const { from, step, steps } = span;
    const at = model.playing && model.moment ? model.moment.asked : where.at;
    this.slider.disabled = this.play.disabled = !span.kept;
    if (this.slider.max !== String(steps)) this.slider.max = String(steps);
    if (!this.waiting) this.slider.value = String(at ? Math.max(0, Math.min(steps - 1, Math.round((at - from) / step))) : steps);
    this.slider.title = `${when(from)} to now`;
    this.root.classList.toggle('past', where.at !== 0);
    this.root.setAttribute('aria-busy', String(model.asking));
    this.#words(at);
    this.#buttons();
    this.#choices();
    this.#marks();
  }

  /** @param {number} at what is asked for */
  #words(at) {
    const { model } = this;
    const { moment } = model;
    const there = moment && !moment.asking && (moment.asked === at || model.playing > 0);
    const none = there && !moment.overview && !moment.frame;
    const time = at ? when(there ? moment.at : at) : 'now';
    const ago = !at ? '' : none ? 'no data' : there ? `${age((model.clock.now() - moment.at) / 1000)} ago` : '…';
    say(this.time, time);
    say(this.ago, ago && ` · ${ago}`);
    this.shown.classList.toggle('none', Boolean(none));
    this.slider.setAttribute('aria-valuetext', ago ? `${time}, ${ago}` : time);
  }

  #buttons() {
    const { model, player } = this;
    const now = !model.where.at;
    this.back.classList.toggle('on', now);
    this.back.setAttribute('aria-pressed', String(now));
    const title = player.playing ? 'Pause (p)' : now ? 'Play the past, up to now (p)' : 'Play from here to now (p)';
    this.play.title = title;
    this.play.setAttribute('aria-label', title);
    this.play.classList.toggle('on', player.playing);
    this.compare.disabled = now;
    const compared = now ? 'Compare with now (c): go to the past first' : 'Compare with now (c)';
    this.compare.title = compared;
    this.compare.setAttribute('aria-label', compared);
    this.compare.setAttribute('aria-pressed', String(!now && model.where.compare));
    if (document.activeElement !== this.speed) this.speed.value = String(player.speed);
  }

  /** How far the slider can reach, and the times below it. */
  #choices() {
    const { range, choices, from, to } = this.span;
    this.range.hidden = choices.length < 2;
    syncRows(this.range, choices, String, (name) => el('option', { value: name }, rangeNames[name]), () => {});
    if (this.range.value !== range) this.range.value = range;
    const all = ticks({ ...this.span }, Math.max(1, Math.floor(this.width / wide)));
    const end = { at: 0, share: 1, text: 'now' };
    const room = wide / Math.max(1, this.width);
    syncRows(this.ticks, [...all.filter((t) => t.share > room / 3 && t.share < 1 - 0.8 * room), end], (t) => String(t.at), () => el('span', null), (row, t) => {
      say(row, t.text);
      row.style.setProperty('--at', String(t.share));
    });
    const { moment } = this.model;
    const gap = moment && moment.before > 0 && !moment.frame && !moment.overview;
    this.gap.hidden = !gap;
    if (!gap) return;
    this.gap.style.setProperty('--at', String(Math.max(0, (moment.before - from) / (to - from))));
    this.gap.style.setProperty('--to', String(Math.min(1, (moment.asked - from) / (to - from))));
  }

  #marks() {
    const { from, to } = this.span;
    syncRows(this.marks, this.alarms.in(this.span), (m) => `${m.kind} ${Math.round(m.at)}`, (m) => el('button', { type: 'button', tabindex: -1, onclick: () => this.go(m.go) }), (row, m) => {
      const words = m.texts.length > 1 ? `${m.texts.length} alarms ${m.kind}${m.kind === 'raised' ? `, the worst ${m.severity}` : ''}: ${m.texts.slice(0, 8).join('; ')}${m.texts.length > 8 ? ' …' : ''}` : `${m.severity} alarm ${m.texts[0]}`;
      const [sign, tone] = m.kind === 'raised' ? mark(m.severity) : ['▽', 'good'];
      say(row, sign);
      row.className = `${m.kind} ${tone}`;
      row.title = words;
      row.setAttribute('aria-label', words);
      row.style.setProperty('--at', String((m.at - from) / (to - from)));
    });
  }

  #learn() {
    const { model, alarms } = this;
    if (model.latest) alarms.follow(model.latest);
    if (model.moment?.overview) alarms.learn(model.moment.overview);
    if (model.moment || this.root.matches(':hover, :focus-within')) this.#look();
  }

  /** Readers who do not look at the past ask for nothing of it. */
  #look() {
    this.alarms.look(() => this.show());
  }

  #slide() {
    clearTimeout(this.waiting);
    this.waiting = window.setTimeout(() => {
      this.waiting = 0;
      const { from, step, steps } = this.span;
      const value = Number(this.slider.value);
      this.go(value >= steps ? 0 : from + value * step);
    }, pause);
  }

  /**
   * Goes to a time of the span, to now for 0.
   * @param {number} at ms
   */
  go(at) {
    const { first, to } = this.span;
    this.model.travel(!at || at >= to ? 0 : Math.round(Math.max(first, at)), this.model.where.at !== 0);
  }

  /**
   * Goes back or forth, in steps of the slider.
   * @param {number} steps
   */
  step(steps) {
    if (!this.slider.disabled) this.go((this.model.where.at || this.span.to) + steps * this.span.step);
  }

  /**
   * Goes to where an alarm was raised or cleared.
   * @param {-1|1} way
   */
  leap(way) {
    if (this.slider.disabled) return;
    this.#look();
    const at = this.model.where.at || this.span.to;
    const near = this.alarms.in(this.span).filter((m) => (m.go - at) * way > 1);
    const next = near[way < 0 ? near.length - 1 : 0];
    if (next) this.go(next.go);
  }

  toggleCompare() {
    const { model } = this;
    if (model.where.at) model.address.go({ compare: !model.where.compare });
  }
}
