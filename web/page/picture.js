// SPDX-License-Identifier: Apache-2.0
// Pictures of what the reader sees: the part of the drawing, its numbers and the theme,
// with a line that says of what net and moment it is.
import { paintChanges } from './changes.js';
import { svg } from './dom.js';
import { label, plural, short, visible } from './format.js';
import { Painter } from './painter.js';
import { centerOf, quiet } from './sight.js';
import { SvgPen } from './svgpen.js';

/** The height of the line below the drawing, pixels. */
const captionHeight = 26;
/** The pixels of a PNG for one of the screen, and its greatest width and height. */
const finest = 2;
const largest = 8192;
/** Properties that an element of a diagram gets from style sheets. */
const styles = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-linecap', 'stroke-linejoin', 'fill-opacity', 'stroke-opacity', 'opacity',
  'marker-start', 'marker-mid', 'marker-end', 'font-family', 'font-size', 'font-weight', 'font-style', 'text-anchor', 'dominant-baseline'];

/**
 * The picture of the drawing as it is on the screen.
 * @param {import('./model.js').Model} model
 * @param {import('./stage.js').Stage} stage
 * @param {import('./bpmn.js').BpmnStage} bpmn
 * @returns {SVGElement} of the size of the drawing, with the caption below
 */
export function picture(model, stage, bpmn) {
  const { width, height } = model.bpmn ? bpmn : stage;
  const { palette } = stage.painter;
  const caption = svg('text', { x: 10, y: height + captionHeight / 2, 'dominant-baseline': 'central', 'font-family': 'system-ui, sans-serif', 'font-size': 12, fill: palette.quiet }, words(model, stage));
  return svg('svg', { xmlns: 'http://www.w3.org/2000/svg', width, height: height + captionHeight, viewBox: `0 0 ${width} ${height + captionHeight}` },
    svg('title', null, words(model, stage)),
    svg('rect', { width, height: height + captionHeight, fill: palette.ground }),
    svg('svg', { width, height }, model.bpmn ? diagram(bpmn.root) : net(stage)),
    caption);
}

/**
 * What the picture is of.
 * @param {import('./model.js').Model} model
 * @param {import('./stage.js').Stage} stage
 */
function words(model, stage) {
  const { net, where, shown, scene } = model;
  const called = net ? label(net) : visible(where.net);
  const moment = (/** @type {number} */ ms) => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
  const parts = [short(called, 80), ...(called === where.net ? [] : [short(visible(where.net), 80)]), moment(shown?.at ?? model.now())];
  if (model.comparing) parts.push(`compared with ${moment(model.clock.now())}`);
  if (!model.bpmn && scene) {
    const center = centerOf(model);
    const silent = stage.marks.filter((m) => m === quiet).length;
    if (center >= 0) parts.push(`${plural(where.steps, 'step')} around ${label(scene.nodes[center])}`);
    if (silent) parts.push(`${plural(silent, 'quiet node')} collapsed`);
  }
  return parts.join(' · ');
}

/** @param {import('./stage.js').Stage} stage */
function net(stage) {
  const pen = new SvgPen();
  const painter = new Painter(/** @type {any} */ (pen), stage.painter.palette);
  const { scene, shown } = stage.model;
  const view = stage.view();
  if (scene) painter.paint(scene, shown, view);
  if (stage.model.comparing) paintChanges(/** @type {any} */ (pen), painter.palette, stage.model, view);
  stage.chosen(painter);
  return pen.root;
}

/**
 * A BPMN diagram with the numbers at its elements, which are HTML.
 * @param {HTMLElement} root
 */
function diagram(root) {
  const box = root.getBoundingClientRect();
  const drawn = /** @type {SVGElement} */ (root.querySelector('.djs-container > svg'));
  const out = svg('g', null, ...[...drawn.children].map((c) => copy(c, false)));
  for (const badge of root.querySelectorAll('.djs-overlays :is(.state, .rate)')) out.append(...flat(/** @type {HTMLElement} */ (badge), box));
  const mark = root.querySelector('.bjs-powered-by svg'); // its licence wants it to be seen
  if (mark) {
    const at = mark.getBoundingClientRect();
    out.append(...flat(/** @type {HTMLElement} */ (mark.closest('.bjs-powered-by')), box), svg('svg', { x: at.left - box.left, y: at.top - box.top, width: at.width, height: at.height, viewBox: mark.getAttribute('viewBox') }, ...[...mark.children].map((c) => copy(c, false))));
  }
  return out;
}

/**
 * An element with what style sheets give it in attributes.
 * @param {Element} from
 * @param {boolean} hidden whether it is in a definition, which is never rendered itself
 * @returns {SVGElement|null} null for what is not seen
 */
function copy(from, hidden) {
  const style = getComputedStyle(from);
  const defines = hidden || ['defs', 'marker', 'clipPath'].includes(from.tagName);
  if (!defines && (style.display === 'none' || style.visibility === 'hidden' || from.matches('.djs-hit, .djs-outline, title, foreignObject'))) return null;
  const to = document.createElementNS('http://www.w3.org/2000/svg', from.tagName);
  for (const { name, value } of from.attributes) {
    if (/^(style|class|data-.*|on.*|(xlink:)?href)$/.test(name) || (name === 'id' && !defines)) continue;
    to.setAttribute(name, value);
  }
  if (!from.matches('g, defs, svg')) {
    for (const property of styles) {
      const value = style.getPropertyValue(property);
      if (value && value !== 'none' || property === 'fill') to.setAttribute(property, value.replaceAll('"', "'"));
    }
  }
  for (const child of from.childNodes) {
    if (child instanceof Element) {
      const inner = copy(child, defines);
      if (inner) to.append(inner);
    } else if (child.nodeType === Node.TEXT_NODE) {
      to.append(child.cloneNode());
    }
  }
  return to;
}

/**
 * A small box of HTML with its texts.
 * @param {HTMLElement} element
 * @param {DOMRect} within
 * @returns {SVGElement[]}
 */
function flat(element, within) {
  const box = element.getBoundingClientRect();
  if (!box.width || !element.checkVisibility() || box.right < within.left || box.left > within.right || box.bottom < within.top || box.top > within.bottom) return [];
  const scale = box.width / element.offsetWidth;
  const ground = getComputedStyle(element);
  const out = [svg('rect', { x: box.left - within.left, y: box.top - within.top, width: box.width, height: box.height, fill: ground.backgroundColor,
    rx: Math.min(box.height / 2, parseFloat(ground.borderTopLeftRadius) * scale || 0) })];
  for (const text of [element, ...element.querySelectorAll('*')].flatMap((e) => [...e.childNodes]).filter((n) => n.nodeType === Node.TEXT_NODE && n.textContent)) {
    const range = document.createRange();
    range.selectNodeContents(text);
    const at = range.getBoundingClientRect();
    const style = getComputedStyle(/** @type {Element} */ (text.parentElement));
    if (!at.width) continue;
    out.push(svg('text', { x: at.left + at.width / 2 - within.left, y: at.top + at.height / 2 - within.top, 'text-anchor': 'middle', 'dominant-baseline': 'central', fill: style.color,
      'font-family': style.fontFamily.replaceAll('"', "'"), 'font-size': parseFloat(style.fontSize) * scale, 'font-weight': style.fontWeight }, text.textContent));
  }
  return out;
}

/**
 * A picture as text; of the characters that names may have, two cannot be in XML.
 * @param {SVGElement} drawn
 */
function xml(drawn) {
  return new XMLSerializer().serializeToString(drawn).replace(/[\ufffe\uffff]/g, '\ufffd');
}

/**
 * @param {SVGElement} drawn
 * @returns {Blob}
 */
export function asSVG(drawn) {
  return new Blob([xml(drawn)], { type: 'image/svg+xml' });
}

/**
 * @param {SVGElement} drawn
 * @returns {Promise<Blob>}
 */
export async function asPNG(drawn) {
  const [width, height] = ['width', 'height'].map((a) => Number(drawn.getAttribute(a)));
  const scale = Math.min(finest, largest / Math.max(width, height));
  const image = new Image();
  image.src = 'data:image/svg+xml,' + encodeURIComponent(xml(drawn));
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d')).drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, fail) => canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error('the picture is too large for this browser'))), 'image/png'));
}
