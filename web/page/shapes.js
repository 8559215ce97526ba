// SPDX-License-Identifier: Apache-2.0
// Geometry of what bpmn-js draws, and references within a file.
import { measured } from './way.js';

/**
 * The middle of the longest part of a flow.
 * @param {{waypoints: {x: number, y: number}[]}} flow
 */
export function middle({ waypoints }) {
  let best = { x: waypoints[0].x, y: waypoints[0].y };
  let longest = -1;
  for (let i = 1; i < waypoints.length; i++) {
    const [a, b] = [waypoints[i - 1], waypoints[i]];
    const length = Math.hypot(b.x - a.x, b.y - a.y);
    if (length > longest) [longest, best] = [length, { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 }];
  }
  return best;
}

/** @param {any} shape */
function centre(shape) {
  return shape.waypoints ? middle(shape) : { x: shape.x + shape.width / 2, y: shape.y + shape.height / 2 };
}

/**
 * The shape that lies in a direction: what is connected counts as nearer.
 * @param {any} from
 * @param {any[]} all
 * @param {number} dx
 * @param {number} dy
 */
export function beside(from, all, dx, dy) {
  const a = centre(from);
  const connected = new Set([...(from.outgoing ?? []).flatMap((/** @type {any} */ f) => [f, f.target]), ...(from.incoming ?? []).flatMap((/** @type {any} */ f) => [f, f.source]), from.source, from.target]);
  let best = null;
  let least = Infinity;
  for (const shape of all) {
    if (shape === from) continue;
    const b = centre(shape);
    const distance = Math.hypot(b.x - a.x, b.y - a.y);
    const cosine = distance ? ((b.x - a.x) * dx + (b.y - a.y) * dy) / distance : -1;
    if (cosine < (connected.has(shape) ? 0.25 : 0.6)) continue;
    const cost = distance / (cosine * cosine) / (connected.has(shape) ? 4 : 1);
    if (cost < least) [least, best] = [cost, shape];
  }
  return best;
}

/**
 * The id of the process that a call activity of a file calls.
 * @param {any} definitions
 * @param {string} call id of the call activity
 * @returns {string|undefined}
 */
export function reached(definitions, call) {
  /** @type {(scope: any) => string|undefined} */
  const look = (scope) => {
    for (const e of scope.flowElements ?? []) {
      if (e.id === call) return e.calledElement?.replace(/^.*:/, '');
      const inside = look(e);
      if (inside !== undefined) return inside;
    }
    return undefined;
  };
  return definitions.rootElements.map(look).find((/** @type {any} */ id) => id !== undefined);
}

/**
 * The process that a call activity leads to: of the same file, else of the first that has it.
 * @param {any[]} files definitions
 * @param {number} file of the call activity
 * @param {string} call its id
 * @returns {{file: number, process: any}|undefined}
 */
export function called(files, file, call) {
  const id = reached(files[file], call);
  for (const i of id ? [file, ...files.keys()] : []) {
    const process = files[i].rootElements.find((/** @type {any} */ r) => r.id === id && r.flowElements?.length);
    if (process) return { file: i, process };
  }
  return undefined;
}

/**
 * The diagram that shows a process, on its own or as a pool.
 * @param {any} definitions
 * @param {string} process
 * @param {any} otherwise if there is none
 */
export function diagramOf(definitions, process, otherwise) {
  const shows = (/** @type {any} */ e) => e && (e.id === process || (e.participants ?? []).some((/** @type {any} */ p) => p.processRef?.id === process));
  return definitions.diagrams.find((/** @type {any} */ d) => shows(d.plane?.bpmnElement)) ?? otherwise;
}

/**
 * The two parts of a flow, as arcs: up to its middle, where its tokens are written, and from there on.
 * @param {{waypoints: {x: number, y: number}[]}} flow
 * @returns {[import('./way.js').Way, import('./way.js').Way]}
 */
export function halves(flow) {
  const points = flow.waypoints.map(({ x, y }) => /** @type {[number, number]} */ ([x, y]));
  let cut = 1;
  let longest = -1;
  for (let i = 1; i < points.length; i++) {
    const length = Math.hypot(points[i][0] - points[i - 1][0], points[i][1] - points[i - 1][1]);
    if (length > longest) [longest, cut] = [length, i];
  }
  const at = middle(flow);
  return [measured([...points.slice(0, cut), [at.x, at.y]]), measured([[at.x, at.y], ...points.slice(cut)])];
}

/**
 * Where the numbers of a flow are, so that they stand clear of its name.
 * @param {{x: number, y: number}} at the middle of the flow
 * @param {{x: number, y: number, width: number, height: number}|undefined} name
 * @returns {number} y
 */
export function clear({ x, y }, name) {
  const half = { width: 26, height: 9 };
  const on = name && x + half.width > name.x && x - half.width < name.x + name.width && y + half.height > name.y && y - half.height < name.y + name.height;
  return on ? name.y + name.height + half.height : y;
}

/**
 * Whether a boundary event is where the rate of a task is written, at the lower left.
 * @param {any} shape
 */
export function crowded(shape) {
  return (shape.attachers ?? []).some((/** @type {any} */ a) => a.x < shape.x + 50 && a.y + a.height > shape.y + shape.height - 15);
}
