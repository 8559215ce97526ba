// SPDX-License-Identifier: Apache-2.0

/**
 * The server's clock as this page knows it: its own clock and the difference,
 * learnt from the times in what the server sends. A message is late, never
 * early, so the largest difference of the last minute or so is the best one.
 */
export class Clock {
  constructor() {
    /** @type {number[]} */ this.differences = [];
  }

  /** @param {number} at the server's time in what just came, ms */
  observe(at) {
    this.differences.push(at - Date.now());
    if (this.differences.length > 60) this.differences.shift();
  }

  /** Forgets the differences: another server may answer now. */
  reset() {
    this.differences = [];
  }

  /** @returns {number|undefined} how far the server's clock is ahead of this page's, ms; undefined until a few messages came */
  get ahead() {
    return this.differences.length < 3 ? undefined : Math.max(...this.differences);
  }

  /** @returns {number} ms since the Unix epoch by the server's clock */
  now() {
    return Date.now() + (this.differences.length ? Math.max(...this.differences) : 0);
  }
}
