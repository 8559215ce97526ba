// SPDX-License-Identifier: Apache-2.0

/**
 * Rows have the fields of the API. What is not known is absent; since is the
 * time in oldest_since or enabled_since, ms since the Unix epoch, 0 for none.
 * @typedef {{tokens?: number, oldest_since?: string, instances?: number, arrival_rate?: number, since?: number}} PlaceRow
 * @typedef {{rate?: number, enabled?: number, enabled_since?: string, running?: number, blocked?: number, failures?: number, since?: number}} TransitionRow
 * @typedef {{net: string, drawing: string, generation: number, at: string, resting?: number[], places: PlaceRow[], transitions: TransitionRow[]}} FrameMessage
 *   resting: the places in which tokens may stay
 * @typedef {{generation: number, at: string, places: ({index: number} & PlaceRow)[], transitions: ({index: number} & TransitionRow)[]}} DiffMessage
 */

/** All numbers of one net at one moment, in the order of its drawing. */
export class Frame {
  /** @param {FrameMessage} message */
  constructor(message) {
    this.net = message.net;
    this.drawing = message.drawing;
    this.generation = message.generation;
    this.at = Date.parse(message.at);
    this.resting = message.resting ?? [];
    this.places = message.places.map(dated);
    this.transitions = message.transitions.map(dated);
  }

  /**
   * Replaces the rows that a diff names.
   * @param {DiffMessage} diff
   */
  apply(diff) {
    this.generation = diff.generation;
    this.at = Date.parse(diff.at);
    for (const row of diff.places) this.places[row.index] = dated(row);
    for (const row of diff.transitions) this.transitions[row.index] = dated(row);
  }

  /**
   * Seconds since the oldest token of place i came, 0 where there is none,
   * null where that is not known.
   * @param {number} i
   * @param {number} now ms by the server's clock
   */
  oldestAge(i, now) {
    const row = this.places[i];
    return age(row, row?.tokens, now);
  }

  /**
   * Seconds for which transition i has been enabled, see oldestAge.
   * @param {number} i
   * @param {number} now
   */
  enabledAge(i, now) {
    const row = this.transitions[i];
    return age(row, row?.enabled, now);
  }

  /**
   * The places that hold a token of known age, oldest first. Calm places are
   * left out.
   * @param {{calm?: boolean}[]} nodes of the drawing
   * @returns {number[]}
   */
  byAge(nodes) {
    const order = [];
    for (let i = 0; i < this.places.length; i++) if (this.places[i].since && !nodes[i]?.calm) order.push(i);
    return order.sort((a, b) => /** @type {number} */ (this.places[a].since) - /** @type {number} */ (this.places[b].since) || a - b);
  }
}

/**
 * A row with the time that it is since.
 * @template {PlaceRow & TransitionRow} T
 * @param {T} row
 * @returns {T}
 */
function dated(row) {
  const since = row.oldest_since ?? row.enabled_since;
  row.since = since ? Date.parse(since) : 0;
  return row;
}

/**
 * @param {{since?: number}|undefined} row
 * @param {number|undefined} n how many there are
 * @param {number} now
 */
function age(row, n, now) {
  if (row?.since) return Math.max(0, (now - row.since) / 1000);
  return n === 0 ? 0 : null;
}
