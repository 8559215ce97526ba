// SPDX-License-Identifier: Apache-2.0
import { label, twoLines } from './format.js';

const size = 10.5;
const line = 12;
const perCharacter = 5.9;
const cell = 80;

/** @typedef {{node: number, lines: string[], x: number, y: number}} Written x: middle, y: of the first line */
/** @typedef {{left: number, top: number, right: number, bottom: number}} Box */

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
  }

  /**
   * @param {number} scale
   * @param {(place: number) => number} radius on the screen
   * @param {number[]} first places that are named whatever they cover
   * @returns {Written[]} as if the drawing began at 0, 0
   */
  lay(scale, radius, first) {
    const key = scale.toFixed(4) + ' ' + first.join();
    if (key === this.key) return this.written;
    this.key = key;
    this.written = [];
    const taken = new Taken();
    const { nodes, placeCount } = this.scene;
    nodes.forEach((n, i) => {
      const w = Math.max(n.w * scale / 2, i < placeCount ? radius(i) : 0);
      const h = Math.max(n.h * scale / 2, i < placeCount ? radius(i) : 0);
      taken.add({ left: n.x * scale - w, right: n.x * scale + w, top: n.y * scale - h, bottom: n.y * scale + h });
    });
    const order = [...first, ...Array.from({ length: placeCount }, (_, i) => i).filter((i) => !first.includes(i))];
    order.forEach((i, rank) => this.#write(i, scale, radius(i), taken, rank < first.length));
    return this.written;
  }

  /**
   * @param {number} i
   * @param {number} scale
   * @param {number} r
   * @param {Taken} taken
   * @param {boolean} always
   */
  #write(i, scale, r, taken, always) {
    const n = this.scene.nodes[i];
    const lines = twoLines(label(n), 14);
    const half = (Math.max(...lines.map((l) => l.length)) * perCharacter) / 2;
    const x = n.x * scale;
    const y = n.y * scale + r + 7 + line / 2;
    const box = { left: x - half, right: x + half, top: y - line / 2 + 1, bottom: y + (lines.length - 0.5) * line };
    if (!always && !taken.free(box)) return;
    taken.add(box);
    this.written.push({ node: i, lines, x, y });
  }
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
