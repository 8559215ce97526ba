// SPDX-License-Identifier: Apache-2.0
import { byId, say } from './dom.js';
import { plural } from './format.js';

/** The stage that the reader sees, and the choice between them. */
export class Views {
  /**
   * @param {import('./model.js').Model} model
   * @param {import('./stage.js').Stage} net
   * @param {import('./bpmn.js').BpmnStage} bpmn
   */
  constructor(model, net, bpmn) {
    Object.assign(this, { model, net, bpmn });
    this.model = model;
    this.net = net;
    this.bpmn = bpmn;
    this.root = byId('view');
    byId('view-bpmn').addEventListener('click', () => this.choose(model.large ? 'bpmn' : ''));
    byId('view-net').addEventListener('click', () => this.choose('net'));
    model.on('drawing address link', () => this.show());
    this.show();
  }

  /** @returns {import('./stage.js').Stage|import('./bpmn.js').BpmnStage} */
  get now() {
    return this.model.bpmn ? this.bpmn : this.net;
  }

  /** @param {''|'net'|'bpmn'} view */
  choose(view) {
    this.model.address.go({ view });
    const node = this.model.selected();
    if (node >= 0) this.now.point(node);
  }

  /** Between BPMN and net, where there is a choice. */
  toggle() {
    if (this.model.scene?.model?.digest) this.choose(this.model.bpmn ? 'net' : this.model.large ? 'bpmn' : '');
  }

  show() {
    const { model } = this;
    const m = model.scene?.model;
    const button = /** @type {HTMLButtonElement} */ (byId('view-bpmn'));
    const why = m?.missing || model.bpmnTrouble;
    this.root.hidden = !m;
    button.disabled = Boolean(why);
    const asked = !why && model.large && !model.bpmn;
    say(button, asked ? 'Draw the BPMN anyway' : 'BPMN');
    say(byId('view-why'), asked ? `${plural(m?.elements.length, 'element')}: the page does not answer while they are drawn as BPMN` : why ? `No BPMN: ${why}` : '');
    button.setAttribute('aria-pressed', String(model.bpmn));
    byId('view-net').setAttribute('aria-pressed', String(!model.bpmn));
    byId('stage').classList.toggle('as-bpmn', model.bpmn);
    byId('bpmn').hidden = !model.bpmn || model.where.table;
  }
}
