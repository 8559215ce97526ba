// SPDX-License-Identifier: Apache-2.0
import { ArcPainter, detail, font } from './arcs.js';
import { count, rate, shortAge, unknown } from './format.js';
import { heat } from './heat.js';
import { numbered, smallFont, smallLine } from './labels.js';
import { away, quiet } from './sight.js';

/** Labels are written as the layout expects them. */
const fontSize = 12;
const lineHeight = 14;
const labelGap = 8;
/** How many of the oldest, and of those with an alarm, are named where nothing else is. */
const alwaysNamed = 6;
const alarmsNamed = 60;

/** Paints a net. */
export class Painter extends ArcPainter {
  /**
   * @param {import('./scene.js').Scene} scene
   * @param {import('./frame.js').Frame|null} frame
   * @param {{scale: number, x: number, y: number, width: number, height: number, now: number, alarmed: Set<number>, doubted: Set<number>, mild: Set<number>, marks: Uint8Array, version: number}} view
   *   marks: how each node is shown, see sight; version: changes with them
   */
  paint(scene, frame, view) {
    Object.assign(this, { scale: view.scale, x: view.x, y: view.y, width: view.width, height: view.height });
    const { ctx } = this;
    this.pills = [];
    ctx.fillStyle = this.palette.ground;
    ctx.fillRect(0, 0, view.width, view.height);
    ctx.lineCap = 'round';
    ctx.lineJoin = 'round';
    ctx.textAlign = 'center';
    ctx.textBaseline = 'middle';
    const { marks } = view;
    const drawn = scene.arcs.filter((a) => marks[a.from] !== away && marks[a.to] !== away);
    const links = drawn.filter((a) => marks[a.from] === quiet || marks[a.to] === quiet);
    this.arcs(scene, links.length ? drawn.filter((a) => !marks[a.from] && !marks[a.to]) : drawn, this.palette.arc, 1.25);
    this.links(scene, marks, links);
    const old = frame?.byAge(scene.nodes).filter((i) => !marks[i]).slice(0, alwaysNamed).filter((i) => (frame.oldestAge(i, view.now) ?? 0) >= 60) ?? [];
    const named = new Set([...[...view.alarmed].filter((i) => !marks[i]).slice(0, alarmsNamed), ...old]);
    if (this.scale < detail.shapes) this.#dots(scene, frame, view);
    scene.nodes.forEach((node, i) => {
      if (marks[i] || !this.#seen(node) || (this.scale < detail.shapes && !named.has(i) && !view.alarmed.has(i))) return;
      if (i < scene.placeCount) this.#place(node, scene.radius(i, this.scale), i, frame, view);
      else this.#transition(node, i, i - scene.placeCount, frame, view);
    });
    const sight = { marks, version: view.version, only: this.scale < detail.names };
    if (this.scale >= detail.labels) this.#labels(scene, view.alarmed, marks);
    else this.#names(scene, [...named], frame, view.now, sight);
    if (frame) this.#ages(scene, frame, view.now, named, sight);
  }

  /**
   * Nodes where their shapes would look the same: places as dots, larger the
   * hotter they are, transitions as bars; all of one colour at once.
   * @param {import('./scene.js').Scene} scene
   * @param {import('./frame.js').Frame|null} frame
   * @param {{now: number, marks: Uint8Array}} view
   */
  #dots(scene, frame, { now, marks }) {
    const { ctx, palette, scale, x, y } = this;
    /** @type {Map<string, [number, number, number][]>} */
    const dots = new Map();
    /** @type {Map<string, [number, number, number, number][]>} */
    const bars = new Map([[palette.line, []], [palette.dot, []]]);
    scene.nodes.forEach((node, i) => {
      if (marks[i] || !this.#seen(node)) return;
      const sx = node.x * scale + x;
      const sy = node.y * scale + y;
      if (i >= scene.placeCount) {
        const w = Math.max(1.5, node.w * scale);
        const h = Math.max(1.5, node.h * scale);
        bars.get(frame?.transitions[i - scene.placeCount]?.rate ? palette.dot : palette.line)?.push([sx - w / 2, sy - h / 2, w, h]);
        return;
      }
      const tokens = frame?.places[i]?.tokens;
      const h = node.calm || !frame || !tokens ? 0 : heat(frame.oldestAge(i, now));
      const fill = tokens ? palette.heat.fill(h) : palette.arc;
      const r = scene.radius(i, scale);
      const dot = /** @type {[number, number, number]} */ ([sx, sy, tokens ? Math.max(1.6 + 2 * h, r) : Math.max(0.8, r / 2)]);
      const same = dots.get(fill);
      if (same) same.push(dot);
      else dots.set(fill, [dot]);
    });
    ctx.globalAlpha = 0.45; // what is hot is seen first
    for (const [fill, all] of bars) {
      ctx.fillStyle = fill;
      ctx.beginPath();
      for (const bar of all) ctx.rect(...bar);
      ctx.fill();
    }
    ctx.globalAlpha = 1;
    for (const [fill, all] of dots) {
      ctx.fillStyle = fill;
      ctx.beginPath();
      for (const [sx, sy, r] of all) {
        ctx.moveTo(sx + r, sy);
        ctx.arc(sx, sy, r, 0, 2 * Math.PI);
      }
      ctx.fill();
    }
  }

  /** @param {import('./scene.js').DrawnNode} node */
  #seen(node) {
    const sx = node.x * this.scale + this.x;
    const sy = node.y * this.scale + this.y;
    const room = 60 + (node.w + node.h) * this.scale;
    return sx > -room && sy > -room && sx < this.width + room && sy < this.height + room;
  }

  /**
   * A ring around a node.
   * @param {import('./scene.js').Scene} scene
   * @param {number} node
   * @param {string} colour
   * @param {number} thick
   * @param {number[]} dash
   * @param {number} [room] between the node and the ring
   */
  ring(scene, node, colour, thick, dash, room = 6) {
    const { ctx, scale } = this;
    const n = scene.nodes[node];
    const [x, y, w, h] = [n.x * scale + this.x, n.y * scale + this.y, n.w * scale, n.h * scale];
    ctx.setLineDash(dash);
    ctx.lineWidth = thick;
    ctx.strokeStyle = colour;
    ctx.beginPath();
    if (n.kind === 'place') ctx.arc(x, y, scene.radius(node, scale) + room, 0, 2 * Math.PI);
    else ctx.roundRect(x - w / 2 - room, y - h / 2 - room, w + 2 * room, h + 2 * room, 7);
    ctx.stroke();
    ctx.setLineDash([]);
  }

  /**
   * @param {import('./scene.js').DrawnNode} node
   * @param {number} r
   * @param {number} row
   * @param {import('./frame.js').Frame|null} frame
   * @param {{now: number, alarmed: Set<number>, doubted: Set<number>, mild: Set<number>}} view
   */
  #place(node, r, row, frame, view) {
    const { ctx, palette } = this;
    const sx = node.x * this.scale + this.x;
    const sy = node.y * this.scale + this.y;
    const tokens = frame?.places[row]?.tokens;
    const age = frame ? frame.oldestAge(row, view.now) : null;
    const h = node.calm ? 0 : heat(age);
    if (h > 0.5) this.#glow(sx, sy, r, h);
    ctx.beginPath();
    ctx.arc(sx, sy, r, 0, 2 * Math.PI);
    ctx.fillStyle = !tokens ? palette.empty : node.calm ? palette.finished : palette.heat.fill(h);
    ctx.fill();
    this.#outline(row, view);
    if (h > 0 && r > 6) this.#gauge(sx, sy, r, h);
    if (r >= numbered && tokens !== 0) {
      const text = tokens === undefined || tokens === null ? unknown : count(tokens);
      ctx.font = `600 ${Math.min(Math.max(15, r * 0.6), r * (text.length > 3 ? 0.66 : 0.95)).toFixed(1)}px ${font}`;
      ctx.fillStyle = !tokens ? palette.quiet : node.calm ? palette.ink : palette.heat.ink(h);
      ctx.fillText(text, sx, sy + 0.5);
    }
  }

  /**
   * Ages of the oldest tokens, each beside its place where it covers no other node. Those of
   * finished work are left out.
   * @param {import('./scene.js').Scene} scene
   * @param {import('./frame.js').Frame} frame
   * @param {number} now
   * @param {Set<number>} named
   * @param {import('./labels.js').Sight} sight
   */
  #ages(scene, frame, now, named, sight) {
    for (const i of this.scale >= detail.ages ? Array(scene.placeCount).keys() : named) {
      if (i >= scene.placeCount) continue;
      const written = this.scale < detail.labels && scene.radius(i, this.scale) < numbered;
      const age = written || scene.nodes[i].calm || sight.marks[i] || !this.#seen(scene.nodes[i]) ? 0 : frame.oldestAge(i, now);
      const at = age && age >= 10 && scene.names.age(i, this.scale, (p) => scene.radius(p, this.scale), this.scale >= detail.labels, sight);
      if (at) this.pill(shortAge(age), at.x + this.x, at.y + this.y, this.palette.ink);
    }
  }

  /**
   * A halo around what has been there for more than a minute.
   * @param {number} x
   * @param {number} y
   * @param {number} r
   * @param {number} h
   */
  #glow(x, y, r, h) {
    const { ctx } = this;
    ctx.fillStyle = this.palette.heat.fill(h);
    for (const [reach, alpha] of [[1.75, 0.08], [1.45, 0.13]]) {
      ctx.globalAlpha = alpha * (0.5 + h);
      ctx.beginPath();
      ctx.arc(x, y, Math.max(r * reach, r + 3), 0, 2 * Math.PI);
      ctx.fill();
    }
    ctx.globalAlpha = 1;
  }

  /**
   * Heat once more, as a hand of a clock, for who does not see the colours.
   * @param {number} x
   * @param {number} y
   * @param {number} r
   * @param {number} h
   */
  #gauge(x, y, r, h) {
    const { ctx } = this;
    ctx.beginPath();
    ctx.arc(x, y, r + 3, -Math.PI / 2, -Math.PI / 2 + h * 2 * Math.PI);
    ctx.lineWidth = Math.max(1.5, Math.min(3, r / 7));
    ctx.strokeStyle = this.palette.heat.fill(h);
    ctx.stroke();
  }

  /**
   * The outline of a node: thick with an alarm, red if that is major or critical, and dashed if it is not known whether that holds.
   * @param {number} i of the node
   * @param {{alarmed: Set<number>, doubted: Set<number>, mild: Set<number>}} view
   */
  #outline(i, { alarmed, doubted, mild }) {
    const { ctx, palette } = this;
    ctx.lineWidth = alarmed.has(i) ? 2.5 : 1.25;
    ctx.strokeStyle = mild.has(i) ? palette.warn : alarmed.has(i) ? palette.bad : palette.line;
    ctx.setLineDash(doubted.has(i) ? [5, 4] : []);
    ctx.stroke();
    ctx.setLineDash([]);
  }

  /**
   * @param {import('./scene.js').DrawnNode} node
   * @param {number} i of the node
   * @param {number} row
   * @param {import('./frame.js').Frame|null} frame
   * @param {{now: number, alarmed: Set<number>, doubted: Set<number>, mild: Set<number>}} view
   */
  #transition(node, i, row, frame, view) {
    const { ctx, palette } = this;
    const sx = node.x * this.scale + this.x;
    const sy = node.y * this.scale + this.y;
    const w = Math.max(3, node.w * this.scale);
    const h = Math.max(3, node.h * this.scale);
    const { rate: perSecond, running, blocked } = frame?.transitions[row] ?? {};
    ctx.beginPath();
    ctx.roundRect(sx - w / 2, sy - h / 2, w, h, Math.min(4, w / 4));
    ctx.fillStyle = perSecond ? palette.barLive : palette.bar;
    ctx.fill();
    this.#outline(i, view);
    if (blocked && this.scale >= detail.marks) this.#blocked(sx + w / 2, sy - h / 2, running ? palette.quiet : palette.bad);
    if (this.scale < detail.ages || !frame) return;
    const text = perSecond == null ? unknown : perSecond > 0 ? rate(perSecond) : '';
    if (text) this.pill(text, sx, sy + h / 2 + 9, perSecond ? palette.accent : palette.quiet);
  }

  /**
   * A bar in a ring: instances have tokens for it, and it may not fire.
   * @param {number} x
   * @param {number} y
   * @param {string} colour
   */
  #blocked(x, y, colour) {
    const { ctx } = this;
    const r = Math.max(3, Math.min(5.5, 7 * this.scale));
    ctx.beginPath();
    ctx.arc(x, y, r, 0, 2 * Math.PI);
    ctx.fillStyle = this.palette.ground;
    ctx.fill();
    ctx.strokeStyle = colour;
    ctx.lineWidth = 1.5;
    ctx.stroke();
    ctx.beginPath();
    ctx.moveTo(x - r * 0.5, y);
    ctx.lineTo(x + r * 0.5, y);
    ctx.stroke();
  }

  /**
   * Names where labels at their own size could not be read.
   * @param {import('./scene.js').Scene} scene
   * @param {number[]} first also with their numbers, where a place has no room for them
   * @param {import('./frame.js').Frame|null} frame
   * @param {number} now
   * @param {import('./labels.js').Sight} sight
   */
  #names(scene, first, frame, now, sight) {
    const { ctx, scale, palette } = this;
    ctx.font = `${smallFont}px ${font}`;
    const written = scene.names.lay(scale, (i) => scene.radius(i, scale), first, sight);
    ctx.lineWidth = 0.8;
    ctx.strokeStyle = palette.quiet;
    ctx.beginPath();
    for (const { node, lines, x, y, from } of written) {
      if (!from || !this.#seen(scene.nodes[node])) continue;
      ctx.moveTo(from[0] + this.x, from[1] + this.y);
      ctx.lineTo(x + this.x, y + this.y + ((lines.length - 1) / 2) * smallLine);
    }
    ctx.stroke();
    for (const { node, lines, x, y } of [...written].reverse()) { // the first ones in front
      if (!this.#seen(scene.nodes[node])) continue;
      const place = node < scene.placeCount;
      const small = frame && place && first.includes(node) && scene.radius(node, scale) < numbered;
      const numbers = small ? [[count(frame.places[node]?.tokens), !scene.nodes[node].calm && shortAge(frame.oldestAge(node, now))].filter(Boolean).join(', ')] : [];
      [...lines, ...numbers].forEach((text, k) => {
        ctx.lineWidth = 3;
        ctx.strokeStyle = palette.ground;
        ctx.strokeText(text, x + this.x, y + this.y + k * smallLine);
        ctx.fillStyle = place ? palette.ink : palette.quiet;
        ctx.fillText(text, x + this.x, y + this.y + k * smallLine);
      });
    }
  }

  /**
   * Labels as the layout left room for them: in a transition's box, below a
   * place's circle. Those of nodes with an alarm are in front.
   * @param {import('./scene.js').Scene} scene
   * @param {Set<number>} alarmed
   * @param {Uint8Array} marks
   */
  #labels(scene, alarmed, marks) {
    const { ctx, palette, scale } = this;
    const line = lineHeight * scale;
    ctx.font = `${(fontSize * scale).toFixed(2)}px ${font}`;
    ctx.fillStyle = palette.ink;
    ctx.strokeStyle = palette.ground;
    ctx.lineWidth = 4;
    for (const i of [...scene.nodes.keys()].filter((n) => !alarmed.has(n)).concat(...alarmed)) {
      const node = scene.nodes[i];
      if (marks[i] || !this.#seen(node)) continue;
      const lines = scene.labels[i];
      const sx = node.x * scale + this.x;
      const sy = node.y * scale + this.y;
      const first = i < scene.placeCount ? sy + (node.h / 2 + labelGap) * scale + line / 2 : sy - ((lines.length - 1) / 2) * line;
      lines.forEach((text, k) => {
        if (i < scene.placeCount) ctx.strokeText(text, sx, first + k * line); // arcs may pass below
        ctx.fillText(text, sx, first + k * line);
      });
    }
  }
}
