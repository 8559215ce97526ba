// SPDX-License-Identifier: Apache-2.0

/**
 * @typedef {[tokens: number|null, oldest: number|null, instances: number|null, arrivals: number|null]} PlaceRow
 *   oldest: injection of the oldest token, ms since the Unix epoch, 0 where there is none; arrivals a second
 * @typedef {[rate: number|null, enabled: number|null, since: number|null, running: number|null, blocked: number|null, failures: number|null]} TransitionRow
 * @typedef {{net: string, drawing: string, generation: number, at: number, places: PlaceRow[], transitions: TransitionRow[]}} FrameMessage
 * @typedef {{generation: number, at: number, p?: (number|null)[][], t?: (number|null)[][]}} DiffMessage
 */

/** All numbers of one net at one moment, in the order of its drawing. */
export class Frame {
  /** @param {FrameMessage} message */
  constructor(message) {
    this.net = message.net;
    this.drawing = message.drawing;
    this.generation = message.generation;
    this.at = message.at;
    this.places = message.places;
    this.transitions = message.transitions;
  }

  /**
   * Replaces the rows that a diff names.
   * @param {DiffMessage} diff
   */
  apply(diff) {
    this.generation = diff.generation;
    this.at = diff.at;
    for (const [i, ...row] of diff.p ?? []) this.places[/** @type {number} */ (i)] = /** @type {PlaceRow} */ (row);
    for (const [i, ...row] of diff.t ?? []) this.transitions[/** @type {number} */ (i)] = /** @type {TransitionRow} */ (row);
  }

  /**
   * Seconds since the oldest token of place i came, 0 where there is none,
   * null where nobody knows.
   * @param {number} i
   * @param {number} now ms by the server's clock
   */
  oldestAge(i, now) {
    return since(this.places[i]?.[1], now);
  }

  /**
   * Seconds for which transition i has been enabled, see oldestAge.
   * @param {number} i
   * @param {number} now
   */
  enabledAge(i, now) {
    return since(this.transitions[i]?.[2], now);
  }

  /**
   * The places that hold a token of known age, oldest first. Final places are
   * left out: their tokens are finished work.
   * @param {{final?: boolean}[]} nodes of the drawing
   * @returns {number[]}
   */
  byAge(nodes) {
    const order = [];
    for (let i = 0; i < this.places.length; i++) if (this.places[i][1] && !nodes[i]?.final) order.push(i);
    return order.sort((a, b) => /** @type {number} */ (this.places[a][1]) - /** @type {number} */ (this.places[b][1]) || a - b);
  }

  /** @returns {{tokens: number|null, rate: number|null}} sums of what is known */
  totals() {
    return { tokens: sum(this.places.map((p) => p[0])), rate: sum(this.transitions.map((t) => t[0])) };
  }
}

/**
 * @param {number|null|undefined} then
 * @param {number} now
 */
function since(then, now) {
  if (then == null) return null;
  return then === 0 ? 0 : Math.max(0, (now - then) / 1000);
}

/** @param {(number|null)[]} values */
function sum(values) {
  const known = values.filter((v) => v != null);
  return known.length ? known.reduce((a, b) => /** @type {number} */ (a) + /** @type {number} */ (b), 0) : null;
}
