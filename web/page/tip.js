// SPDX-License-Identifier: Apache-2.0
import { ask } from './api.js';
import { byId, el, name } from './dom.js';
import { age, count, label, plural, rate, waiting } from './format.js';

/** The mouse rests so long before the reason is asked for, ms. */
const pause = 150;
const fresh = 5000;
/** How many other nodes of an element are shown. */
const most = 3;

/** What is under the mouse, in a few words; of a transition also why it waits. */
export class Tip {
  /**
   * @param {import('./model.js').Model} model
   * @param {{readonly now: import('./stage.js').Stage|import('./bpmn.js').BpmnStage}} views
   */
  constructor(model, views) {
    this.model = model;
    this.views = views;
    this.root = byId('tip');
    this.node = -1;
    this.waiting = 0;
    /** @type {Map<string, {at: number, blocks: any[]}>} */ this.known = new Map();
    model.on('hover frame drawing', () => this.show());
    model.on('drawing', () => this.known.clear());
  }

  show() {
    const { model, root } = this;
    const stage = this.views.now;
    const node = model.where.table ? -1 : stage.hovered;
    const all = [node, ...stage.others.slice(0, most)];
    if (node !== this.node) {
      clearTimeout(this.waiting);
      const why = all.filter((i) => model.scene?.nodes[i]?.kind === 'transition');
      if (why.length) this.waiting = window.setTimeout(() => why.forEach((i) => this.#ask(i)), pause);
    }
    this.node = node;
    root.hidden = node < 0 || !model.scene?.nodes[node];
    if (root.hidden) return;
    root.replaceChildren(...all.flatMap((i) => this.#node(i)));
    if (stage.others.length > most) root.append(el('div', { class: 'quiet' }, `and ${stage.others.length - most} more of this element`));
    const at = stage.where(node);
    const left = Math.max(8, Math.min(stage.width - root.offsetWidth - 8, at.x - root.offsetWidth / 2));
    const below = at.y + at.h / 2 + 14;
    const top = below + root.offsetHeight > stage.height ? at.y - at.h / 2 - 14 - root.offsetHeight : below;
    root.style.transform = `translate(${Math.round(left)}px, ${Math.round(Math.max(8, top))}px)`;
  }

  /** @param {number} node */
  #node(node) {
    const n = this.model.scene?.nodes[node];
    return n ? [el('strong', null, name(label(n))), ...(n.kind === 'place' ? this.#place(node) : this.#transition(n, node))] : [];
  }

  /** @param {number} node */
  #place(node) {
    const row = this.model.shown?.places[node] ?? {};
    const old = this.model.scene?.nodes[node].final ? 'finished work: no transition takes them' : `oldest ${age(this.model.shown?.oldestAge(node, this.model.now()))}`;
    const words = row.tokens === 0 ? 'empty' : `${waiting(row.tokens, this.model.scene?.nodes[node] ?? {})}, ${old}`;
    return [el('div', { class: 'num' }, words)];
  }

  /**
   * @param {import('./scene.js').DrawnNode} n
   * @param {number} node
   */
  #transition(n, node) {
    const { model } = this;
    const i = node - /** @type {any} */ (model.scene).placeCount;
    const row = model.shown?.transitions[i] ?? {};
    const out = [el('div', { class: 'num' }, `${rate(row.rate)}, enabled ${count(row.enabled)}, running ${count(row.running)}, blocked ${count(row.blocked)}`)];
    if (row.enabled) out.push(el('div', { class: 'num quiet' }, `enabled for ${age(model.shown?.enabledAge(i, model.now()))}`));
    const blocked = model.moment ? [] : this.known.get(n.id)?.blocks.slice(0, 4) ?? [];
    for (const b of blocked) out.push(el('div', { class: 'reason' }, `${b.text || b.reason} (${plural(b.instances, 'instance')})`));
    return out;
  }

  /** @param {number} node */
  async #ask(node) {
    const { model } = this;
    const n = model.scene?.nodes[node];
    const known = n && this.known.get(n.id);
    if (!n || model.moment || (known && Date.now() - known.at < fresh)) return;
    try {
      const answer = await ask('transition', { net: model.where.net, transition: n.id });
      if (this.known.size > 100) this.known.clear();
      this.known.set(n.id, { at: Date.now(), blocks: answer.blocks ?? [] });
      if (this.node === node || this.views.now.others.includes(node)) this.show();
    } catch {
      // A tip without a reason is still a tip; the link says if the server is lost.
    }
  }
}
