// SPDX-License-Identifier: Apache-2.0
import { Elements } from './elements.js';
import { twoLines } from './format.js';
import { Grid } from './grid.js';
import { Labels } from './labels.js';

/** How large a place is on the screen at least, if it has the room. */
const legible = 12;
/** A place that is farther from its neighbours has room enough. */
const enough = 400;

/**
 * @typedef {[number, number]} Point
 * @typedef {{id: string, kind: 'place'|'transition', name?: string, doc?: string, label?: string, x: number, y: number, w: number, h: number, initial?: number, final?: boolean, role?: string, calm?: boolean, called?: import('./format.js').Called}} DrawnNode
 *   final: no transition takes tokens from the place; role: state or data if it is not work; calm: the age of its tokens is no problem
 * @typedef {{from: number, to: number, kind: 'normal'|'inhibitor'|'read'|'reset', weight: number, points: Point[]}} DrawnArc
 * @typedef {{net: string, name?: string, doc?: string, hash: string, width: number, height: number, positions: string, nodes: DrawnNode[], arcs: DrawnArc[],
 *   model?: import('./elements.js').DrawnModel}} Drawing
 * @typedef {DrawnArc & {lengths: number[], length: number, box: Box}} SceneArc lengths: from the start to each point
 * @typedef {{left: number, top: number, right: number, bottom: number}} Box
 */

/** A drawing with what is looked up in it: neighbours, rows, lengths of arcs. */
export class Scene {
  /** @param {Drawing} drawing */
  constructor(drawing) {
    this.net = drawing.net;
    this.name = drawing.name ?? '';
    this.doc = drawing.doc ?? '';
    this.hash = drawing.hash;
    this.width = drawing.width;
    this.nodes = drawing.nodes;
    this.placeCount = drawing.nodes.filter((n) => n.kind === 'place').length;
    this.model = drawing.model;
    this.elements = drawing.model && new Elements(drawing.model, this.nodes, this.placeCount);
    this.arcs = drawing.arcs.map((arc) => measured(arc, this.nodes));
    /** @type {number[][]} arcs at each node */
    this.arcsOf = this.nodes.map(() => []);
    /** @type {Map<string, number>} */
    this.index = new Map();
    this.nodes.forEach((node, i) => this.index.set(node.kind + ' ' + node.id, i));
    this.arcs.forEach((arc, i) => {
      this.arcsOf[arc.from].push(i);
      if (arc.to !== arc.from) this.arcsOf[arc.to].push(i);
    });
    /** @type {string[][]} what is written at each node, in lines */
    this.labels = this.nodes.map((n) => n.label?.split('\n') ?? twoLines(n.name || n.id, 16));
    this.names = new Labels(this);
    this.grid = new Grid(this.nodes);
    /** How far each place is from the border of its nearest neighbour. */
    this.room = this.nodes.slice(0, this.placeCount).map((_, i) => this.#room(i));
    /** What most places have, so that they are drawn equally large. */
    this.usualRoom = [...this.room].sort((a, b) => a - b)[Math.floor(this.room.length / 5)] ?? 0;
    this.box = this.#bounds();
  }

  /**
   * Notes whose tokens may grow old: those of final places, those that are not work, and where
   * the rules of alarms allow it.
   * @param {number[]} resting places
   */
  rest(resting) {
    const may = new Set(resting);
    for (let i = 0; i < this.placeCount; i++) this.nodes[i].calm = this.nodes[i].final || !work(this.nodes[i]) || may.has(i);
  }

  /**
   * @param {'place'|'transition'} kind
   * @param {string} id
   * @returns {number} the node, -1 if there is none
   */
  find(kind, id) {
    return this.index.get(kind + ' ' + id) ?? -1;
  }

  /**
   * The row of a node in a frame's places or transitions.
   * @param {number} node
   */
  row(node) {
    return node < this.placeCount ? node : node - this.placeCount;
  }

  /**
   * The node at a point of the drawing.
   * @param {number} x
   * @param {number} y
   * @param {number} slack how far beside it still counts
   * @param {(node: number) => boolean} seen
   */
  at(x, y, slack, seen) {
    let best = -1;
    let bestDistance = Infinity;
    this.grid.around(x, y, slack, (i) => {
      if (!seen(i)) return;
      const n = this.nodes[i];
      const dx = Math.max(0, Math.abs(x - n.x) - n.w / 2);
      const dy = Math.max(0, Math.abs(y - n.y) - n.h / 2);
      const distance = Math.hypot(dx, dy) + Math.hypot(x - n.x, y - n.y) * 1e-3;
      if (distance <= slack + 1e-3 * (n.w + n.h) && distance < bestDistance) [best, bestDistance] = [i, distance];
    });
    return best;
  }

  /**
   * The node that lies in a direction: one that is connected if there is one,
   * else the nearest.
   * @param {number} node
   * @param {number} dx
   * @param {number} dy
   * @param {(node: number) => boolean} seen
   * @returns {number} -1 where there is none
   */
  towards(node, dx, dy, seen) {
    const connected = this.arcsOf[node].map((a) => (this.arcs[a].from === node ? this.arcs[a].to : this.arcs[a].from));
    const found = this.#best(node, dx, dy, connected.filter(seen), 0.25);
    return found >= 0 ? found : this.#best(node, dx, dy, [...this.nodes.keys()].filter(seen), 0.6);
  }

  /**
   * @param {number} node
   * @param {number} dx
   * @param {number} dy
   * @param {Iterable<number>} candidates
   * @param {number} least cosine of the angle
   */
  #best(node, dx, dy, candidates, least) {
    const from = this.nodes[node];
    let best = -1;
    let bestCost = Infinity;
    for (const i of candidates) {
      const vx = this.nodes[i].x - from.x;
      const vy = this.nodes[i].y - from.y;
      const distance = Math.hypot(vx, vy);
      const cosine = distance ? (vx * dx + vy * dy) / distance : -1;
      const cost = distance / Math.max(1e-9, cosine * cosine);
      if (cosine >= least && cost < bestCost) [best, bestCost] = [i, cost];
    }
    return best;
  }

  /**
   * How large a place is drawn: as laid out, larger where that could not be
   * read and there is room.
   * @param {number} place
   * @param {number} scale
   */
  radius(place, scale) {
    const n = this.nodes[place];
    const own = (Math.min(n.w, n.h) / 2) * scale;
    return own >= legible ? own : Math.max(2, own, Math.min(legible, Math.min(this.room[place], this.usualRoom) * scale * 0.52));
  }

  /**
   * How much larger than laid out a node is drawn, in the drawing's units.
   * @param {number} node
   * @param {number} scale
   */
  grown(node, scale) {
    return node < this.placeCount ? this.radius(node, scale) / scale - Math.min(this.nodes[node].w, this.nodes[node].h) / 2 : 0;
  }

  /** @param {number} place */
  #room(place) {
    const p = this.nodes[place];
    let room = enough;
    this.grid.around(p.x, p.y, enough, (i) => {
      const n = this.nodes[i];
      if (i !== place) room = Math.min(room, Math.hypot(Math.max(0, Math.abs(n.x - p.x) - n.w / 2), Math.max(0, Math.abs(n.y - p.y) - n.h / 2)));
    });
    return room;
  }

  #bounds() {
    const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
    for (const n of this.nodes) {
      box.left = Math.min(box.left, n.x - n.w / 2);
      box.right = Math.max(box.right, n.x + n.w / 2);
      box.top = Math.min(box.top, n.y - n.h / 2);
      box.bottom = Math.max(box.bottom, n.y + n.h / 2 + (n.kind === 'place' ? 30 : 0));
    }
    for (const { box: way } of this.arcs) {
      box.left = Math.min(box.left, way.left);
      box.right = Math.max(box.right, way.right);
      box.top = Math.min(box.top, way.top);
      box.bottom = Math.max(box.bottom, way.bottom);
    }
    return this.nodes.length ? box : { left: 0, top: 0, right: 1, bottom: 1 };
  }
}

/**
 * An arc whose ends stand at the borders of its nodes.
 * @param {DrawnArc} arc
 * @param {DrawnNode[]} nodes
 * @returns {SceneArc}
 */
function measured(arc, nodes) {
  const from = nodes[arc.from];
  const to = nodes[arc.to];
  /** @type {Point[]} */
  const points = arc.points?.length >= 2 ? arc.points.map(([x, y]) => [x, y]) : [[from.x, from.y], [to.x, to.y]];
  points[0] = border(from, points[0], points[1]);
  const last = points.length - 1;
  points[last] = border(to, points[last], points[last - 1]);
  const lengths = [0];
  for (let i = 1; i <= last; i++) {
    lengths.push(lengths[i - 1] + Math.hypot(points[i][0] - points[i - 1][0], points[i][1] - points[i - 1][1]));
  }
  const xs = points.map((p) => p[0]);
  const ys = points.map((p) => p[1]);
  return { ...arc, points, lengths, length: lengths[last], box: { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) } };
}

/**
 * Where the way from inside a node to another point leaves the node.
 * @param {DrawnNode} node
 * @param {Point} end which is left alone if it is outside
 * @param {Point} other
 * @returns {Point}
 */
function border(node, end, other) {
  const vx = other[0] - node.x;
  const vy = other[1] - node.y;
  if (Math.hypot(end[0] - node.x, end[1] - node.y) > 0.3 * Math.min(node.w, node.h)) return end;
  if (node.kind === 'place') {
    const distance = Math.hypot(vx, vy);
    const r = Math.min(node.w, node.h) / 2;
    return distance > r ? [node.x + (vx / distance) * r, node.y + (vy / distance) * r] : end;
  }
  const share = Math.min(node.w / 2 / Math.abs(vx || 1e-9), node.h / 2 / Math.abs(vy || 1e-9));
  return share < 1 ? [node.x + vx * share, node.y + vy * share] : end;
}

/**
 * Whether a place or a transition is work, which lists and sums are of.
 * @param {DrawnNode} node
 */
export function work(node) {
  return !node.role;
}
