// SPDX-License-Identifier: Apache-2.0
import { label, twoLines } from './format.js';

const size = 10.5;
const line = 12;
const perCharacter = 5.9;
const cell = 80;
/** So few of the first are named whatever they cover; of more only the very first. */
const certain = 18;
/** Places smaller than this have no room for their number. */
export const numbered = 7;

/** @typedef {{node: number, lines: string[], x: number, y: number}} Written x: middle, y: of the first line */
/** @typedef {{left: number, top: number, right: number, bottom: number}} Box */
/**
 * @typedef {{marks: Uint8Array, version: number, only: boolean}} Sight which nodes are shown, see sight
 *   version: changes with marks; only: nodes are dots, which names may cover, and only the first places are named
 */

/** How large these labels are written, in pixels. */
export const smallFont = size;
export const smallLine = line;

/**
 * Names of places where the drawing is too small for labels at their own size:
 * as many as fit beside each other, the first ones in any case.
 */
export class Labels {
  /** @param {import('./scene.js').Scene} scene */
  constructor(scene) {
    this.scene = scene;
    this.key = '';
    /** @type {Written[]} */ this.written = [];
    /** @type {{key: string, taken: Taken|null, at: Map<number, {x: number, y: number}|null>}} */ this.ages = { key: '', taken: null, at: new Map() };
  }

  /**
   * Where the age of a place is written: beside the place, and on no other node.
   * @param {number} place
   * @param {number} scale
   * @param {(place: number) => number} radius on the screen
   * @param {boolean} labelled whether places have their labels below them
   * @param {Sight} sight
   * @returns {{x: number, y: number}|null} as if the drawing began at 0, 0; null where there is no room
   */
  age(place, scale, radius, labelled, sight) {
    const key = [scale.toFixed(4), labelled, sight.only, sight.version].join();
    if (this.ages.key !== key) this.ages = { key, taken: sight.only ? new Taken() : this.#nodes(scale, radius, labelled, sight.marks), at: new Map() };
    const found = this.ages.at.get(place);
    if (found !== undefined) return found;
    const n = this.scene.nodes[place];
    const r = radius(place) + 7;
    const around = [[0, -r - 7], [r + 12, -r], [-r - 12, -r], [r + 15, 0], [-r - 15, 0]].map(([dx, dy]) => ({ x: n.x * scale + dx, y: n.y * scale + dy }));
    const at = around.find((p) => this.ages.taken?.free(ageBox(p))) ?? null;
    this.ages.at.set(place, at);
    return at;
  }

  /**
   * What nodes take on the screen.
   * @param {number} scale
   * @param {(place: number) => number} radius
   * @param {boolean} labelled
   * @param {Uint8Array} marks
   */
  #nodes(scale, radius, labelled, marks) {
    const taken = new Taken();
    const { nodes, placeCount, labels } = this.scene;
    nodes.forEach((n, i) => {
      if (marks[i]) return;
      const w = Math.max(n.w * scale / 2, i < placeCount ? radius(i) : 0);
      const h = Math.max(n.h * scale / 2, i < placeCount ? radius(i) : 0);
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
   * @param {number[]} first places that are named before others, beside other nodes where there is room; a line for their numbers is left free where these are not in the place
   * @param {Sight} sight
   * @returns {Written[]} as if the drawing began at 0, 0
   */
  lay(scale, radius, first, sight) {
    const key = [scale.toFixed(4), sight.only, sight.version, ...first].join();
    if (key === this.key) return this.written;
    this.key = key;
    this.written = [];
    const taken = sight.only ? new Taken() : this.#nodes(scale, radius, false, sight.marks);
    const { placeCount } = this.scene;
    for (const i of first) {
      const age = this.age(i, scale, radius, false, sight);
      if (age) taken.add(ageBox(age));
    }
    const others = sight.only ? [] : Array.from({ length: placeCount }, (_, i) => i).filter((i) => !sight.marks[i] && !first.includes(i));
    const order = [...first, ...others];
    order.forEach((i, rank) => this.#write(i, scale, radius(i), taken, rank < first.length, rank < (first.length <= certain ? first.length : 1)));
    return this.written;
  }

  /**
   * @param {number} i
   * @param {number} scale
   * @param {number} r
   * @param {Taken} taken
   * @param {boolean} first
   * @param {boolean} always
   */
  #write(i, scale, r, taken, first, always) {
    const n = this.scene.nodes[i];
    const lines = twoLines(label(n), 14);
    const half = (Math.max(...lines.map((l) => l.length)) * perCharacter) / 2;
    const count = lines.length + Number(first && r < numbered);
    const high = (count - 1) * line;
    const below = { x: n.x * scale, y: n.y * scale + r + 7 + line / 2 };
    const beside = [{ x: below.x, y: n.y * scale - r - 9 - high - line / 2 }, { x: below.x + r + 6 + half, y: n.y * scale - high / 2 }, { x: below.x - r - 6 - half, y: n.y * scale - high / 2 }];
    const box = (/** @type {{x: number, y: number}} */ { x, y }) => ({ left: x - half, right: x + half, top: y - line / 2 + 1, bottom: y + (count - 0.5) * line });
    const free = (first ? [below, ...beside] : [below]).find((p) => taken.free(box(p)));
    if (!always && !free) return;
    const at = free ?? below;
    taken.add(box(at));
    this.written.push({ node: i, lines, ...at });
  }
}

/**
 * What the age of a place takes that is written around a point.
 * @param {{x: number, y: number}} at
 * @returns {Box}
 */
function ageBox({ x, y }) {
  return { left: x - 14, right: x + 14, top: y - 6.5, bottom: y + 6.5 };
}

/** Boxes that are taken, in cells of a grid. */
class Taken {
  constructor() {
    /** @type {Map<string, Box[]>} */ this.cells = new Map();
  }

  /** @param {Box} box */
  add(box) {
    for (const key of keys(box)) {
      const boxes = this.cells.get(key);
      if (boxes) boxes.push(box);
      else this.cells.set(key, [box]);
    }
  }

  /** @param {Box} box */
  free(box) {
    for (const key of keys(box)) {
      for (const b of this.cells.get(key) ?? []) {
        if (b.left < box.right && box.left < b.right && b.top < box.bottom && box.top < b.bottom) return false;
      }
    }
    return true;
  }
}

/**
 * The cells that a box touches.
 * @param {Box} box
 */
function* keys(box) {
  for (let x = Math.floor(box.left / cell); x <= Math.floor(box.right / cell); x++) {
    for (let y = Math.floor(box.top / cell); y <= Math.floor(box.bottom / cell); y++) yield x + ' ' + y;
  }
}
