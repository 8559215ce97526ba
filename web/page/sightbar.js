// SPDX-License-Identifier: Apache-2.0
import { mostSteps } from './address.js';
import { byId, el, name, replaceKeepingFocus } from './dom.js';
import { label, plural } from './format.js';
import { away, centerOf, quiet } from './sight.js';

/** Steps that a neighbourhood begins with. */
const firstSteps = 2;

/** What part of the net is shown and how to see more, above the drawing. */
export class SightBar {
  /**
   * @param {import('./model.js').Model} model
   * @param {import('./stage.js').Stage} stage
   */
  constructor(model, stage) {
    this.model = model;
    this.stage = stage;
    this.root = byId('sight');
    this.said = '';
    byId('quiet').addEventListener('click', () => this.collapse());
    model.on('sight address drawing link', () => this.show());
  }

  /** Hides what is quiet, or shows it again. */
  collapse() {
    if (!this.model.bpmn) this.model.address.go({ quiet: !this.model.where.quiet });
  }

  /**
   * Shows the surroundings of the node at the cursor, else of what is selected, or all again.
   * @param {number} cursor of the drawing that the reader sees, -1 for none
   */
  toggle(cursor) {
    if (this.model.where.around) this.leave();
    else this.model.lookAround(cursor >= 0 ? cursor : this.model.selected(), firstSteps);
  }

  /** @param {number} by steps */
  step(by) {
    const { address, where } = this.model;
    if (where.around) address.go({ steps: Math.max(1, Math.min(mostSteps, where.steps + by)) }, true);
  }

  leave() {
    this.model.address.go({ around: '' });
  }

  show() {
    const { model, root } = this;
    const { where, scene } = model;
    byId('quiet').hidden = model.bpmn; // it is drawn whole
    byId('quiet').setAttribute('aria-pressed', String(where.quiet));
    const marks = this.stage.marks;
    const center = centerOf(model);
    let hidden = 0;
    let silent = 0;
    for (const mark of marks) {
      if (mark === away) hidden++;
      if (mark === quiet) silent++;
    }
    const said = JSON.stringify([center, where.steps, where.quiet, hidden, silent, this.stage.away]);
    if (said === this.said) return;
    this.said = said;
    root.hidden = this.stage.away || !scene || (center < 0 && !where.quiet);
    if (root.hidden || !scene) return;
    const parts = [];
    if (center >= 0) {
      parts.push(el('span', null, 'Around ', name(label(scene.nodes[center]))),
        this.#button('fewer', 'Fewer steps (<)', '−', () => this.step(-1), where.steps <= 1),
        el('span', { class: 'num' }, plural(where.steps, 'step')),
        this.#button('more', 'More steps (>)', '+', () => this.step(1), where.steps >= mostSteps),
        el('span', { class: 'quiet num' }, `${marks.length - hidden} of ${plural(marks.length, 'node')}`),
        this.#button('all', 'The whole net (n)', 'show all', () => this.leave(), false));
    }
    if (where.quiet) {
      parts.push(el('span', { class: 'num' }, `${plural(silent, 'quiet node')} collapsed`),
        this.#button('loud', 'Show what is quiet (q)', 'expand', () => this.collapse(), false));
    }
    replaceKeepingFocus(root, ...parts);
  }

  /**
   * @param {string} key
   * @param {string} title
   * @param {string} text
   * @param {() => void} onclick
   * @param {boolean} disabled
   */
  #button(key, title, text, onclick, disabled) {
    return el('button', { type: 'button', class: text.length > 1 ? 'link-like' : 'small', 'data-key': key, title, 'aria-label': title, onclick, disabled }, text);
  }
}
