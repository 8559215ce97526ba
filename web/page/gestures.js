// SPDX-License-Identifier: Apache-2.0

const clickSlack = 5;

/**
 * What fingers, mouse and wheel do on an element.
 * @param {HTMLElement} element
 * @param {{pan: (dx: number, dy: number) => void, zoom: (factor: number, x: number, y: number) => void,
 *   click: (x: number, y: number) => void, hover: (x: number, y: number) => void, leave: () => void}} on coordinates in pixels of the element
 */
export function gestures(element, on) {
  /** @type {Map<number, {x: number, y: number}>} */
  const pointers = new Map();
  let moved = 0;

  /** @param {PointerEvent|WheelEvent} event */
  const point = (event) => {
    const box = element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  element.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    element.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, point(event));
    if (pointers.size === 1) moved = 0;
  });
  element.addEventListener('pointermove', (event) => {
    const at = point(event);
    const before = pointers.get(event.pointerId);
    if (!before) {
      if (pointers.size === 0) on.hover(at.x, at.y);
      return;
    }
    const old = [...pointers.values()];
    pointers.set(event.pointerId, at);
    moved += Math.hypot(at.x - before.x, at.y - before.y);
    if (moved > clickSlack) spread(old, [...pointers.values()], on);
  });
  for (const end of /** @type {const} */ (['pointerup', 'pointercancel'])) {
    element.addEventListener(end, (event) => {
      if (!pointers.delete(event.pointerId) || end === 'pointercancel') return;
      const at = point(event);
      if (moved <= clickSlack && pointers.size === 0) on.click(at.x, at.y);
    });
  }
  element.addEventListener('pointerleave', () => pointers.size === 0 && on.leave());
  element.addEventListener('wheel', (event) => {
    event.preventDefault();
    const at = point(event);
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    on.zoom(Math.exp(-Math.max(-240, Math.min(240, event.deltaY * lines)) * (event.ctrlKey ? 0.008 : 0.0016)), at.x, at.y);
  }, { passive: false });
}

/**
 * The pan of one finger or the pan and pinch of the first two.
 * @param {{x: number, y: number}[]} before
 * @param {{x: number, y: number}[]} after
 * @param {{pan: (dx: number, dy: number) => void, zoom: (factor: number, x: number, y: number) => void}} on
 */
function spread(before, after, on) {
  const n = Math.min(2, after.length);
  const middle = (/** @type {{x: number, y: number}[]} */ p) => ({
    x: p.slice(0, n).reduce((a, b) => a + b.x, 0) / n, y: p.slice(0, n).reduce((a, b) => a + b.y, 0) / n,
  });
  const a = middle(before);
  const b = middle(after);
  on.pan(b.x - a.x, b.y - a.y);
  if (n < 2) return;
  const width = (/** @type {{x: number, y: number}[]} */ p) => Math.hypot(p[0].x - p[1].x, p[0].y - p[1].y);
  if (width(before) > 0) on.zoom(width(after) / width(before), b.x, b.y);
}
