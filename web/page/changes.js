// SPDX-License-Identifier: Apache-2.0
// What differs from now, beside the nodes of the drawing.
import { fontOf } from './arcs.js';
import { brief, otherRate, placeChange } from './compare.js';
import { rate, shortAge } from './format.js';

/** From which scale on a change has its number, its age, and transitions have theirs. */
const detail = { numbers: 0.24, ages: 0.5 };
const size = 11;

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {import('./palette.js').Palette} palette
 * @param {import('./model.js').Model} model
 * @param {{scale: number, x: number, y: number, marks: Uint8Array}} view as a painter has it
 */
export function paintChanges(ctx, palette, model, view) {
  const { scene, shown, current } = model;
  if (!scene || !shown || !current || current.drawing !== shown.drawing) return;
  const passed = (model.clock.now() - model.at) / 1000;
  ctx.textAlign = 'center';
  ctx.textBaseline = 'middle';
  scene.nodes.forEach((node, i) => {
    if (view.marks[i]) return;
    const x = node.x * view.scale + view.x;
    const y = node.y * view.scale + view.y;
    if (i >= scene.placeCount) return rateChange(ctx, palette, shown.transitions[i - scene.placeCount], current.transitions[i - scene.placeCount], x, y + (node.h / 2) * view.scale, view.scale);
    const change = placeChange(shown.places[i], current.places[i], passed, node.calm);
    const r = scene.radius(i, view.scale);
    if (view.scale < detail.numbers) return wedge(ctx, palette, change.by, x + r, y - r);
    const aged = change.aged && view.scale >= detail.ages ? `same, +${shortAge(change.aged)}` : '';
    const text = [brief(change), aged].filter(Boolean).join(' · ');
    if (text) tag(ctx, palette, text, x + r * 0.85, y - r - 4, 'start');
  });
}

/**
 * A wedge that points up for more tokens, down for fewer, where no number can be read.
 * @param {CanvasRenderingContext2D} ctx
 * @param {import('./palette.js').Palette} palette
 * @param {number|null} by
 * @param {number} x
 * @param {number} y
 */
function wedge(ctx, palette, by, x, y) {
  if (!by) return;
  const up = by > 0 ? 1 : -1;
  ctx.fillStyle = palette.past;
  ctx.beginPath();
  ctx.moveTo(x, y - 4 * up);
  ctx.lineTo(x - 4, y + 3 * up);
  ctx.lineTo(x + 4, y + 3 * up);
  ctx.fill();
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {import('./palette.js').Palette} palette
 * @param {import('./frame.js').TransitionRow|undefined} then
 * @param {import('./frame.js').TransitionRow|undefined} now
 * @param {number} x
 * @param {number} y the lower border of the transition
 * @param {number} scale
 */
function rateChange(ctx, palette, then, now, x, y, scale) {
  if (scale >= detail.ages && otherRate(then?.rate, now?.rate)) tag(ctx, palette, `→ ${rate(now?.rate)}`, x, y + (then?.rate ? 23 : 9), 'middle');
}

/**
 * Text in a frame of its own, unlike any other number of the drawing.
 * @param {CanvasRenderingContext2D} ctx
 * @param {import('./palette.js').Palette} palette
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {'start'|'middle'} from what of it is at x
 */
function tag(ctx, palette, text, x, y, from) {
  ctx.font = fontOf(600, size);
  const w = ctx.measureText(text).width + 8;
  const left = from === 'start' ? x - 4 : x - w / 2;
  ctx.beginPath();
  ctx.roundRect(left, y - 7.5, w, 15, 4);
  ctx.fillStyle = palette.pastSoft;
  ctx.fill();
  ctx.lineWidth = 1;
  ctx.strokeStyle = palette.past;
  ctx.stroke();
  ctx.fillStyle = palette.past;
  ctx.fillText(text, left + w / 2, y + 0.5);
}
