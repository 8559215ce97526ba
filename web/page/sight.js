// SPDX-License-Identifier: Apache-2.0
// Which part of a net is shown: all of it, the surroundings of a node, and all
// but what is quiet.

/** What a node is on the drawing. */
export const shown = 0;
/** Not drawn; its arcs are thin and dashed. */
export const quiet = 1;
/** Not drawn, nor are its arcs. */
export const away = 2;

/**
 * How each node is shown.
 * @param {import('./model.js').Model} model
 * @param {Set<number>} alarmed nodes that are never quiet
 * @returns {Uint8Array} by node
 */
export function sight(model, alarmed) {
  const { scene, where } = model;
  const marks = new Uint8Array(scene?.nodes.length ?? 0);
  if (!scene) return marks;
  if (where.quiet) markQuiet(model, scene, alarmed, marks);
  const center = centerOf(model);
  if (center >= 0) {
    const near = around(scene, center, where.steps);
    for (let i = 0; i < marks.length; i++) if (!near.has(i)) marks[i] = away;
    marks[center] = shown;
  }
  return marks;
}

/**
 * The node whose surroundings are shown, -1 for none.
 * @param {import('./model.js').Model} model
 */
export function centerOf({ scene, where }) {
  const [kind, ...id] = where.around.split(' ');
  return where.around && scene ? scene.find(/** @type {'place'|'transition'} */ (kind), id.join(' ')) : -1;
}

/**
 * The nodes that are at most some arcs away, in either direction.
 * @param {import('./scene.js').Scene} scene
 * @param {number} center
 * @param {number} steps
 */
export function around(scene, center, steps) {
  const near = new Set([center]);
  let edge = [center];
  for (let k = 0; k < steps; k++) {
    const next = [];
    for (const node of edge) {
      for (const a of scene.arcsOf[node]) {
        const other = scene.arcs[a].from === node ? scene.arcs[a].to : scene.arcs[a].from;
        if (near.has(other)) continue;
        near.add(other);
        next.push(other);
      }
    }
    edge = next;
  }
  return near;
}

/**
 * Places without tokens and transitions in which nothing happens are quiet. What is
 * not known is not quiet.
 * @param {import('./model.js').Model} model
 * @param {import('./scene.js').Scene} scene
 * @param {Set<number>} alarmed
 * @param {Uint8Array} marks
 */
function markQuiet(model, scene, alarmed, marks) {
  const frame = model.shown;
  if (!frame) return;
  const selected = model.selected();
  const traced = new Set(model.traced);
  scene.nodes.forEach((node, i) => {
    if (i === selected || alarmed.has(i)) return;
    if (i < scene.placeCount) {
      if (frame.places[i]?.tokens === 0 && !traced.has(node.id)) marks[i] = quiet;
      return;
    }
    const t = frame.transitions[i - scene.placeCount];
    if (t?.rate === 0 && !t.enabled && !t.running && !t.blocked) marks[i] = quiet;
  });
}

/** How far nodes are put aside that are not shown, so that they take no room. */
const aside = 1e6;

/**
 * A drawing with the nodes and arcs of another one where that has them.
 * @param {import('./scene.js').Drawing} whole
 * @param {import('./scene.js').Drawing} part of the same net
 * @returns {import('./scene.js').Drawing}
 */
export function arranged(whole, part) {
  const key = (/** @type {import('./scene.js').DrawnNode} */ n) => `${n.kind} ${n.id}`;
  const placed = new Map(part.nodes.map((n) => [key(n), n]));
  const name = (/** @type {import('./scene.js').Drawing} */ d, /** @type {import('./scene.js').DrawnArc} */ a) => JSON.stringify([key(d.nodes[a.from]), key(d.nodes[a.to]), a.kind]);
  /** @type {Map<string, import('./scene.js').DrawnArc[]>} */
  const ways = new Map();
  for (const a of part.arcs) ways.set(name(part, a), [...(ways.get(name(part, a)) ?? []), a]);
  return {
    ...whole,
    nodes: whole.nodes.map((n) => ({ ...n, ...(placed.get(key(n)) ?? { x: n.x - aside }) })),
    arcs: whole.arcs.map((a) => ({ ...a, points: ways.get(name(whole, a))?.shift()?.points ?? a.points })),
  };
}

/**
 * The bounds of the nodes that are shown, those of all if none is.
 * @param {import('./scene.js').Scene} scene
 * @param {Uint8Array} marks
 */
export function boxOf(scene, marks) {
  const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  scene.nodes.forEach((n, i) => {
    if (marks[i] === away) return;
    box.left = Math.min(box.left, n.x - n.w / 2 - 40);
    box.right = Math.max(box.right, n.x + n.w / 2 + 40);
    box.top = Math.min(box.top, n.y - n.h / 2 - 20);
    box.bottom = Math.max(box.bottom, n.y + n.h / 2 + 40);
  });
  return box.right > box.left ? box : scene.box;
}
