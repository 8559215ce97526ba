// SPDX-License-Identifier: Apache-2.0
import { byId } from './dom.js';
import { heat } from './heat.js';
import { Palette } from './palette.js';
import { away, boxOf } from './sight.js';

const width = 180;
const height = 112;
const margin = 4;
/** How much of the net is seen if it need not be shown where. */
const allOfIt = 0.98;
/** A place that is hotter is drawn larger. */
const hot = 0.5;

/**
 * The whole net in a corner if only a part of it is seen: heat as dots, and a frame
 * around what is seen. A press or drag moves there; arrow keys do that on the drawing.
 */
export class Minimap {
  /**
   * @param {import('./model.js').Model} model
   * @param {import('./stage.js').Stage} stage
   * @param {import('./theme.js').Theme} theme
   */
  constructor(model, stage, theme) {
    this.model = model;
    this.stage = stage;
    this.palette = new Palette(theme.now);
    this.canvas = /** @type {HTMLCanvasElement} */ (byId('minimap'));
    this.ctx = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext('2d'));
    this.dots = document.createElement('canvas');
    this.ratio = Math.min(2, devicePixelRatio || 1);
    for (const c of [this.canvas, this.dots]) Object.assign(c, { width: width * this.ratio, height: height * this.ratio });
    this.scale = this.x = this.y = 0;
    this.asked = 0;
    this.stale = true;
    model.on('drawing frame address sight link', () => this.#ask(true));
    model.on('hover', () => this.#ask(false)); // the camera moved
    theme.addEventListener('change', () => {
      this.palette = new Palette(theme.now);
      this.#ask(true);
    });
    for (const type of /** @type {const} */ (['pointerdown', 'pointermove'])) this.canvas.addEventListener(type, (event) => this.#press(event));
  }

  /** @param {boolean} changed */
  #ask(changed) {
    this.stale ||= changed;
    if (!this.asked) this.asked = requestAnimationFrame(() => this.#paint());
  }

  /** @param {PointerEvent} event */
  #press(event) {
    if (!(event.buttons & 1)) return;
    if (event.type === 'pointerdown' && event.isTrusted) this.canvas.setPointerCapture(event.pointerId);
    const box = this.canvas.getBoundingClientRect();
    const zoom = width / box.width; // it is smaller on a phone
    this.stage.lookAt(((event.clientX - box.left) * zoom - this.x) / this.scale, ((event.clientY - box.top) * zoom - this.y) / this.scale);
    event.preventDefault();
  }

  #paint() {
    this.asked = 0;
    const { model, stage, canvas, ctx, ratio } = this;
    const scene = model.scene;
    const box = scene && (model.where.around ? boxOf(scene, stage.marks) : scene.box);
    canvas.hidden = !box || stage.away || !this.#partly(box);
    if (canvas.hidden || !scene || !box) return;
    this.scale = Math.min((width - 2 * margin) / (box.right - box.left), (height - 2 * margin) / (box.bottom - box.top));
    this.x = width / 2 - ((box.left + box.right) / 2) * this.scale;
    this.y = height / 2 - ((box.top + box.bottom) / 2) * this.scale;
    if (this.stale) this.#paintDots(scene);
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, canvas.width, canvas.height);
    ctx.drawImage(this.dots, 0, 0);
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    const [left, top] = stage.camera.toWorld(0, 0);
    const [right, bottom] = stage.camera.toWorld(stage.width, stage.height);
    const x = Math.max(1, left * this.scale + this.x);
    const y = Math.max(1, top * this.scale + this.y);
    ctx.strokeStyle = this.palette.accent;
    ctx.lineWidth = 1.5;
    ctx.strokeRect(x, y, Math.max(4, Math.min(width - 1, right * this.scale + this.x) - x), Math.max(4, Math.min(height - 1, bottom * this.scale + this.y) - y));
  }

  /**
   * Whether only a part of a box is seen.
   * @param {{left: number, top: number, right: number, bottom: number}} box
   */
  #partly(box) {
    const { camera, width: w, height: h } = this.stage;
    if (!w) return false;
    const [left, top] = camera.toWorld(0, 0);
    const [right, bottom] = camera.toWorld(w, h);
    const seen = Math.max(0, Math.min(right, box.right) - Math.max(left, box.left)) * Math.max(0, Math.min(bottom, box.bottom) - Math.max(top, box.top));
    return seen < allOfIt * (box.right - box.left) * (box.bottom - box.top);
  }

  /** @param {import('./scene.js').Scene} scene */
  #paintDots(scene) {
    this.stale = false;
    const ctx = /** @type {CanvasRenderingContext2D} */ (this.dots.getContext('2d'));
    const { palette, ratio } = this;
    const frame = this.model.shown;
    const now = this.model.now();
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, width, height);
    /** @type {[number, number][]} */
    const warm = [];
    ctx.fillStyle = palette.arc;
    scene.nodes.forEach((n, i) => {
      if (this.stage.marks[i] === away) return;
      const h = i < scene.placeCount && !n.calm && frame?.places[i]?.tokens ? heat(frame.oldestAge(i, now)) : 0;
      if (h > hot) warm.push([h, i]);
      const w = Math.max(1, n.w * this.scale);
      ctx.fillRect(n.x * this.scale + this.x - w / 2, n.y * this.scale + this.y - w / 2, w, Math.max(1, n.h * this.scale));
    });
    for (const [h, i] of warm.sort((a, b) => a[0] - b[0])) {
      ctx.fillStyle = palette.heat.fill(h);
      ctx.beginPath();
      ctx.arc(scene.nodes[i].x * this.scale + this.x, scene.nodes[i].y * this.scale + this.y, 0.6 + 2 * h, 0, 2 * Math.PI);
      ctx.fill();
    }
  }
}
