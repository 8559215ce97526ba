// SPDX-License-Identifier: Apache-2.0
import { along } from './way.js';

/** How long a firing takes to be seen: half on the way in, half on the way out. */
const travel = 1100;
/** Bounds of the dots at once, and of those of one transition a second. */
const most = 240;
const fastest = 10;

/** @typedef {import('./way.js').Way & {from: number, to: number}} FlowArc from one node to another */

/**
 * Dots that travel along the arcs as transitions fire, as often as measured:
 * one dot is one firing, or 10, 100, … of them (and drawn larger) where one
 * each would be too many to see.
 */
export class Flow {
  constructor() {
    /** @type {{row: number, ins: FlowArc[], outs: FlowArc[], rate: number, worth: number, due: number}[]} */
    this.transitions = [];
    /** @type {{transition: number, begun: number, worth: number}[]} */ this.firings = [];
    this.last = 0;
  }

  /** @param {import('./scene.js').Scene|null} scene */
  draw(scene) {
    /** @type {{row: number, ins: FlowArc[], outs: FlowArc[]}[]} */ const transitions = [];
    for (let node = scene?.placeCount ?? 0; scene && node < scene.nodes.length; node++) {
      const arcs = scene.arcsOf[node].map((a) => scene.arcs[a]).filter((a) => a.kind === 'normal');
      transitions.push({ row: node - (scene?.placeCount ?? 0), ins: arcs.filter((a) => a.to === node), outs: arcs.filter((a) => a.from === node) });
    }
    this.take(transitions);
  }

  /**
   * Takes the transitions of any drawing, with the arcs along which dots travel to each and from it.
   * @param {{row: number, ins: FlowArc[], outs: FlowArc[]}[]} transitions
   */
  take(transitions) {
    this.firings = [];
    this.transitions = transitions.map((t) => ({ ...t, rate: 0, worth: 1, due: (t.row * 0.618) % 1 }));
  }

  /**
   * @param {import('./frame.js').Frame|null} frame
   * @param {number} [times] how many times faster it is shown than it was
   */
  measure(frame, times = 1) {
    for (let bound = fastest; bound > fastest / 1000; bound /= 10) {
      let dots = 0;
      this.transitions.forEach((t) => {
        t.rate = Math.max(0, frame?.transitions[t.row]?.rate ?? 0) * times;
        t.worth = 10 ** Math.max(0, Math.ceil(Math.log10(t.rate / bound)));
        dots += ((t.rate / t.worth) * Math.max(t.ins.length, t.outs.length) * travel) / 1000;
      });
      if (dots <= most * 0.8) return;
    }
  }

  /** @returns {number[]} how many firings the dots stand for, least first */
  get worths() {
    return [...new Set(this.transitions.filter((t) => t.rate > 0).map((t) => t.worth))].sort((a, b) => a - b);
  }

  /** Whether anything moves or will. */
  get busy() {
    return this.firings.length > 0 || this.transitions.some((t) => t.rate > 0);
  }

  /** @param {number} time ms, of requestAnimationFrame */
  step(time) {
    const seconds = Math.min(0.25, Math.max(0, (time - this.last) / 1000));
    this.last = time;
    this.firings = this.firings.filter((f) => time - f.begun < travel);
    this.transitions.forEach((t, i) => {
      t.due += (t.rate / t.worth) * seconds;
      for (; t.due >= 1; t.due--) {
        if (this.firings.length < most) this.firings.push({ transition: i, worth: t.worth, begun: time - Math.min(seconds * 1000, ((t.due - 1) * 1000 * t.worth) / t.rate) });
      }
    });
  }

  /**
   * Calls with the place of each dot in the drawing.
   * @param {number} time
   * @param {(node: number) => number} grown how much larger than laid out a node is drawn
   * @param {(arc: FlowArc) => boolean} seen
   * @param {(x: number, y: number, worth: number) => void} dot
   */
  dots(time, grown, seen, dot) {
    let left = most;
    for (const f of this.firings) {
      const share = (time - f.begun) / travel;
      const t = this.transitions[f.transition];
      const [arcs, part] = share < 0.5 ? [t.ins, share * 2] : [t.outs, share * 2 - 1];
      for (const arc of arcs) {
        if (!seen(arc)) continue;
        if (left-- <= 0) return;
        const begin = grown(arc.from);
        const [x, y] = along(arc, begin + Math.max(0, arc.length - begin - grown(arc.to)) * part * part * (3 - 2 * part));
        dot(x, y, f.worth);
      }
    }
  }
}

/** Dots are painted this often, ms; panning and zooming as often as the screen. */
export const dotPause = 30;

/**
 * The radius of a dot, pixels: larger for one that stands for several firings.
 * @param {number} scale
 * @param {number} worth
 */
export function dotRadius(scale, worth) {
  return Math.max(1.1, Math.min(4, 6.5 * scale)) * (1 + 0.35 * Math.log10(worth));
}
