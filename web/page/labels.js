// SPDX-License-Identifier: Apache-2.0
import { twoLines, visible } from './format.js';

const size = 10.5;
const line = 12;
const perCharacter = 5.9;
const cell = 40;
/** How far from its place, in pixels, and in how many directions a name of the first is tried that has no room beside the place. */
const rings = [20, 34, 50, 70, 95, 125, 160, 200, 250, 320, 400];
const directions = 24;
/** How far such a name may be beside the drawing, so that it is on the screen where all of the net is. */
const overhang = 16;
/** How large the hottest place is at least where nodes are dots. */
const dot = 3.6;
/** Places smaller than this have no room for their number. */
export const numbered = 7;

/** @typedef {{node: number, lines: string[], x: number, y: number, from?: [number, number]}} Written x: middle, y: of the first line; from: where the line to a place begins that is farther away */
/** @typedef {{left: number, top: number, right: number, bottom: number}} Box */
/**
 * @typedef {{marks: Uint8Array, version: number, only: boolean}} Sight which nodes are shown, see sight
 *   version: changes with marks; only: nodes are dots, and only the first places are named
 */

/** How large these labels are written, in pixels. */
export const smallFont = size;
export const smallLine = line;
/** How far names may be below the drawing, in pixels. */
export const below = 3 * line;

/**
 * Names of nodes where the drawing is too small for labels at their own size, and ages of
 * tokens: as many as fit, the first ones before others. None covers a node or another one.
 */
export class Labels {
  /** @param {import('./scene.js').Scene} scene */
  constructor(scene) {
    this.scene = scene;
    /** @type {Written[]} */ this.written = [];
    this.nodes = { key: '', taken: new Taken() };
    /** What is written beside nodes, and where the ages are that were asked for. */
    this.key = '';
    this.texts = new Taken();
    /** @type {Map<number, {x: number, y: number}|null>} */ this.ages = new Map();
  }

  /**
   * Where the age of a place is written: beside the place, and on nothing else.
   * @param {number} place
   * @param {number} scale
   * @param {(place: number) => number} radius on the screen
   * @param {boolean} labelled whether places have their labels below them
   * @param {Sight} sight
   * @returns {{x: number, y: number}|null} as if the drawing began at 0, 0; null where there is no room
   */
  age(place, scale, radius, labelled, sight) {
    const nodes = this.#nodes(scale, radius, labelled, sight);
    if (labelled) this.#begin(this.nodes.key);
    const found = this.ages.get(place);
    if (found !== undefined) return found;
    const n = this.scene.nodes[place];
    const r = radius(place) + 7;
    const around = [[0, -r - 7], [r + 18, -r], [-r - 18, -r], [r + 21, 0], [-r - 21, 0]].map(([dx, dy]) => ({ x: n.x * scale + dx, y: n.y * scale + dy }));
    const at = around.find((p) => nodes.free(ageBox(p)) && this.texts.free(ageBox(p))) ?? null;
    if (at) this.texts.add(ageBox(at));
    this.ages.set(place, at);
    return at;
  }

  /**
   * Forgets what is written, if it was for something else.
   * @param {string} key
   * @returns {boolean} whether it was
   */
  #begin(key) {
    if (key === this.key) return false;
    Object.assign(this, { key, texts: new Taken(), ages: new Map(), written: [] });
    return true;
  }

  /**
   * What nodes take on the screen.
   * @param {number} scale
   * @param {(place: number) => number} radius
   * @param {boolean} labelled
   * @param {Sight} sight
   */
  #nodes(scale, radius, labelled, { marks, version, only }) {
    const key = [scale.toFixed(4), labelled, only, version].join();
    if (this.nodes.key === key) return this.nodes.taken;
    const taken = new Taken();
    this.nodes = { key, taken };
    const { nodes, placeCount, labels } = this.scene;
    nodes.forEach((n, i) => {
      if (marks[i]) return;
      const least = i < placeCount ? Math.max(radius(i), only ? dot : 0) : 1.5;
      const w = Math.max(n.w * scale / 2, least);
      const h = Math.max(n.h * scale / 2, least);
      taken.add({ left: n.x * scale - w, right: n.x * scale + w, top: n.y * scale - h, bottom: n.y * scale + h });
      if (!labelled || i >= placeCount) return;
      const half = (Math.max(...labels[i].map((l) => l.length)) * perCharacter * scale * 1.15) / 2;
      taken.add({ left: n.x * scale - half, right: n.x * scale + half, top: n.y * scale + h, bottom: n.y * scale + h + (8 + 14 * labels[i].length) * scale });
    });
    return taken;
  }

  /**
   * @param {number} scale
   * @param {(place: number) => number} radius on the screen
   * @param {number[]} first nodes that are named before others, farther away where there is no room beside them; a line for the numbers of places is left free where these are not in the place
   * @param {Sight} sight
   * @returns {Written[]} as if the drawing began at 0, 0
   */
  lay(scale, radius, first, sight) {
    const nodes = this.#nodes(scale, radius, false, sight);
    if (!this.#begin([this.nodes.key, ...first].join())) return this.written;
    const { nodes: all, placeCount } = this.scene;
    const high = (/** @type {number} */ i) => (i < placeCount ? radius(i) : Math.max(1.5, (all[i].h * scale) / 2));
    for (const i of first) if (i < placeCount) this.age(i, scale, radius, false, sight);
    const early = new Set(first);
    for (const i of first) this.#write(i, scale, high(i), nodes, true);
    for (let i = 0; i < all.length && !sight.only; i++) if (!sight.marks[i] && !early.has(i)) this.#write(i, scale, high(i), nodes, false);
    return this.written;
  }

  /**
   * @param {number} i
   * @param {number} scale
   * @param {number} r half its height
   * @param {Taken} nodes
   * @param {boolean} first
   */
  #write(i, scale, r, nodes, first) {
    const n = this.scene.nodes[i];
    const lines = twoLines(visible(n.name || n.id), 14);
    const half = (Math.max(...lines.map((l) => l.length)) * perCharacter) / 2;
    const count = lines.length + Number(first && i < this.scene.placeCount && r < numbered);
    const high = (count - 1) * line;
    const [x, y] = [n.x * scale, n.y * scale];
    const box = (/** @type {{x: number, y: number}} */ p) => ({ left: p.x - half, right: p.x + half, top: p.y - line / 2 + 1, bottom: p.y + (count - 0.5) * line });
    const free = (/** @type {{x: number, y: number}} */ p) => nodes.free(box(p)) && this.texts.free(box(p));
    const under = { x, y: y + r + 7 + line / 2 };
    const over = { x, y: y - r - 9 - high - line / 2 };
    const beside = [over, { x: x + r + 6 + half, y: y - high / 2 }, { x: x - r - 6 - half, y: y - high / 2 }];
    const { left, right, bottom } = this.scene.box;
    const above = (/** @type {{x: number, y: number}} */ p) => box(p).bottom < bottom * scale + below && free(p);
    const transition = i >= this.scene.placeCount; // its rate is below it
    const near = (transition ? (first ? beside : [over]) : first ? [under, ...beside] : [under]).find(above);
    const inside = (/** @type {{x: number, y: number}} */ p) => p.x - half > left * scale - overhang && p.x + half < right * scale + overhang && above(p);
    const at = near ?? (first ? farther(x, y, half, high, inside) ?? farther(x, y, half, high, above) : null);
    if (!at) return;
    this.texts.add(box(at));
    const share = (r + 5) / Math.hypot(at.x - x, at.y - y); // outside of the place
    this.written.push({ node: i, lines, ...at, ...(near ? {} : { from: /** @type {[number, number]} */ ([x + (at.x - x) * share, y + (at.y - y) * share]) }) });
  }
}

/**
 * The nearest free middle of a name that is not beside its place.
 * @param {number} x
 * @param {number} y
 * @param {number} half its width
 * @param {number} high from the first line to the last one
 * @param {(p: {x: number, y: number}) => boolean} free
 */
function farther(x, y, half, high, free) {
  for (const r of rings) {
    for (let k = 0; k < directions; k++) {
      const angle = ((k + 5) * 2 * Math.PI) / directions; // below first
      const p = { x: x + Math.cos(angle) * (r + Math.min(half, r)), y: y + Math.sin(angle) * r - high / 2 };
      if (free(p)) return p;
    }
  }
  return null;
}

/**
 * What the age of a place takes that is written around a point.
 * @param {{x: number, y: number}} at
 * @returns {Box}
 */
function ageBox({ x, y }) {
  return { left: x - 20, right: x + 20, top: y - 6.5, bottom: y + 6.5 };
}

/** Boxes that are taken, in cells of a grid. */
class Taken {
  constructor() {
    /** @type {Map<number, Box[]>} */ this.cells = new Map();
  }

  /** @param {Box} box */
  add(box) {
    for (let x = Math.floor(box.left / cell); x <= Math.floor(box.right / cell); x++) {
      for (let y = Math.floor(box.top / cell); y <= Math.floor(box.bottom / cell); y++) {
        const boxes = this.cells.get(x * 1e6 + y);
        if (boxes) boxes.push(box);
        else this.cells.set(x * 1e6 + y, [box]);
      }
    }
  }

  /** @param {Box} box */
  free(box) {
    for (let x = Math.floor(box.left / cell); x <= Math.floor(box.right / cell); x++) {
      for (let y = Math.floor(box.top / cell); y <= Math.floor(box.bottom / cell); y++) {
        for (const b of this.cells.get(x * 1e6 + y) ?? []) {
          if (b.left < box.right && box.left < b.right && b.top < box.bottom && box.top < b.bottom) return false;
        }
      }
    }
    return true;
  }
}
