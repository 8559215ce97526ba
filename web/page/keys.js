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
    // A dialog that was just closed may have the focus until the next frame.
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || target.closest('dialog[open], :is(input:not([type=range]), select):not(dialog *)')) return;
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

/**
 * Arrow keys and Enter on a drawing.
 * @param {HTMLElement} root
 * @param {import('./stage.js').Stage|import('./bpmn.js').BpmnStage} stage
 * @param {(text: string) => void} announce what the cursor is at, for screen readers
 */
export function walk(root, stage, announce) {
  root.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== root) return;
    const direction = arrows[event.key];
    if (direction) {
      const there = stage.step(...direction);
      if (there) announce(there);
    } else if (event.key === 'Enter' || event.key === ' ') {
      stage.open();
    } else {
      return;
    }
    event.preventDefault();
  });
  for (const type of ['focus', 'blur']) root.addEventListener(type, () => stage.repaint());
}
