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
    this.stop = el('span', { class: 'stop' }, '⊖');
    this.held = el('div', { class: 'state' }, this.tokens, this.age, this.stop);
    this.rate = el('div', { class: 'rate num' });
  }

  /**
   * Writes what differs.
   * @param {import('./elements.js').ElementState} state
   * @param {import('./heat.js').HeatScale} scale
   */
  show(state, scale) {
    const { tokens, age } = state;
    say(this.tokens, tokens ? count(tokens) : tokens === null && !this.flow ? unknown : '');
    say(this.age, tokens && age && age >= young ? shortAge(age) : '');
    this.stop.hidden = !state.blocked;
    this.held.hidden = !tokens && !state.blocked && (tokens !== null || this.flow);
    this.held.classList.toggle('old', state.heat > 0.5);
    this.held.style.setProperty('--fill', scale.fill(state.heat));
    this.held.style.setProperty('--on-fill', scale.ink(state.heat));
    say(this.rate, state.rate ? rate(state.rate) : '');
    this.rate.hidden = !state.rate;
  }
}
