// SPDX-License-Identifier: Apache-2.0

const cell = 200;

/** Nodes by where they are, so that a look around a point does not pass all of them. */
export class Grid {
  /** @param {{x: number, y: number, w: number, h: number}[]} nodes */
  constructor(nodes) {
    /** @type {Map<number, number[]>} */ this.cells = new Map();
    /** Half the size of the largest node. */ this.reach = 0;
    nodes.forEach((n, i) => {
      this.reach = Math.max(this.reach, n.w / 2, n.h / 2);
      const key = keyOf(Math.floor(n.x / cell), Math.floor(n.y / cell));
      const there = this.cells.get(key);
      if (there) there.push(i);
      else this.cells.set(key, [i]);
    });
  }

  /**
   * Calls with each node that may be within a distance of a point.
   * @param {number} x
   * @param {number} y
   * @param {number} distance from the border of a node
   * @param {(node: number) => void} visit
   */
  around(x, y, distance, visit) {
    const far = distance + this.reach;
    for (let i = Math.floor((x - far) / cell); i <= Math.floor((x + far) / cell); i++) {
      for (let k = Math.floor((y - far) / cell); k <= Math.floor((y + far) / cell); k++) this.cells.get(keyOf(i, k))?.forEach(visit);
    }
  }
}

/**
 * @param {number} i column
 * @param {number} k row
 */
function keyOf(i, k) {
  return i * 1e6 + k;
}
