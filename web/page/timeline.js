// SPDX-License-Identifier: Apache-2.0
import { el, say } from './dom.js';
import { age, clock } from './format.js';

const hour = 3600e3;
/** The slider waits so long for the hand to rest before it asks, ms. */
const pause = 60;

/** The slider over the last hour. */
export class Timeline {
  /**
   * @param {import('./model.js').Model} model
   * @param {HTMLElement} root
   */
  constructor(model, root) {
    this.model = model;
    this.root = root;
    this.slider = /** @type {HTMLInputElement} */ (el('input', { type: 'range', id: 'time', 'aria-label': 'Time shown', min: 0, max: 1, step: 1, value: 1 }));
    this.from = el('span', { class: 'num quiet' });
    this.shown = el('output', { class: 'num shown', for: 'time' });
    this.back = el('button', { type: 'button', id: 'live', class: 'live', title: 'Back to now (l)', onclick: () => model.travel(0) }, 'live');
    root.append(this.from, this.slider, this.shown, this.back);
    this.waiting = 0;
    this.slider.addEventListener('input', () => this.#slide());
    model.on('overview address link', () => this.show());
    this.show();
  }

  show() {
    const { overview, where, clock: time } = this.model;
    const h = overview?.history;
    const to = h ? Date.parse(h.to) : time.now();
    // The server's times are finer than milliseconds; at or before the first there is nothing.
    const first = h ? Date.parse(h.from) + 1 : to - hour;
    const from = Math.min(first, to - 60e3);
    const step = (h?.step || 5) * 1000;
    const steps = Math.max(1, Math.ceil((to - from) / step));
    const sliding = this.waiting !== 0;
    this.span = { from, first, to, step, steps };
    this.slider.disabled = !h;
    if (this.slider.max !== String(steps)) this.slider.max = String(steps);
    if (!sliding) this.slider.value = String(where.at ? Math.max(0, Math.min(steps - 1, Math.round((where.at - from) / step))) : steps);
    say(this.from, clock(from));
    this.#words();
  }

  #words() {
    const { where, clock: time } = this.model;
    const ago = (time.now() - where.at) / 1000;
    say(this.shown, where.at ? `${clock(where.at)} · ${age(ago)} ago` : 'now');
    this.slider.setAttribute('aria-valuetext', where.at ? `${clock(where.at)}, ${age(ago)} ago` : 'now');
    this.back.classList.toggle('on', !where.at);
    this.back.setAttribute('aria-pressed', String(!where.at));
    this.root.classList.toggle('past', Boolean(where.at));
  }

  #slide() {
    clearTimeout(this.waiting);
    this.waiting = window.setTimeout(() => {
      this.waiting = 0;
      const { from, first, step, steps } = /** @type {any} */ (this.span);
      const value = Number(this.slider.value);
      this.model.travel(value >= steps ? 0 : Math.max(first, Math.round(from + value * step)), this.model.where.at !== 0);
    }, pause);
  }

  /**
   * Goes back or forth, in steps of what is kept.
   * @param {number} steps
   */
  step(steps) {
    const { first, to, step } = /** @type {any} */ (this.span);
    if (this.slider.disabled) return;
    const at = Math.max(first, (this.model.where.at || to) + steps * step);
    this.model.travel(at >= to ? 0 : Math.round(at), this.model.where.at !== 0);
  }
}
