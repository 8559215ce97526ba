// SPDX-License-Identifier: Apache-2.0
import { byId, say } from './dom.js';
import { when } from './format.js';
import { grain, spanOf } from './spans.js';

/** How many times faster than it was. */
export const speeds = Object.freeze([1, 10, 60, 600, 3600]);
/** The speed of each range until the reader chooses one. */
const usual = /** @type {Record<string, number>} */ (Object.freeze({ '': 60, '6h': 600, '24h': 600, '7d': 3600 }));
/** The least time between two moments, ms, and how many are fetched ahead. */
const pause = 250;
const ahead = 3;
/** The address follows so often, ms; browsers refuse more. */
const written = 1000;

/** Plays the past from the moment that is shown to now, one whole moment after the other. */
export class Player {
  /** @param {import('./model.js').Model} model */
  constructor(model) {
    this.model = model;
    this.chosen = 0;
    /** @type {AbortController|null} */ this.run = null;
    /** The time that this player wrote into the address, ms. */ this.wrote = 0;
    this.wroteAt = 0;
    model.on('address', () => this.run && model.where.at !== this.wrote && this.stop());
  }

  get playing() {
    return this.run !== null;
  }

  get speed() {
    return this.chosen || usual[spanOf(this.model).range];
  }

  set speed(speed) {
    this.chosen = speed;
    if (!this.run) return;
    this.model.playing = speed;
    this.model.dispatchEvent(new Event('link'));
  }

  toggle() {
    if (this.run) this.pause();
    else this.start();
  }

  /** Plays from the moment that is shown, from the start of the span if that is now. */
  start() {
    const { model } = this;
    const span = spanOf(model);
    if (!span.kept) return;
    const begin = Math.max(span.first, model.where.at || span.first);
    this.run = new AbortController();
    model.playing = this.speed;
    this.#write(begin, model.where.at !== 0);
    say(byId('said'), `playing from ${when(begin)}, ${this.speed} times as fast`);
    this.#play(begin, this.run.signal);
  }

  /** Stays at the moment that is shown. */
  pause() {
    const at = this.model.moment?.asked;
    this.stop();
    if (at) this.#write(at, true);
    say(byId('said'), `paused at ${when(this.model.at)}`);
  }

  stop() {
    this.run?.abort();
    this.run = null;
    this.model.playing = 0;
    this.model.dispatchEvent(new Event('frame'));
    this.model.dispatchEvent(new Event('link'));
  }

  /**
   * @param {number} at
   * @param {boolean} replace
   */
  #write(at, replace) {
    this.wrote = at;
    this.wroteAt = Date.now();
    this.model.travel(at, replace);
  }

  /**
   * @param {number} at where it begins
   * @param {AbortSignal} signal
   */
  async #play(at, signal) {
    const { model } = this;
    const ask = (/** @type {number} */ time) => model.moments.ask(model.where.net, time, model.latest?.history, signal);
    let due = performance.now();
    try {
      while (at < spanOf(model).to) {
        const step = Math.max(grain(model, at), this.speed * pause);
        for (let k = 0; k <= ahead && at + k * step < spanOf(model).to; k++) ask(at + k * step).catch(() => {}); // given up or shown below
        const moment = await ask(at);
        await new Promise((done) => setTimeout(done, due - performance.now()));
        if (signal.aborted) return;
        if (moment.net === model.where.net) this.#show(moment);
        due = Math.max(due, performance.now() - pause) + step / this.speed;
        at += step;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    if (signal.aborted) return;
    this.stop();
    say(byId('said'), 'now');
    model.travel(0, true);
  }

  /** @param {import('./moments.js').Moment} moment */
  #show(moment) {
    this.model.show(moment);
    if (Date.now() - this.wroteAt >= written) this.#write(moment.asked, true);
  }
}
