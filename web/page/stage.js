// SPDX-License-Identifier: Apache-2.0
import { Camera, narrow } from './camera.js';
import { paintChanges } from './changes.js';
import { Flow, dotPause, dotRadius } from './flow.js';
import { age, count, label, rate, waiting } from './format.js';
import { gestures } from './gestures.js';
import { below } from './labels.js';
import { Painter } from './painter.js';
import { Palette } from './palette.js';
import { about, isMild, urgency } from './problem.js';
import { boxOf, sight } from './sight.js';

/** Share of the screen painted ahead on each side, for panning. */
const ahead = 0.25;
/** A painting slower than this, ms, is put off until the hand rests. */
const dear = 16;
const rest = 120;
/** It is put off for so long at most, ms, and while the layer is shown at these factors. */
const patience = 2000;
const stretch = [0.55, 2.5];
/** A node that was looked for is marked for so long, ms. */
const flashing = 1400;
/** Below this scale a node that is gone to is brought nearer. */
const legible = 0.28;

/**
 * The drawing on its canvas. The net is painted into a layer larger than the
 * screen when its numbers change; between that a frame copies the layer and
 * adds the dots, and while nothing changes there are no frames.
 */
export class Stage {
  /**
   * @param {import('./model.js').Model} model
   * @param {HTMLCanvasElement} canvas
   * @param {import('./theme.js').Theme} theme
   */
  constructor(model, canvas, theme) {
    this.model = model;
    this.canvas = canvas;
    /** @type {number[]} */ this.others = [];
    this.theme = theme;
    this.ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d', { alpha: false }));
    this.layer = document.createElement('canvas');
    this.painter = new Painter(/** @type {CanvasRenderingContext2D} */ (this.layer.getContext('2d', { alpha: false })), new Palette(theme.now));
    /** Where the camera stood when the layer was painted. */
    this.painted = { x: 0, y: 0, scale: 0, cost: 0, at: 0 };
    this.camera = new Camera();
    this.flow = new Flow();
    this.calm = matchMedia('(prefers-reduced-motion: reduce)');
    this.width = this.height = this.ratio = 0;
    /** The node under the mouse and the one the arrow keys are at, -1 for none. */
    this.hovered = this.cursor = -1;
    /** How each node is shown, see sight, and a number that changes with it. */
    /** @type {Uint8Array} */ this.marks = new Uint8Array(0);
    this.version = 0;
    /** The surroundings that the camera was put on. */
    this.around = '';
    /** Whether numbers were there when the drawing was fitted. */ this.begun = false;
    this.flash = { node: -1, until: 0 };
    this.hash = '';
    this.stale = true;
    this.movedAt = -Infinity;
    this.asked = 0;
    this.lastDots = 0;
    this.#listen();
  }

  #listen() {
    const { model } = this;
    model.on('drawing', () => this.#drawing());
    model.on('frame', () => this.#frame());
    model.on('overview link', () => {
      this.#sight();
      this.repaint();
    });
    model.on('address', () => this.#moved());
    this.theme.addEventListener('change', () => {
      this.painter.palette = new Palette(this.theme.now);
      this.repaint();
    });
    this.calm.addEventListener('change', () => this.#ask());
    new ResizeObserver(() => this.#resize()).observe(/** @type {Element} */ (this.canvas.parentElement));
    setInterval(() => (!model.at || model.comparing) && model.current?.places.some((p) => p.since) && this.repaint(), 1000); // they grow older
    gestures(this.canvas, {
      pan: (dx, dy) => this.#look(() => this.camera.pan(dx, dy)),
      zoom: (factor, x, y) => this.#look(() => this.camera.zoom(factor, x, y)),
      click: (x, y) => this.#click(x, y),
      hover: (x, y) => this.#hover(this.nodeAt(x, y)),
      leave: () => this.#hover(-1),
    });
  }

  /**
   * @param {number} x pixels of the canvas
   * @param {number} y
   */
  nodeAt(x, y) {
    return this.model.scene?.at(...this.camera.toWorld(x, y), 8 / this.camera.scale, this.seen) ?? -1;
  }

  /** @param {number} node */
  seen = (node) => this.marks[node] === 0;

  /**
   * Where a node is on the canvas.
   * @param {number} node
   */
  where(node) {
    const n = /** @type {import('./scene.js').Scene} */ (this.model.scene).nodes[node];
    const { scale, x, y } = this.camera;
    return { x: n.x * scale + x, y: n.y * scale + y, w: n.w * scale, h: n.h * scale };
  }

  /** @param {number} factor */
  zoom(factor) {
    this.#look(() => this.camera.zoom(factor, this.width / 2, this.height / 2));
  }

  fit() {
    const { scene, where } = this.model;
    const [legend, zoom] = ['legend', 'zoom'].map((id) => document.getElementById(id)); // a page in a frame has none
    const foot = legend?.offsetHeight ? this.height - legend.offsetTop + below : 0; // names are above it
    const head = zoom?.offsetHeight ? zoom.offsetTop + zoom.offsetHeight : 0;
    if (scene) this.#look(() => this.camera.fit(where.around ? boxOf(scene, this.marks) : scene.box, this.width, this.height, foot, head));
  }

  /** Shows what a reader sees first: all, or what is oldest where all could not be read. */
  #begin() {
    this.fit();
    const n = this.model.scene?.nodes[this.model.foremost];
    if (!n || this.width >= narrow.width || this.camera.scale >= narrow.scale || !document.getElementById('zoom')) return;
    this.#look(() => this.camera.center(n.x, n.y, this.width, this.height));
    this.camera.touched = false;
  }

  /**
   * Brings a point of the drawing into the middle.
   * @param {number} x
   * @param {number} y
   * @param {number} [scale]
   */
  lookAt(x, y, scale = this.camera.scale) {
    this.#look(() => this.camera.to(x, y, this.width, this.height, scale));
  }

  /**
   * Goes to a node that was looked for: into the middle, near enough to read, marked
   * for a moment.
   * @param {number} node
   */
  jump(node) {
    const n = this.model.scene?.nodes[node];
    if (!n) return;
    if (this.model.where.around && !this.seen(node)) this.model.address.go({ around: '' });
    this.cursor = node;
    this.flash = { node, until: performance.now() + flashing };
    this.canvas.dataset.flash = n.id;
    setTimeout(() => this.repaint(), flashing + 50);
    this.#look(() => this.camera.center(n.x, n.y, this.width, this.height));
  }

  /**
   * Puts the cursor of the keyboard on a node and shows it, nearer if it could
   * not be read.
   * @param {number} node
   */
  point(node) {
    const n = this.model.scene?.nodes[node];
    if (!n) return;
    this.cursor = node;
    if (this.camera.scale < legible) this.#look(() => this.camera.center(n.x, n.y, this.width, this.height));
    else this.#look(() => this.camera.reveal(n.x, n.y, this.width, this.height));
    this.model.dispatchEvent(new Event('hover'));
  }

  focus() {
    this.canvas.focus();
  }

  /**
   * Moves the cursor of the keyboard to the next node in a direction.
   * @param {number} dx
   * @param {number} dy
   * @returns {string} what is there, for a screen reader
   */
  step(dx, dy) {
    const { model } = this;
    if (!model.scene) return '';
    const next = this.cursor < 0 ? Math.max(0, model.selected(), model.hottest()) : model.scene.towards(this.cursor, dx, dy, this.seen);
    if (next < 0) return '';
    this.point(next);
    return describe(model, next);
  }

  /** Opens what the cursor of the keyboard is at. */
  open() {
    const node = this.model.scene?.nodes[this.cursor];
    if (node) this.model.select(node.kind, node.id);
  }

  /** Paints the net again with the next frame. */
  repaint() {
    this.stale = true;
    this.#ask();
  }

  /** @param {() => void} move */
  #look(move) {
    move();
    this.movedAt = performance.now();
    const { x, y, scale } = this.camera;
    // Where the drawing is, for those who find a node on the canvas from outside.
    this.canvas.dataset.camera = `${x.toFixed(1)} ${y.toFixed(1)} ${scale.toFixed(4)}`;
    this.model.dispatchEvent(new Event('hover'));
    this.#ask();
  }

  #drawing() {
    this.hovered = -1;
    const hash = this.model.scene?.hash ?? '';
    if (hash !== this.hash) this.cursor = -1; // otherwise the same nodes are elsewhere
    this.hash = hash;
    this.flow.draw(this.model.scene);
    // Which drawing is shown, for those who wait for it from outside.
    this.canvas.dataset.drawn = String(this.model.scene?.width ?? '');
    this.painted.cost = 0; // the layer shows something else, so it is not put off
    this.#sight();
    this.around = this.#surroundings();
    this.begun = this.model.shown !== null;
    this.#begin();
    this.repaint();
  }

  #frame() {
    const { model } = this;
    if (!this.begun && model.shown) {
      this.begun = true;
      if (!this.camera.touched) this.#begin();
    }
    this.flow.measure(model.at ? (model.playing ? model.shown : null) : model.live.up && !model.outdated ? model.current : null, model.playing || 1);
    this.#sight();
    this.repaint();
  }

  /** Finds out which nodes are shown. */
  #sight() {
    const marks = sight(this.model, this.#alarmed());
    if (marks.length === this.marks.length && marks.every((m, i) => m === this.marks[i])) return;
    this.marks = marks;
    this.version++;
    this.painted.cost = 0;
    this.model.dispatchEvent(new Event('sight'));
    this.repaint();
  }

  /** @returns {string} what surroundings the address asks for */
  #surroundings() {
    const { around, steps } = this.model.where;
    return around && `${steps} ${around}`;
  }

  #moved() {
    this.#sight();
    if (this.#surroundings() !== this.around) {
      this.around = this.#surroundings();
      this.fit();
    }
    const node = this.model.selected();
    if (node >= 0 && node !== this.cursor) this.point(node);
    this.repaint();
  }

  #resize() {
    const box = /** @type {Element} */ (this.canvas.parentElement).getBoundingClientRect();
    const ratio = Math.min(2, devicePixelRatio || 1);
    if (box.width < 1 || (box.width === this.width && box.height === this.height && ratio === this.ratio)) return;
    if (this.width) this.camera.shift((box.width - this.width) / 2, (box.height - this.height) / 2);
    Object.assign(this, { width: box.width, height: box.height, ratio });
    this.canvas.width = Math.ceil(box.width * ratio);
    this.canvas.height = Math.ceil(box.height * ratio);
    this.canvas.style.width = `${this.canvas.width / ratio}px`; // exactly, or every line is blurred
    this.canvas.style.height = `${this.canvas.height / ratio}px`;
    this.layer.width = Math.round(box.width * (1 + 2 * ahead) * ratio);
    this.layer.height = Math.round(box.height * (1 + 2 * ahead) * ratio);
    this.stale = true;
    this.painted.cost = 0; // the layer is empty now
    if (!this.camera.touched) this.#begin();
    else if (this.model.selected() >= 0) this.point(this.model.selected());
    this.paint(performance.now());
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  #click(x, y) {
    const node = this.nodeAt(x, y);
    const found = this.model.scene?.nodes[node];
    if (found) {
      this.cursor = node;
      this.model.select(found.kind, found.id);
    } else {
      this.model.select('', '');
    }
  }

  /** @param {number} node */
  #hover(node) {
    if (node === this.hovered) return;
    this.hovered = node;
    this.canvas.classList.toggle('over', node >= 0);
    this.model.dispatchEvent(new Event('hover'));
    this.#ask();
  }

  #ask() {
    if (!this.asked) this.asked = requestAnimationFrame((time) => this.#next(time));
  }

  /** Whether the reader sees something else. */
  get away() {
    return this.model.where.table || this.model.bpmn;
  }

  /** Whether dots are to be seen. */
  get moving() {
    return !this.calm.matches && !this.away && this.model.scene !== null && this.flow.busy && (this.model.at ? this.model.playing > 0 : this.model.live.up && !this.model.outdated);
  }

  /** @param {number} time */
  #next(time) {
    this.asked = 0;
    const still = !this.stale && this.flash.node < 0 && this.painted.x === this.camera.x && this.painted.y === this.camera.y && this.painted.scale === this.camera.scale;
    if (!this.moving || !still || time - this.lastDots >= dotPause) this.paint(time);
    if (this.moving) this.#ask();
  }

  /** @param {number} time */
  paint(time) {
    if (!this.width || this.away) return;
    this.lastDots = time;
    const { camera, painted } = this;
    const shiftX = camera.x - painted.x;
    const shiftY = camera.y - painted.y;
    const factor = camera.scale / painted.scale;
    const scaled = factor !== 1;
    const later = painted.cost > dear && time - this.movedAt < rest && time - painted.at < patience && factor > stretch[0] && factor < stretch[1];
    const outside = Math.abs(shiftX) > this.width * ahead || Math.abs(shiftY) > this.height * ahead;
    if (later && (scaled || !outside)) {
      if (this.stale || scaled) setTimeout(() => this.#ask(), rest);
    } else if (this.stale || outside || scaled) {
      this.#paintLayer(time);
    }
    this.#copy();
    this.#marks();
    if (this.moving) this.#dots(time);
  }

  /** @param {number} time */
  #paintLayer(time) {
    const begun = performance.now();
    const { model, camera, painter } = this;
    painter.ctx.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    const view = this.view(ahead);
    if (model.scene) {
      painter.paint(model.scene, model.shown, view);
      if (model.comparing) paintChanges(painter.ctx, painter.palette, model, view);
    } else {
      painter.ctx.fillStyle = painter.palette.ground;
      painter.ctx.fillRect(0, 0, view.width, view.height);
    }
    this.stale = false;
    this.painted = { x: camera.x, y: camera.y, scale: camera.scale, cost: performance.now() - begun, at: time };
  }

  /**
   * What a painter must know of what is seen.
   * @param {number} [more] on each side, as a share of the screen
   */
  view(more = 0) {
    const { camera, width, height } = this;
    return {
      scale: camera.scale, x: camera.x + width * more, y: camera.y + height * more, width: width * (1 + 2 * more), height: height * (1 + 2 * more),
      now: this.model.now(), alarmed: this.#alarmed(), doubted: this.#alarmed((a) => Boolean(a.unknown)), mild: this.#alarmed((a) => Boolean(a.unknown) || isMild(a)), marks: this.marks, version: this.version,
    };
  }

  /**
   * @param {(a: import('./model.js').Alarm) => boolean} [only] those of which each alarm is so
   * @returns {Set<number>} nodes that an alarm is about
   */
  #alarmed(only) {
    const { scene, overview, where } = this.model;
    const all = (overview?.alarms ?? []).filter((a) => a.net === where.net);
    const others = new Set(only ? all.filter((a) => !only(a)).map(about) : []);
    const nodes = all.filter((a) => !others.has(about(a))).sort(urgency(where.net))
      .flatMap((a) => [scene?.find('place', a.place ?? '') ?? -1, scene?.find('transition', a.transition ?? '') ?? -1]);
    return new Set(nodes.filter((n) => n >= 0));
  }

  #copy() {
    const { ctx, camera, painted, ratio, width, height } = this;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    const factor = camera.scale / painted.scale;
    const x = camera.x - (painted.x + width * ahead) * factor;
    const y = camera.y - (painted.y + height * ahead) * factor;
    if (factor !== 1) {
      ctx.fillStyle = this.painter.palette.ground;
      ctx.fillRect(0, 0, width, height);
      ctx.drawImage(this.layer, x, y, width * (1 + 2 * ahead) * factor, height * (1 + 2 * ahead) * factor);
    } else {
      ctx.setTransform(1, 0, 0, 1, 0, 0);
      ctx.drawImage(this.layer, Math.round(x * ratio), Math.round(y * ratio));
      ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    }
  }

  /** What is selected, under the mouse or at the cursor of the keyboard. */
  #marks() {
    const { ctx, painter: { palette }, model: { scene } } = this;
    if (!scene) return;
    const over = new Painter(ctx, palette);
    this.chosen(over, this.hovered);
    this.#flash(over, scene);
    if (this.cursor >= 0 && this.cursor !== this.model.selected() && document.activeElement === this.canvas) over.ring(scene, this.cursor, palette.ink, 2, [4, 3]);
  }

  /**
   * Marks what is selected, and the places of an instance, over what is painted.
   * @param {Painter} over
   * @param {number} [hovered] a node whose arcs are marked too, -1 for none
   */
  chosen(over, hovered = -1) {
    const { model, painter: { palette } } = this;
    const { scene } = model;
    if (!scene) return;
    Object.assign(over, { scale: this.camera.scale, x: this.camera.x, y: this.camera.y, width: this.width, height: this.height });
    const selected = model.selected();
    for (const node of new Set([selected, hovered])) {
      if (node >= 0) over.arcs(scene, scene.arcsOf[node].map((a) => scene.arcs[a]).filter((a) => this.seen(a.from) && this.seen(a.to)), palette.accent, 2);
    }
    for (const node of model.traced.map((id) => scene.find('place', id))) if (node >= 0) over.ring(scene, node, palette.accent, 3, [2, 4]);
    if (selected >= 0) over.ring(scene, selected, palette.accent, 3, []);
  }

  /**
   * A ring that closes in on what was looked for.
   * @param {Painter} over
   * @param {import('./scene.js').Scene} scene
   */
  #flash(over, scene) {
    const { node, until } = this.flash;
    const left = until - performance.now();
    if (node < 0) return;
    if (left <= 0 || !scene.nodes[node]) {
      this.flash.node = -1;
      delete this.canvas.dataset.flash;
      return;
    }
    over.ring(scene, node, this.painter.palette.accent, 4, [], this.calm.matches ? 10 : 6 + (40 * left) / flashing);
    if (!this.calm.matches) this.#ask();
  }

  /** @param {number} time */
  #dots(time) {
    const { ctx, camera, flow } = this;
    flow.step(time);
    const scene = /** @type {import('./scene.js').Scene} */ (this.model.scene);
    const r = dotRadius(camera.scale, 1);
    ctx.fillStyle = this.painter.palette.dot;
    flow.dots(time, (node) => scene.grown(node, camera.scale), (arc) => this.seen(arc.from) && this.seen(arc.to), (wx, wy, worth) => {
      const x = wx * camera.scale + camera.x;
      const y = wy * camera.scale + camera.y;
      if (x < -r || y < -r || x > this.width + r || y > this.height + r) return;
      if (this.painter.pills.some(([left, top, right, bottom]) => wx > left && wx < right && wy > top && wy < bottom)) return; // a number is read, not crossed
      ctx.beginPath();
      ctx.arc(x, y, dotRadius(camera.scale, worth), 0, 2 * Math.PI);
      ctx.fill();
    });
  }
}

/**
 * A node in words.
 * @param {import('./model.js').Model} model
 * @param {number} node
 */
function describe(model, node) {
  const { scene, shown } = model;
  const n = scene?.nodes[node];
  if (!scene || !n) return '';
  if (n.kind === 'place') {
    const old = n.final ? 'finished' : `oldest ${age(shown?.oldestAge(node, model.now()))}`;
    return `${n.called ? '' : 'place '}${label(n)}: ${waiting(shown?.places[node]?.tokens, n)}, ${old}`;
  }
  const row = shown?.transitions[scene.row(node)] ?? {};
  return `${n.called ? '' : 'transition '}${label(n)}: ${rate(row.rate)}, blocked ${count(row.blocked)}`;
}
