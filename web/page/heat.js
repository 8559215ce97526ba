// SPDX-License-Identifier: Apache-2.0
// Heat: how old the oldest token of a place is, on a logarithmic scale from a
// second to an hour. The lightness of the colours runs one way only, so that
// the order is seen without seeing hues.

/** @type {readonly (readonly [number, string])[]} the marks of the scale, in seconds, with their labels */
export const marks = Object.freeze([[1, '1 s'], [10, '10 s'], [60, '1 min'], [600, '10 min'], [3600, '1 h']]);

const hottest = Math.log10(3600);
const levels = 48;

/** From cold to hot: darker on light ground, lighter on dark ground. */
const ramps = Object.freeze({
  light: ['#dce8f4', '#ffe3a3', '#ffb35c', '#ea6a4a', '#ad2a6c', '#4c0f5e'],
  dark: ['#24364f', '#4a3f8c', '#97438f', '#dd5f5f', '#fca34a', '#fff0a8'],
});

/**
 * @param {number|null|undefined} age seconds
 * @returns {number} 0 (a second or less, none, not known) to 1 (an hour or more)
 */
export function heat(age) {
  if (!age || age <= 1) return 0;
  return Math.min(1, Math.log10(age) / hottest);
}

/** @param {string} hex */
function channels(hex) {
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

/** The colours of one theme, computed once. */
export class HeatScale {
  /** @param {'light'|'dark'} theme */
  constructor(theme) {
    const ramp = ramps[theme].map(channels);
    /** @type {string[]} */ this.fills = [];
    /** @type {string[]} */ this.inks = [];
    for (let i = 0; i <= levels; i++) {
      const at = (i / levels) * (ramp.length - 1);
      const k = Math.min(ramp.length - 2, Math.floor(at));
      const rgb = ramp[k].map((c, j) => Math.round(c + (ramp[k + 1][j] - c) * (at - k)));
      this.fills.push(`rgb(${rgb.join(', ')})`);
      this.inks.push(0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2] > 138 ? '#10141b' : '#f5f7fa');
    }
  }

  /**
   * A scale on which nothing is hot, for what age is no problem of.
   * @returns {HeatScale}
   */
  cold() {
    const scale = Object.assign(Object.create(HeatScale.prototype), this);
    scale.fills = this.fills.map(() => this.fills[0]);
    scale.inks = this.inks.map(() => this.inks[0]);
    return scale;
  }

  /** @param {number} h 0 to 1 */
  fill(h) {
    return this.fills[Math.round(h * levels)];
  }

  /**
   * What is written on that fill.
   * @param {number} h
   */
  ink(h) {
    return this.inks[Math.round(h * levels)];
  }
}
