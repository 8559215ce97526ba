// SPDX-License-Identifier: Apache-2.0

const closest = 4;
/** A scale at which all is written. */
const near = 0.85;
/** A screen narrower than this, in pixels, opens at the oldest token where all would be smaller than this scale. */
export const narrow = { width: 560, scale: 0.45 };

/** Which part of the drawing is seen: screen = world × scale + (x, y). */
export class Camera {
  constructor() {
    this.x = 0;
    this.y = 0;
    this.scale = 1;
    /** The scale at which all is seen. */ this.fitScale = 1;
    /** The reader has moved it, so it does not fit by itself any more. */ this.touched = false;
  }

  /**
   * @param {number} x
   * @param {number} y
   * @returns {[number, number]}
   */
  toWorld(x, y) {
    return [(x - this.x) / this.scale, (y - this.y) / this.scale];
  }

  /**
   * @param {number} dx pixels
   * @param {number} dy
   */
  pan(dx, dy) {
    this.x += dx;
    this.y += dy;
    this.touched = true;
  }

  /**
   * Keeps the middle in the middle of a screen that changed its size.
   * @param {number} dx pixels
   * @param {number} dy
   */
  shift(dx, dy) {
    this.x += dx;
    this.y += dy;
  }

  /**
   * Scales about a point of the screen.
   * @param {number} factor
   * @param {number} x
   * @param {number} y
   */
  zoom(factor, x, y) {
    const scale = Math.max(Math.min(0.4, this.fitScale * 0.5), Math.min(closest, this.scale * factor));
    const [wx, wy] = this.toWorld(x, y);
    this.scale = scale;
    this.x = x - wx * scale;
    this.y = y - wy * scale;
    this.touched = true;
  }

  /**
   * Shows a whole box.
   * @param {{left: number, top: number, right: number, bottom: number}} box
   * @param {number} width of the screen
   * @param {number} height
   * @param {number} [foot] at the lower edge, which something else covers
   * @param {number} [head] at the upper edge
   */
  fit(box, width, height, foot = 0, head = 0) {
    const margin = Math.min(48, width / 14);
    const above = Math.max(0, head - margin);
    height -= above + Math.max(0, foot - margin);
    const w = box.right - box.left;
    const h = box.bottom - box.top;
    this.scale = Math.min(1.2, (width - 2 * margin) / Math.max(1, w), (height - 2 * margin) / Math.max(1, h));
    this.fitScale = this.scale;
    this.x = width / 2 - ((box.left + box.right) / 2) * this.scale;
    this.y = above + height / 2 - ((box.top + box.bottom) / 2) * this.scale;
    this.touched = false;
  }

  /**
   * Brings a point into the middle, close enough to read if nothing else is said.
   * @param {number} wx
   * @param {number} wy
   * @param {number} width
   * @param {number} height
   * @param {number} [scale] at least
   */
  center(wx, wy, width, height, scale = near) {
    this.scale = Math.max(this.scale, scale);
    this.x = width / 2 - wx * this.scale;
    this.y = height / 2 - wy * this.scale;
    this.touched = true;
  }

  /**
   * Brings a point into the middle at a scale, within what zooming allows.
   * @param {number} wx
   * @param {number} wy
   * @param {number} width
   * @param {number} height
   * @param {number} scale
   */
  to(wx, wy, width, height, scale) {
    this.zoom(scale / this.scale, 0, 0);
    this.x = width / 2 - wx * this.scale;
    this.y = height / 2 - wy * this.scale;
  }

  /**
   * Moves only if a point is not well inside.
   * @param {number} wx
   * @param {number} wy
   * @param {number} width
   * @param {number} height
   */
  reveal(wx, wy, width, height) {
    const sx = wx * this.scale + this.x;
    const sy = wy * this.scale + this.y;
    const margin = Math.min(80, width / 5);
    const dx = Math.max(0, margin - sx) - Math.max(0, sx - (width - margin));
    const dy = Math.max(0, margin - sy) - Math.max(0, sy - (height - margin));
    if (dx || dy) this.pan(dx, dy);
  }
}
