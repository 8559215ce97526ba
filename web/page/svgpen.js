// SPDX-License-Identifier: Apache-2.0
import { svg } from './dom.js';

/** Points are written this exactly. */
const round = (/** @type {number} */ n) => Math.round(n * 100) / 100;

/**
 * Draws SVG with the methods of a CanvasRenderingContext2D, those that Painter uses, so
 * that both pictures are of one painter.
 */
export class SvgPen {
  constructor() {
    this.root = svg('g', null);
    this.fillStyle = this.strokeStyle = '#000';
    this.lineWidth = this.globalAlpha = 1;
    this.lineCap = 'butt';
    this.lineJoin = 'miter';
    this.font = '10px sans-serif';
    // As Painter sets them: text stands around its point.
    this.textAlign = this.textBaseline = '';
    /** @type {number[]} */ this.dash = [];
    /** @type {string[]} */ this.path = [];
    this.ruler = /** @type {CanvasRenderingContext2D} */ (document.createElement('canvas').getContext('2d'));
  }

  /** @param {number[]} dash */
  setLineDash(dash) {
    this.dash = dash;
  }

  beginPath() {
    this.path = [];
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  moveTo(x, y) {
    this.path.push(`M${round(x)} ${round(y)}`);
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  lineTo(x, y) {
    this.path.push(`L${round(x)} ${round(y)}`);
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} r
   * @param {number} from angle, less than to
   * @param {number} to
   */
  arc(x, y, r, from, to) {
    const at = (/** @type {number} */ a) => `${round(x + r * Math.cos(a))} ${round(y + r * Math.sin(a))}`;
    const way = (/** @type {number} */ a, /** @type {number} */ b) => `A${round(r)} ${round(r)} 0 ${b - a > Math.PI ? 1 : 0} 1 ${at(b)}`;
    const middle = (from + to) / 2; // a whole circle is two arcs
    this.path.push(`${this.path.length ? 'L' : 'M'}${at(from)}${way(from, middle)}${way(middle, to)}`);
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} w
   * @param {number} h
   */
  rect(x, y, w, h) {
    this.path.push(`M${round(x)} ${round(y)}h${round(w)}v${round(h)}h${round(-w)}z`);
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} w
   * @param {number} h
   * @param {number} r
   */
  roundRect(x, y, w, h, r) {
    r = round(Math.min(r, w / 2, h / 2));
    const side = [round(w - 2 * r), round(h - 2 * r)];
    this.path.push(`M${round(x + r)} ${round(y)}h${side[0]}a${r} ${r} 0 0 1 ${r} ${r}v${side[1]}a${r} ${r} 0 0 1 ${-r} ${r}h${-side[0]}a${r} ${r} 0 0 1 ${-r} ${-r}v${-side[1]}a${r} ${r} 0 0 1 ${r} ${-r}z`);
  }

  fill() {
    this.#add('path', { d: this.path.join(''), fill: this.fillStyle });
  }

  stroke() {
    this.#add('path', { d: this.path.join(''), ...this.#line() });
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {number} height
   */
  fillRect(x, y, width, height) {
    this.#add('rect', { x: round(x), y: round(y), width: round(width), height: round(height), fill: this.fillStyle });
  }

  /**
   * @param {string} text
   * @param {number} x
   * @param {number} y
   */
  fillText(text, x, y) {
    this.#text(text, x, y, { fill: this.fillStyle });
  }

  /**
   * @param {string} text
   * @param {number} x
   * @param {number} y
   */
  strokeText(text, x, y) {
    this.#text(text, x, y, this.#line());
  }

  /** @param {string} text */
  measureText(text) {
    this.ruler.font = this.font;
    return this.ruler.measureText(text);
  }

  #line() {
    return { fill: 'none', stroke: this.strokeStyle, 'stroke-width': round(this.lineWidth), 'stroke-linecap': this.lineCap, 'stroke-linejoin': this.lineJoin,
      'stroke-dasharray': this.dash.length ? this.dash.join(' ') : null };
  }

  /**
   * @param {string} text
   * @param {number} x
   * @param {number} y
   * @param {Record<string, any>} paint
   */
  #text(text, x, y, paint) {
    const [, weight, size, family] = /** @type {RegExpExecArray} */ (/^(\d+ )?([\d.]+)px (.*)$/.exec(this.font));
    this.#add('text', { x: round(x), y: round(y), 'text-anchor': 'middle', 'dominant-baseline': 'central', 'font-family': family, 'font-size': size, 'font-weight': weight?.trim(), ...paint }, text);
  }

  /**
   * @param {string} tag
   * @param {Record<string, any>} attributes
   * @param {string} [text]
   */
  #add(tag, attributes, text) {
    if (attributes.d === '') return;
    this.root.append(svg(tag, { ...attributes, opacity: this.globalAlpha < 1 ? round(this.globalAlpha) : null }, text));
  }
}
