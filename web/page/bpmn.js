// SPDX-License-Identifier: Apache-2.0
import { Badge } from './badge.js';
import { text } from './api.js';
import { narrow } from './camera.js';
import { el } from './dom.js';
import { Dots } from './dots.js';
import { age, count, label, rate, short, shortAge } from './format.js';
import { brief, less } from './compare.js';
import { HeatScale } from './heat.js';
import { isMild } from './problem.js';
import { beside, called, clear, crowded, diagramOf, middle, reached } from './shapes.js';
import { inkOf, tint } from './tint.js';

/** Badges keep this size on the screen, whatever the zoom. */
const legible = { min: 0.72, max: 1.3 };
/** From which scale on numbers are written of all elements. */
const detail = { rates: 0.44, tokens: 0.36 };
/** The scale at which an element that is gone to can be read. */
const near = 0.8;
/** Room for what stands around the diagram, pixels. */
const margin = { side: 34, top: 62, bottom: 74 };
/** Marks of an element, as classes of its shape. */
const marks = /** @type {const} */ (['chosen', 'pointed', 'alarmed', 'mild', 'doubted', 'traced']);

/**
 * A net from a BPMN file, as its author drew it: another painter of the same Model.
 * bpmn-js draws the file once; frames change only what differs.
 */
export class BpmnStage {
  /**
   * @param {import('./model.js').Model} model
   * @param {HTMLElement} root
   * @param {import('./theme.js').Theme} theme
   */
  constructor(model, root, theme) {
    this.model = model;
    this.root = root;
    this.scale = new HeatScale(theme.now);
    /** @type {any} */ this.viewer = null;
    /** The digest of the file that is drawn. */ this.drawn = '';
    /** @type {import('./scene.js').Scene|null|undefined} with which it was tried to draw it */ this.tried = null;
    /** @type {any[]} the definitions of the files */ this.files = [];
    /** The file and the process that are shown. */ this.at = { file: 0, process: /** @type {any} */ (null) };
    /** @type {any} the diagram of the file that is open */ this.diagram = null;
    /** Whether it was fitted, and whether numbers were there then. */ this.fitted = this.begun = false;
    /** Whether the reader has moved or scaled the diagram: then it is not fitted again by itself. */ this.touched = false;
    /** @type {string[]} the call activities whose process is shown */ this.calls = [];
    this.dots = new Dots(model, () => this.shown && !model.where.table);
    /** @type {Map<string, Badge>} by the id of the element */ this.badges = new Map();
    /** Elements under the mouse and at the cursor of the keyboard. */ this.over = this.cursor = '';
    model.on('drawing address', () => this.#turn());
    model.on('frame overview link', () => this.update());
    setInterval(() => (!model.at || model.comparing) && this.update(), 1000); // they grow older
    theme.addEventListener('change', () => {
      this.scale = new HeatScale(theme.now);
      this.update();
      this.dots.measure();
    });
    for (const type of ['wheel', 'pointermove', 'touchmove']) {
      root.addEventListener(type, (event) => (this.touched ||= type !== 'pointermove' || /** @type {PointerEvent} */ (event).buttons > 0), { capture: true, passive: true });
    }
    new ResizeObserver(() => this.#resize()).observe(root);
  }

  /** Whether this is what the reader sees. */
  get shown() {
    return this.model.bpmn && this.viewer !== null;
  }

  get width() {
    return this.root.clientWidth;
  }

  get height() {
    return this.root.clientHeight;
  }

  /** Whether dots are to be seen. */
  get moving() {
    return this.dots.moving;
  }

  get flow() {
    return this.dots.flow;
  }

  /** @returns {number} the most telling node at the cursor of the keyboard, -1 for none */
  get node() {
    return this.nodes(this.cursor)[0] ?? -1;
  }

  /** @returns {number} the most telling node under the mouse, -1 for none */
  get hovered() {
    return this.nodes(this.over)[0] ?? -1;
  }

  /** @returns {number[]} the other nodes of what is under the mouse */
  get others() {
    return this.nodes(this.over).slice(1);
  }

  /**
   * The nodes of an element, the most telling first.
   * @param {string} id
   */
  nodes(id) {
    const { scene, shown } = this.model;
    const e = scene?.elements?.at(this.calls, id);
    return scene?.elements && e ? scene.elements.nodesOf(e, shown) : [];
  }

  focus() {
    this.root.focus();
  }

  /** @param {number} factor */
  zoom(factor) {
    const canvas = this.viewer?.get('canvas');
    canvas?.zoom(canvas.zoom() * factor, 'auto');
    this.touched = true;
  }

  /** Shows the whole diagram, between what stands around it. */
  fit() {
    this.fitted = this.width > 0 && this.viewer !== null;
    if (!this.fitted) return;
    this.touched = false;
    const canvas = this.viewer.get('canvas');
    canvas.resized();
    const box = canvas.viewbox().inner;
    const scale = Math.min(1.2, (this.width - 2 * margin.side) / Math.max(1, box.width), (this.height - margin.top - margin.bottom) / Math.max(1, box.height));
    canvas.viewbox({
      x: box.x - (this.width / scale - box.width) / 2, width: this.width / scale, height: this.height / scale,
      y: box.y - margin.top / scale - ((this.height - margin.top - margin.bottom) / scale - box.height) / 2,
    });
  }

  /** Shows what a reader sees first: all, or what is oldest where all could not be read. */
  #begin() {
    this.fit();
    this.begun = this.model.shown !== null;
    const e = this.model.scene?.elements?.of(this.model.foremost);
    const shape = e && this.viewer?.get('elementRegistry').get(e.id);
    if (!shape || this.width >= narrow.width || this.viewer.get('canvas').zoom() >= narrow.scale || !document.getElementById('zoom')) return;
    const { x, y } = shape.waypoints ? middle(shape) : { x: shape.x + shape.width / 2, y: shape.y + shape.height / 2 };
    const [width, height] = [this.width / near, this.height / near];
    this.viewer.get('canvas').viewbox({ x: x - width / 2, y: y - height / 2, width, height });
  }

  #resize() {
    this.viewer?.get('canvas').resized();
    if (!this.fitted || !this.touched) this.#begin();
    else if (this.cursor && this.model.selected() >= 0) this.#reveal(this.cursor);
  }

  /** Where what is under the mouse is on the stage. */
  where() {
    const shape = this.viewer.get('elementRegistry').get(this.over);
    const box = this.viewer.get('canvas').viewbox();
    const { x, y, width, height } = shape.waypoints ? { ...middle(shape), width: 0, height: 0 } : shape;
    return { x: (x + width / 2 - box.x) * box.scale, y: (y + height / 2 - box.y) * box.scale, w: width * box.scale, h: height * box.scale };
  }

  /**
   * Puts the cursor of the keyboard on the element of a node and shows it.
   * @param {number} node
   */
  point(node) {
    const e = this.model.scene?.elements?.of(node);
    if (!e || !this.viewer) return;
    if (same(e.calls, this.calls)) this.#reveal(e.id);
    else this.enter(e.calls ?? []).then(() => this.#reveal(e.id));
  }

  /**
   * Moves the cursor of the keyboard to the next element in a direction.
   * @param {number} dx
   * @param {number} dy
   * @returns {string} what is there, for a screen reader
   */
  step(dx, dy) {
    const registry = this.viewer?.get('elementRegistry');
    if (!registry) return '';
    const root = this.viewer.get('canvas').getRootElement();
    const all = registry.filter((/** @type {any} */ s) => this.badges.has(s.id) && this.viewer.get('canvas').findRoot(s) === root);
    const from = registry.get(this.cursor);
    const next = from ? beside(from, all, dx, dy) : this.#hottest(all);
    if (next) this.#reveal(next.id);
    return this.describe(this.cursor);
  }

  /** Opens what the cursor of the keyboard is at. */
  open() {
    if (this.cursor) this.#select(this.cursor);
  }

  /** @param {string} id */
  describe(id) {
    const { scene, shown } = this.model;
    const e = scene?.elements?.at(this.calls, id);
    const shape = this.viewer?.get('elementRegistry').get(id);
    if (!e || !shape || !scene?.elements) return '';
    const s = scene.elements.state(e, shown, this.model.now());
    const kind = shape.type.replace('bpmn:', '').replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
    const old = s.final ? 'finished' : `oldest ${age(s.tokens === 0 ? 0 : s.age)}`;
    return `${kind} ${short(shape.businessObject.name || id, 80)}: ${count(s.tokens)} waiting, ${old}, ${rate(s.rate)}${s.blocked ? ', blocked' : ''}`;
  }

  /**
   * Shows the process that call activities lead to; none for the net's own.
   * @param {string[]} calls
   */
  async enter(calls) {
    this.calls = calls;
    this.over = this.cursor = '';
    const own = this.model.scene?.model?.file ?? 0;
    this.at = calls.reduce((at, call) => called(this.files, at.file, call) ?? at, { file: own, process: { id: this.model.where.net } });
    const definitions = this.files[this.at.file];
    const diagram = diagramOf(definitions, this.at.process.id, this.diagram);
    if (diagram !== this.diagram) {
      this.diagram = diagram;
      await (definitions === this.viewer.getDefinitions() ? this.viewer.open(diagram) : this.viewer.importDefinitions(definitions, diagram));
    }
    this.#mount();
    this.#begin();
  }

  #turn() {
    const { model } = this;
    const digest = model.scene?.model?.digest ?? '';
    if (model.bpmn && (digest !== this.drawn || (!this.viewer && this.tried !== model.scene))) this.#draw(digest);
    else if (this.scene !== model.scene && this.viewer && model.scene) this.#mount();
    const node = model.selected();
    const e = model.scene?.elements?.of(node);
    if (model.bpmn && e && this.viewer && (e.id !== this.cursor || !same(e.calls, this.calls))) this.point(node);
    if (model.bpmn && node >= 0 && !e) model.address.go({ view: 'net' }, true); // a node that no element has
    this.update();
  }

  /**
   * Draws a file.
   * @param {string} digest
   */
  async #draw(digest) {
    this.viewer?.destroy();
    this.viewer = null;
    this.badges.clear();
    this.drawn = digest;
    this.calls = [];
    this.root.dataset.drawn = '';
    this.tried = this.model.scene;
    const { net } = this.model.where;
    const { files = 1, file: own = 0 } = this.model.scene?.model ?? {};
    try {
      const asked = Array.from({ length: files }, (_, i) => text('model', i === own ? { net } : { net, file: String(i) }));
      const [BpmnJS, ...texts] = await Promise.all([library(), ...asked]);
      if (digest !== this.drawn || net !== this.model.where.net) return;
      const colour = { defaultFillColor: 'var(--bpmn-fill)', defaultStrokeColor: 'var(--bpmn-line)', defaultLabelColor: 'var(--bpmn-ink)' };
      const viewer = new BpmnJS({ container: this.root, bpmnRenderer: colour });
      const read = await Promise.all(texts.map(async (xml) => (await viewer.get('moddle').fromXML(xml)).rootElement));
      read.forEach(tint);
      await viewer.importDefinitions(read[own]);
      if (digest !== this.drawn) return viewer.destroy();
      this.viewer = viewer;
      this.files = read;
      this.diagram = this.files[own].diagrams[0];
      this.#listen(viewer);
      await this.enter([]);
      this.#turn();
    } catch (error) {
      this.viewer = null;
      this.model.noBpmn(error instanceof Error ? error.message : String(error));
    }
  }

  /** @param {any} viewer */
  #listen(viewer) {
    const bus = viewer.get('eventBus');
    const svg = viewer.get('canvas').getContainer().querySelector('svg');
    svg.setAttribute('tabindex', '-1'); // the stage around it has the focus
    svg.setAttribute('aria-hidden', 'true'); // and says what is there
    bus.on('element.click', (/** @type {any} */ event) => this.#select(event.element.labelTarget?.id ?? event.element.id));
    bus.on('element.hover', (/** @type {any} */ event) => this.#hover(event.element.labelTarget?.id ?? event.element.id));
    bus.on('element.out', () => this.#hover(''));
    bus.on('canvas.viewbox.changed', () => this.#looked());
    bus.on('root.set', () => {
      this.update();
      if (this.badges.size) this.dots.draw(viewer, this.calls);
    });
  }

  /** From afar only what matters is written. */
  #looked() {
    const scale = this.viewer?.get('canvas').zoom() ?? 1;
    this.root.classList.toggle('far', scale < detail.rates);
    this.root.classList.toggle('farther', scale < detail.tokens);
    this.model.dispatchEvent(new Event('hover'));
  }

  /** @param {string} id */
  #hover(id) {
    const over = this.badges.has(id) ? id : '';
    if (over === this.over) return;
    this.over = over;
    this.model.dispatchEvent(new Event('hover'));
  }

  /** @param {string} id */
  #select(id) {
    const node = this.nodes(id)[0] ?? -1;
    const found = this.model.scene?.nodes[node];
    this.cursor = found ? id : '';
    if (found) this.model.select(found.kind, found.id);
    else this.model.select('', '');
    this.update();
  }

  /** @param {string} id */
  #reveal(id) {
    const canvas = this.viewer.get('canvas');
    const shape = this.viewer.get('elementRegistry').get(id);
    this.cursor = id;
    if (!shape) return;
    const root = canvas.findRoot(shape);
    if (root && root !== canvas.getRootElement()) canvas.setRootElement(root);
    if (canvas.zoom() < detail.tokens) canvas.zoom(near, 'auto');
    canvas.scrollToElement(shape, Math.min(90, this.width / 5, this.height / 5));
    this.update();
  }

  /** @param {any[]} shapes */
  #hottest(shapes) {
    const { model } = this;
    const e = model.scene?.elements?.of(Math.max(0, model.foremost));
    return shapes.find((s) => s.id === e?.id) ?? shapes[0];
  }

  /** Makes the badges of the elements that the diagram shows. */
  #mount() {
    this.scene = this.model.scene;
    const overlays = this.viewer.get('overlays');
    overlays.remove({ type: 'pn' });
    this.badges.clear();
    const registry = this.viewer.get('elementRegistry');
    for (const shape of registry.getAll()) {
      const ink = shape.labelTarget || shape.waypoints ? '' : inkOf(shape);
      if (ink) {
        const gfx = registry.getGraphics(shape);
        gfx.classList.add('coloured');
        paint(gfx, '', ink);
      }
      if (shape.labelTarget || !this.scene?.elements?.at(this.calls, shape.id)) continue;
      const badge = new Badge(Boolean(shape.waypoints));
      this.badges.set(shape.id, badge);
      const add = (/** @type {HTMLElement} */ html, /** @type {object} */ position) => overlays.add(shape, 'pn', { html, position, scale: legible });
      if (shape.waypoints) {
        const at = middle(shape);
        const corner = { left: Math.min(...shape.waypoints.map((/** @type {any} */ p) => p.x)), top: Math.min(...shape.waypoints.map((/** @type {any} */ p) => p.y)) };
        add(el('div', { class: 'on-flow' }, badge.held, badge.rate), { left: at.x - corner.left, top: clear(at, shape.label) - corner.top });
      } else {
        const large = shape.width > 60;
        add(el('div', { class: 'on-shape' }, badge.held), { top: -11, right: large ? 18 : 10 });
        add(el('div', { class: large ? 'on-task' : 'beside-small' }, badge.rate), large ? { bottom: 15, left: crowded(shape) ? shape.width - 42 : 5 } : { top: shape.host ? 34 : 2, left: 10 });
      }
      if (shape.type === 'bpmn:CallActivity') this.#door(shape, add);
    }
    this.#way();
    this.dots.draw(this.viewer, this.calls);
    this.root.dataset.drawn = this.drawn;
    this.update();
  }

  /**
   * The button that opens what a call activity calls, if it is there.
   * @param {any} shape
   * @param {(html: HTMLElement, position: object) => void} add
   */
  #door(shape, add) {
    const { model } = this;
    const id = reached(this.files[this.at.file], shape.id) ?? '';
    const to = called(this.files, this.at.file, shape.id);
    const inside = model.scene?.model?.elements.some((e) => same(e.calls, [...this.calls, shape.id]));
    const here = inside && to && diagramOf(this.files[to.file], id, null);
    const other = model.latest?.nets.some((n) => n.id === id && n.id !== model.where.net);
    if (!here && !other) return;
    const go = () => (here ? this.enter([...this.calls, shape.id]) : model.openNet(id));
    add(el('button', { type: 'button', class: 'bjs-drilldown door', 'aria-label': `Open the called process ${label({ id })}`, onclick: go }, '↓'), { bottom: 20, right: 22 });
  }

  /** The way back out of called processes. */
  #way() {
    this.root.querySelector('.way-out')?.remove();
    if (!this.calls.length) return;
    const { name, id } = this.at.process;
    this.root.append(el('button', { type: 'button', class: 'way-out', onclick: () => this.enter(this.calls.slice(0, -1)) }, `← out of ${short(name || id, 60)}`));
  }

  repaint() {
    this.update();
  }

  /** Shows the numbers of the frame, of those elements that changed. */
  update() {
    const { model, viewer } = this;
    const { scene, shown } = model;
    if (!this.shown || !scene?.elements || this.scene !== scene) return;
    if (!this.begun && shown && !this.touched) this.#begin();
    const now = model.now();
    const registry = viewer.get('elementRegistry');
    const marked = this.#marked();
    for (const [id, badge] of this.badges) {
      const e = scene.elements.at(this.calls, id);
      const gfx = registry.getGraphics(id);
      if (!e || !gfx) continue;
      const state = scene.elements.state(e, shown, now);
      if (badge.show(state, this.scale, this.#change(e, state))) {
        const hot = state.tokens && !badge.flow ? state : null;
        if (!gfx.classList.contains('coloured')) paint(gfx, hot ? this.scale.fill(hot.heat) : '', hot ? this.scale.ink(hot.heat) : '');
        gfx.classList.toggle('hot', hot !== null);
      }
      for (const mark of marks) gfx.classList.toggle(mark, marked[mark].has(id));
    }
  }

  /**
   * What differs from now, where that is compared.
   * @param {import('./elements.js').Element} e
   * @param {import('./elements.js').ElementState} then
   */
  #change(e, then) {
    const { scene, shown, current, comparing, clock, at } = this.model;
    if (!comparing || !scene?.elements || !shown || current?.drawing !== shown.drawing) return '';
    const now = scene.elements.state(e, current, clock.now());
    const passed = (clock.now() - at) / 1000;
    const same = now.tokens && then.tokens && Math.abs((now.age ?? 0) - (then.age ?? 0) - passed) < 0.1;
    return [brief({ by: less(now.tokens, then.tokens), aged: 0 }), same && now.age ? `same, +${shortAge(passed)}` : ''].filter(Boolean).join(' · ');
  }

  /** @returns {Record<typeof marks[number], Set<string>>} elements by mark */
  #marked() {
    const { model } = this;
    const { scene, where, overview } = model;
    const ids = (/** @type {number[]} */ nodes) => new Set(nodes.map((n) => scene?.elements?.of(n)).filter((e) => e && same(e.calls, this.calls)).map((e) => /** @type {any} */ (e).id));
    const alarms = (overview?.alarms ?? []).filter((a) => a.net === where.net);
    const nodes = (/** @type {import('./model.js').Alarm} */ a) => [scene?.find('place', a.place ?? '') ?? -1, scene?.find('transition', a.transition ?? '') ?? -1];
    return {
      chosen: ids([model.selected()]), pointed: new Set(document.activeElement === this.root ? [this.cursor] : []),
      alarmed: ids(alarms.filter((a) => !a.unknown && !isMild(a)).flatMap(nodes)), mild: ids(alarms.filter((a) => !a.unknown && isMild(a)).flatMap(nodes)), doubted: ids(alarms.filter((a) => a.unknown).flatMap(nodes)),
      traced: ids(model.traced.map((id) => scene?.find('place', id) ?? -1)),
    };
  }
}

/**
 * @param {SVGElement} gfx of a shape
 * @param {string} fill '' for none of its own
 * @param {string} ink
 */
function paint(gfx, fill, ink) {
  for (const [token, value] of [['fill', fill], ['line', ink], ['ink', ink]]) {
    if (value) gfx.style.setProperty('--bpmn-' + token, value);
    else gfx.style.removeProperty('--bpmn-' + token);
  }
}

/**
 * Whether elements are in the same called process.
 * @param {string[]|undefined} a
 * @param {string[]} b
 */
function same(a, b) {
  return (a ?? []).join('\n') === b.join('\n');
}

/** bpmn-js, loaded when the first BPMN file is shown. */
async function library() {
  const file = (/** @type {string} */ name) => new URL(`vendor/bpmn-js/${name}`, import.meta.url).href;
  for (const sheet of ['diagram-js', 'bpmn-js']) {
    const href = file(`${sheet}.css`);
    if (!document.querySelector(`link[href="${href}"]`)) document.head.prepend(el('link', { rel: 'stylesheet', href }));
  }
  await import(file('bpmn-navigated-viewer.js'));
  return /** @type {any} */ (globalThis).BpmnJS;
}
