// SPDX-License-Identifier: Apache-2.0
import { el } from './dom.js';
import { Flow, dotPause, dotRadius } from './flow.js';
import { halves } from './shapes.js';
import { measured } from './way.js';

/** Dots that travel along the sequence flows of a BPMN diagram, with the meaning of those in a net. */
export class Dots {
  /**
   * @param {import('./model.js').Model} model
   * @param {() => boolean} shown whether the reader sees the diagram
   */
  constructor(model, shown) {
    this.model = model;
    this.shown = shown;
    this.flow = new Flow();
    this.canvas = /** @type {HTMLCanvasElement} */ (el('canvas', { class: 'dots', 'aria-hidden': 'true' }));
    this.calm = matchMedia('(prefers-reduced-motion: reduce)');
    /** @type {any} */ this.viewer = null;
    this.asked = this.painted = 0;
    this.colour = '';
    for (const type of ['frame', 'address', 'link']) model.addEventListener(type, () => this.measure());
    this.calm.addEventListener('change', () => this.#ask());
  }

  /** Whether dots are to be seen. */
  get moving() {
    const { at, playing, live } = this.model;
    return !this.calm.matches && this.shown() && this.flow.busy && (at ? playing > 0 : live.up);
  }

  /**
   * Takes the flows that a viewer shows.
   * @param {any} viewer
   * @param {string[]} calls
   */
  draw(viewer, calls) {
    this.viewer = viewer;
    const { scene } = this.model;
    viewer.get('canvas').getContainer().querySelector('svg').after(this.canvas); // below the numbers
    this.flow.take(scene?.elements ? ways(viewer, scene, calls) : []);
    this.measure();
  }

  measure() {
    const { model } = this;
    this.flow.measure(model.at ? (model.playing ? model.shown : null) : model.live.up ? model.current : null, model.playing || 1);
    this.colour = getComputedStyle(this.canvas).color;
    this.#ask();
  }

  #ask() {
    if (!this.asked && this.viewer && (this.moving || this.painted)) this.asked = requestAnimationFrame((time) => this.#next(time));
  }

  /** @param {number} time */
  #next(time) {
    this.asked = 0;
    if (!this.moving) this.#clear();
    else if (time - this.painted >= dotPause) this.#paint(time);
    if (this.moving) this.#ask();
  }

  #clear() {
    this.painted = 0;
    this.canvas.getContext('2d')?.clearRect(0, 0, this.canvas.width, this.canvas.height);
  }

  /** @param {number} time */
  #paint(time) {
    const { canvas, flow } = this;
    const ctx = canvas.getContext('2d');
    if (!ctx) return;
    this.painted = time;
    flow.step(time);
    const ratio = devicePixelRatio;
    const [width, height] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    const { x, y, scale } = this.viewer.get('canvas').viewbox();
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, width, height);
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.fillStyle = this.colour;
    flow.dots(time, () => 0, () => true, (wx, wy, worth) => {
      ctx.beginPath();
      ctx.arc((wx - x) * scale, (wy - y) * scale, dotRadius(scale, worth), 0, 2 * Math.PI);
      ctx.fill();
    });
  }
}

/**
 * The transitions of the elements that are shown, with the flows before and after each. The token
 * of an event gateway stays before it; so the way to an event leads over the gateway.
 * @param {any} viewer
 * @param {import('./scene.js').Scene} scene
 * @param {string[]} calls
 */
function ways(viewer, scene, calls) {
  const elements = /** @type {import('./elements.js').Elements} */ (scene.elements);
  const canvas = viewer.get('canvas');
  const root = canvas.getRootElement();
  /** @type {Map<number, {flow: any, parts: ReturnType<typeof halves>}>} by place */ const flows = new Map();
  for (const flow of viewer.get('elementRegistry').filter((/** @type {any} */ s) => s.waypoints && s.type === 'bpmn:SequenceFlow' && canvas.findRoot(s) === root)) {
    for (const place of elements.at(calls, flow.id)?.places ?? []) flows.set(place, { flow, parts: halves(flow) });
  }
  const all = [];
  for (let node = scene.placeCount; flows.size && node < scene.nodes.length; node++) {
    const id = elements.of(node)?.id;
    const arcs = scene.arcsOf[node].map((a) => scene.arcs[a]).filter((a) => a.kind === 'normal');
    const ins = arcs.filter((a) => a.to === node && flows.has(a.from)).map((a) => {
      const { flow, parts } = /** @type {any} */ (flows.get(a.from));
      const next = flow.target?.id !== id && flow.target?.outgoing?.find((/** @type {any} */ f) => f.target?.id === id);
      const way = next ? measured([...parts[1].points, ...next.waypoints.map((/** @type {any} */ p) => [p.x, p.y])]) : parts[1];
      return { ...way, from: a.from, to: a.to };
    });
    const outs = arcs.filter((a) => a.from === node && flows.has(a.to)).map((a) => ({ .../** @type {any} */ (flows.get(a.to)).parts[0], from: a.from, to: a.to }));
    if (ins.length || outs.length) all.push({ row: node - scene.placeCount, ins, outs });
  }
  return all;
}
