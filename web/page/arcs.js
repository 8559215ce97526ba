// SPDX-License-Identifier: Apache-2.0
import { count } from './format.js';
import { quiet } from './sight.js';
import { along } from './way.js';

export const font = 'system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif';
/**
 * @param {number} weight
 * @param {number} size pixels
 */
export const fontOf = (weight, size) => `${weight} ${size}px ${font}`;
/** From which scale on what is written is legible, and nodes are more than dots. */
export const detail = { shapes: 0.12, marks: 0.24, ages: 0.5, labels: 0.7, arrows: 0.22, names: 0.12 };

/** Paints the arcs of a net. All coordinates are those of the screen: world × scale + (x, y). */
export class ArcPainter {
  /**
   * @param {CanvasRenderingContext2D} ctx
   * @param {import('./palette.js').Palette} palette
   */
  constructor(ctx, palette) {
    this.ctx = ctx;
    this.palette = palette;
    /** @type {[number, number, number, number][]} where texts are, in the drawing: left, top, right, bottom */ this.pills = [];
    this.scale = 1;
    this.x = 0;
    this.y = 0;
    this.width = 0;
    this.height = 0;
  }

  /**
   * What leads through nodes that are collapsed.
   * @param {import('./scene.js').Scene} scene
   * @param {Uint8Array} marks
   * @param {import('./scene.js').SceneArc[]} links
   */
  links({ nodes }, marks, links) {
    const { ctx, scale, x, y } = this;
    ctx.strokeStyle = this.palette.arc;
    ctx.lineWidth = 0.8;
    ctx.setLineDash([2, 4]);
    ctx.beginPath();
    for (const arc of links) {
      if (!this.#passes(arc.box)) continue;
      const from = nodes[arc.from];
      const to = nodes[arc.to];
      /** @type {import('./scene.js').Point[]} */
      const way = [...arc.points];
      if (marks[arc.from] === quiet) way.unshift([from.x, from.y]);
      if (marks[arc.to] === quiet) way.push([to.x, to.y]);
      way.forEach(([px, py], i) => (i ? ctx.lineTo(px * scale + x, py * scale + y) : ctx.moveTo(px * scale + x, py * scale + y)));
    }
    ctx.stroke();
    ctx.setLineDash([]);
  }

  /**
   * Whether a part of a box may be seen.
   * @param {import('./scene.js').Box} box
   */
  #passes(box) {
    const { scale, x, y } = this;
    return box.right * scale + x > -20 && box.left * scale + x < this.width + 20 && box.bottom * scale + y > -20 && box.top * scale + y < this.height + 20;
  }

  /**
   * @param {import('./scene.js').Scene} scene
   * @param {import('./scene.js').SceneArc[]} arcs
   * @param {string} colour
   * @param {number} thick
   */
  arcs(scene, arcs, colour, thick) {
    const { ctx, scale } = this;
    arcs = arcs.filter((a) => this.#passes(a.box));
    ctx.strokeStyle = ctx.fillStyle = colour;
    ctx.lineWidth = Math.max(0.6, Math.min(thick, thick * scale * 1.4));
    for (const read of [false, true]) {
      ctx.setLineDash(read ? [4, 4] : []);
      ctx.beginPath();
      for (const arc of arcs) {
        if ((arc.kind === 'read') === read) this.#path(scene, arc);
      }
      ctx.stroke();
    }
    ctx.setLineDash([]);
    if (scale < detail.arrows) return;
    for (const arc of arcs) this.#head(arc, colour, scene.grown(arc.to, scale) * scale);
    if (scale >= detail.labels) for (const arc of arcs) if (arc.weight > 1) this.#weight(arc, colour);
  }

  /**
   * From border to border, also of places that are drawn larger than laid out.
   * @param {import('./scene.js').Scene} scene
   * @param {import('./scene.js').SceneArc} arc
   */
  #path(scene, arc) {
    const { ctx, scale, x, y } = this;
    const last = arc.points.length - 1;
    const fine = scale >= detail.shapes;
    arc.points.forEach((point, i) => {
      const [px, py] = !fine ? point : i === 0 ? along(arc, scene.grown(arc.from, scale)) : i === last ? along(arc, arc.length - scene.grown(arc.to, scale)) : point;
      if (i) ctx.lineTo(px * scale + x, py * scale + y);
      else ctx.moveTo(px * scale + x, py * scale + y);
    });
  }

  /**
   * @param {import('./scene.js').SceneArc} arc
   * @param {string} colour
   * @param {number} short by which it ends before the end of the arc
   */
  #head(arc, colour, short) {
    if (arc.kind === 'read') return;
    const { ctx, scale } = this;
    const [bx, by] = arc.points[arc.points.length - 2];
    const [ex, ey] = arc.points[arc.points.length - 1];
    const angle = Math.atan2(ey - by, ex - bx);
    const sx = ex * scale + this.x - Math.cos(angle) * short;
    const sy = ey * scale + this.y - Math.sin(angle) * short;
    if (sx < -20 || sy < -20 || sx > this.width + 20 || sy > this.height + 20) return;
    const size = Math.max(4, Math.min(9, 14 * scale));
    if (arc.kind === 'inhibitor') {
      ctx.beginPath();
      ctx.arc(sx - Math.cos(angle) * size * 0.55, sy - Math.sin(angle) * size * 0.55, size * 0.55, 0, 2 * Math.PI);
      ctx.fillStyle = this.palette.ground;
      ctx.fill();
      ctx.stroke();
      ctx.fillStyle = colour;
      return;
    }
    for (const back of arc.kind === 'reset' ? [0, size] : [0]) {
      const tx = sx - Math.cos(angle) * back;
      const ty = sy - Math.sin(angle) * back;
      ctx.beginPath();
      ctx.moveTo(tx, ty);
      ctx.lineTo(tx - size * Math.cos(angle - 0.42), ty - size * Math.sin(angle - 0.42));
      ctx.lineTo(tx - size * Math.cos(angle + 0.42), ty - size * Math.sin(angle + 0.42));
      ctx.fill();
    }
  }

  /**
   * @param {import('./scene.js').SceneArc} arc
   * @param {string} colour
   */
  #weight(arc, colour) {
    const [px, py] = along(arc, arc.length / 2);
    this.pill(`×${count(arc.weight)}`, px * this.scale + this.x, py * this.scale + this.y, colour);
  }

  /**
   * Text on a patch of ground, so that lines do not strike it through.
   * @param {string} text
   * @param {number} x
   * @param {number} y
   * @param {string} colour
   */
  pill(text, x, y, colour) {
    const { ctx } = this;
    ctx.font = `10.5px ${font}`;
    const w = ctx.measureText(text).width + 4;
    this.pills.push([(x - w / 2 - this.x) / this.scale, (y - 6.5 - this.y) / this.scale, (x + w / 2 - this.x) / this.scale, (y + 6.5 - this.y) / this.scale]);
    ctx.fillStyle = this.palette.ground;
    ctx.fillRect(x - w / 2, y - 6.5, w, 13);
    ctx.fillStyle = colour;
    ctx.fillText(text, x, y + 0.5);
  }
}
