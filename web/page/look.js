// SPDX-License-Identifier: Apache-2.0
// What part of a drawing is seen, for the address of a link: a scale and the node in the
// middle, so that it is the same part on another screen.

/**
 * @param {import('./stage.js').Stage} stage
 * @returns {string} '' if the drawing fits, or is not what the reader sees
 */
export function looked({ camera, model, away, seen, width, height }) {
  if (!camera.touched || !model.scene || away || model.where.around) return '';
  const [x, y] = camera.toWorld(width / 2, height / 2);
  let best = -1;
  let nearest = Infinity;
  model.scene.nodes.forEach((n, i) => {
    const distance = seen(i) ? Math.hypot(n.x - x, n.y - y) : Infinity;
    if (distance < nearest) [best, nearest] = [i, distance];
  });
  const node = model.scene.nodes[best];
  return node ? `${Number(camera.scale.toPrecision(3))} ${node.kind} ${node.id}` : '';
}

/**
 * Shows the part that the address asks for, once it is drawn. After that the part is the
 * reader's.
 * @param {import('./model.js').Model} model
 * @param {import('./stage.js').Stage} stage
 */
export function lookThere(model, stage) {
  model.on('drawing', () => {
    const { scene, where, address } = model;
    if (!scene || !where.look) return;
    const [scale, kind, ...id] = where.look.split(' ');
    const n = scene.nodes[scene.find(/** @type {'place'|'transition'} */ (kind), id.join(' '))];
    if (n && Number(scale) > 0) stage.lookAt(n.x, n.y, Number(scale));
    address.go({ look: '' }, true);
  });
}
