// SPDX-License-Identifier: Apache-2.0
import { el, say } from './dom.js';
import { count, rate, shortAge, unknown } from './format.js';

/** Ages below this, s, are not written. */
const young = 10;

/** The numbers of one element of a model, at its shape or flow. */
export class Badge {
  /** @param {boolean} flow */
  constructor(flow) {
    this.flow = flow;
    this.tokens = el('b', { class: 'held num' });
    this.age = el('span', { class: 'since num' });
    this.change = el('span', { class: 'change num' });
    this.stop = el('span', { class: 'stop' }, '⊖');
    this.held = el('div', { class: 'state' }, this.tokens, this.age, this.stop, this.change);
    this.rate = el('div', { class: 'rate num' });
    /** What was written last. */ this.written = '';
  }

  /**
   * Writes what differs, and returns whether anything does.
   * @param {import('./elements.js').ElementState} state
   * @param {import('./heat.js').HeatScale} scale
   * @param {string} change what differs from now, '' for nothing
   */
  show(state, scale, change) {
    const { tokens, age } = state;
    const held = tokens ? count(tokens) : tokens === null && !this.flow ? unknown : '';
    const since = tokens && age && age >= young ? shortAge(age) : '';
    const often = state.rate ? rate(state.rate) : '';
    const written = [held, since, often, state.blocked, scale.fill(state.heat), change].join();
    if (written === this.written) return false;
    this.written = written;
    say(this.tokens, held);
    say(this.age, since);
    this.stop.hidden = !state.blocked;
    say(this.change, change);
    this.held.hidden = !change && !tokens && !state.blocked && (tokens !== null || this.flow);
    this.held.classList.toggle('old', state.heat > 0.5);
    this.held.style.setProperty('--fill', scale.fill(state.heat));
    this.held.style.setProperty('--on-fill', scale.ink(state.heat));
    say(this.rate, often);
    this.rate.hidden = !often;
    return true;
  }
}
