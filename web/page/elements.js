// SPDX-License-Identifier: Apache-2.0
import { heat } from './heat.js';

/**
 * The part of the net of one element of a model: rows of places and transitions.
 * @typedef {{id: string, calls?: string[], places: number[], transitions: number[], tokens: number[], fires: number[]}} Element
 * @typedef {{kind: string, digest?: string, missing?: string, files?: number, file?: number, elements: Element[]}} DrawnModel
 *   files: how many; file: which one has the net's process
 * @typedef {{tokens: number|null, age: number|null, heat: number, final: boolean, rate: number|null, blocked: boolean}} ElementState
 *   final: its tokens are finished work, so their age is no problem
 */

/** The elements of a model, and the numbers of each. */
export class Elements {
  /**
   * @param {DrawnModel} model
   * @param {import('./scene.js').DrawnNode[]} nodes of the drawing
   * @param {number} placeCount
   */
  constructor(model, nodes, placeCount) {
    this.nodes = nodes;
    this.placeCount = placeCount;
    /** @type {Map<string, Element>} */ this.index = new Map();
    /** @type {Map<number, Element>} */ this.owners = new Map();
    for (const e of model.elements) {
      this.index.set(key(e.calls ?? [], e.id), e);
      for (const node of [...e.places, ...this.#transitions(e)]) this.owners.set(node, e);
    }
    for (const e of model.elements) for (const place of e.tokens) this.owners.set(place, e);
  }

  /**
   * @param {string[]} calls the call activities around it
   * @param {string} id of the file
   */
  at(calls, id) {
    return this.index.get(key(calls, id));
  }

  /**
   * The element that has a node of the drawing: that at which its tokens are.
   * @param {number} node
   */
  of(node) {
    return this.owners.get(node);
  }

  /** @param {Element} e */
  #transitions(e) {
    return e.transitions.map((row) => row + this.placeCount);
  }

  /**
   * The nodes of an element: the most telling one first, which is the place of the oldest
   * token, else what fires, else a place.
   * @param {Element} e
   * @param {import('./frame.js').Frame|null} frame
   * @returns {number[]}
   */
  nodesOf(e, frame) {
    const since = (/** @type {number} */ place) => (this.nodes[place].calm ? 0 : frame?.places[place]?.since) || Infinity;
    const held = e.tokens.filter((p) => frame?.places[p]?.tokens !== 0).sort((a, b) => since(a) - since(b));
    const fires = e.fires.map((row) => row + this.placeCount);
    return [...new Set([...held, ...fires, ...e.tokens, ...e.places, ...this.#transitions(e)])];
  }

  /**
   * @param {Element} e
   * @param {import('./frame.js').Frame|null} frame
   * @param {number} now ms by the server's clock
   * @returns {ElementState}
   */
  state(e, frame, now) {
    const held = e.tokens.filter((p) => frame?.places[p]?.tokens);
    const oldest = (/** @type {number[]} */ places) => {
      const ages = places.map((p) => frame?.oldestAge(p, now)).filter((a) => typeof a === 'number');
      return ages.length ? Math.max(...ages) : null;
    };
    const unfinished = held.filter((p) => !this.nodes[p].final);
    const rows = e.transitions.map((row) => frame?.transitions[row] ?? {});
    return {
      tokens: e.tokens.length ? sum(e.tokens.map((p) => frame?.places[p]?.tokens)) : 0,
      age: oldest(unfinished), heat: heat(oldest(unfinished.filter((p) => !this.nodes[p].calm))), final: held.length > 0 && !unfinished.length,
      rate: e.fires.length ? sum(e.fires.map((row) => frame?.transitions[row]?.rate)) : sum(e.places.map((p) => frame?.places[p]?.arrival_rate)),
      blocked: rows.some((t) => t.blocked) && !rows.some((t) => t.running),
    };
  }
}

/**
 * The sum, null where there is nothing known to add.
 * @param {(number|null|undefined)[]} numbers
 */
function sum(numbers) {
  const known = numbers.filter((n) => typeof n === 'number');
  return known.length ? known.reduce((a, b) => a + b, 0) : null;
}

/**
 * @param {string[]} calls
 * @param {string} id
 */
function key(calls, id) {
  return [...calls, id].join('\n');
}
