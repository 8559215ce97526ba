// SPDX-License-Identifier: Apache-2.0

/** @type {Record<string, [number, number]>} */
const arrows = Object.freeze({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] });

/**
 * The keyboard of the whole page.
 * @param {Record<string, () => void>} actions by key
 */
export function shortcuts(actions) {
  addEventListener('keydown', (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || target.closest('input:not([type=range]), select, dialog')) return;
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

/**
 * Arrow keys and Enter on the drawing.
 * @param {import('./model.js').Model} model
 * @param {import('./stage.js').Stage} stage
 * @param {(text: string) => void} announce what the cursor is at, for screen readers
 * @param {(node: number) => string} describe
 */
export function walk(model, stage, announce, describe) {
  const open = () => {
    const node = model.scene?.nodes[stage.cursor];
    if (node) model.select(node.kind, node.id);
  };
  stage.canvas.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !model.scene) return;
    const direction = arrows[event.key];
    if (direction) {
      const next = stage.cursor < 0 ? Math.max(0, model.selected(), model.hottest()) : model.scene.towards(stage.cursor, ...direction);
      if (next >= 0) {
        stage.point(next);
        announce(describe(next));
      }
    } else if (event.key === 'Enter' || event.key === ' ') {
      open();
    } else {
      return;
    }
    event.preventDefault();
  });
  for (const type of ['focus', 'blur']) stage.canvas.addEventListener(type, () => stage.repaint());
}
