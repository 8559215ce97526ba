// SPDX-License-Identifier: Apache-2.0
// Colours that the author of a BPMN file gave to its elements. They are for a light ground, and a
// shape's icons and words may have no colour of their own.

/** Which luminances a line or a word may have in a theme, so that its ground sets it off. */
const seen = Object.freeze({ light: [0, 0.3], dark: [0.12, 1] });
/** Which attributes have the fill of a shape, in the order in which bpmn-js reads them. */
const fills = Object.freeze(['color:background-color', 'bioc:fill']);

/**
 * Has lines and names that an author coloured keep their colours where the theme's ground sets
 * them off, and otherwise have the theme's. On a fill of the author's they stay as they are. Pools and
 * lanes, on which others are drawn, have a fill of the author's on the light ground only.
 * @param {any} definitions of a file
 */
export function tint(definitions) {
  for (const di of (definitions.diagrams ?? []).flatMap((/** @type {any} */ d) => d.plane?.planeElement ?? [])) {
    if (holder(di)) for (const name of fills) if (di.get(name)) di.set(name, `light-dark(${di.get(name)}, var(--bpmn-fill))`);
    if (!filled(di)) soften(di, ['color:border-color', 'bioc:stroke'], 'var(--bpmn-line)');
    if (di.label && beside(di)) soften(di.label, ['color:color'], 'var(--bpmn-ink)');
    else if (di.label && !filled(di)) di.label.set('color:color', undefined); // the page colours what is behind it
  }
}

/**
 * What is written on the fill that an author gave a shape; '' for a shape without one.
 * @param {any} shape
 */
export function inkOf({ di }) {
  const fill = filled(di).replace(/^light-dark\((.*), var.*/, '$1');
  const ink = luminance(channels(fill)) > 0.18 ? '#10141b' : '#f5f7fa';
  return fill && (holder(di) ? `light-dark(${ink}, var(--ink))` : ink);
}

/** @param {any} di */
function filled(di) {
  return fills.map((name) => di?.get(name)).find(Boolean) ?? '';
}

/** @param {any} di */
function holder(di) {
  return /^bpmn:(Participant|Lane)$/.test(di?.bpmnElement?.$type ?? '');
}

/**
 * Whether the name of an element is beside it.
 * @param {any} di
 */
function beside({ bpmnElement }) {
  return /(Event|Gateway|Flow|Association)$|^bpmn:Data/.test(bpmnElement?.$type ?? '');
}

/**
 * @param {any} of what has the colours
 * @param {string[]} names
 * @param {string} instead
 */
function soften(of, names, instead) {
  for (const name of names) {
    const colour = of.get(name);
    if (!colour) continue;
    const bright = luminance(channels(colour));
    const [light, dark] = [seen.light, seen.dark].map(([least, most]) => (bright >= least && bright <= most ? colour : instead));
    of.set(name, light === dark ? light : `light-dark(${light}, ${dark})`);
  }
}

/**
 * @param {number[]} rgb
 * @returns {number} as WCAG defines it
 */
function luminance(rgb) {
  const [r, g, b] = rgb.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/**
 * Red, green and blue of a colour of CSS; black for what is none.
 * @param {string} colour
 */
function channels(colour) {
  const ctx = /** @type {OffscreenCanvasRenderingContext2D} */ (new OffscreenCanvas(1, 1).getContext('2d'));
  ctx.fillStyle = colour;
  ctx.fillRect(0, 0, 1, 1);
  return [...ctx.getImageData(0, 0, 1, 1).data].slice(0, 3);
}
