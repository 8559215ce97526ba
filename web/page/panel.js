// SPDX-License-Identifier: Apache-2.0
import { ask, ApiError } from './api.js';
import { el, name, replaceKeepingFocus } from './dom.js';
import { label, waiting } from './format.js';
import { HeatScale } from './heat.js';
import { instance } from './instance.js';
import { links } from './links.js';
import { past, there } from './past.js';
import { place } from './place.js';
import { transition } from './transition.js';

/** How long an answer is good for, ms. */
const fresh = 2000;
const parts = { place, transition, instance };

/** The right side: what is selected. */
export class Panel {
  /**
   * @param {import('./model.js').Model} model
   * @param {HTMLElement} root
   * @param {import('./theme.js').Theme} theme
   */
  constructor(model, root, theme) {
    this.model = model;
    this.root = root;
    this.heat = new HeatScale(theme.now);
    this.subject = '';
    /** @type {any} */ this.answer = null;
    /** Whether it was asked for a moment of the past. */ this.answerOfPast = false;
    this.trouble = '';
    this.askedAt = 0;
    /** @type {AbortController|null} */ this.asked = null;
    /** @type {import('./moments.js').Moment|null} what is shown is of */ this.of = null;
    this.held = false;
    /** How the reader acted last; '' before. @type {''|'key'|'pointer'} */ this.input = '';
    /** @type {Element|null} what had the focus before the panel opened */ this.opener = null;
    addEventListener('keydown', () => (this.input = 'key'), true);
    addEventListener('pointerdown', () => (this.input = 'pointer'), true);
    theme.addEventListener('change', () => {
      this.heat = new HeatScale(theme.now);
      this.show();
    });
    model.on('address drawing', () => this.#turn());
    model.on('frame overview', () => {
      if (model.moment !== this.of && !model.playing) this.askedAt = 0; // the answer at hand is of another moment
      if (model.moment !== this.of || model.comparing) this.#again();
      this.#refresh();
    });
    model.on('acted', () => {
      this.askedAt = 0;
      this.#refresh();
    });
    // What is pressed must still be there when it is let go.
    root.addEventListener('pointerdown', () => (this.held = true));
    const released = () => {
      this.held = false;
      if (model.moment !== this.of) this.#again();
    };
    addEventListener('pointerup', () => setTimeout(released));
    addEventListener('pointercancel', released);
  }

  /** Shows another moment, or what differs from it now. */
  #again() {
    if (this.subject && !this.held) this.show();
  }

  #turn() {
    const { net, kind, id, at } = this.model.where;
    const subject = kind && net ? JSON.stringify([net, kind, id, at]) : '';
    if (subject === this.subject) return;
    const same = this.subject && subject && JSON.stringify([net, kind, id]) === JSON.stringify(JSON.parse(this.subject).slice(0, 3));
    this.subject = subject;
    if (!same) {
      this.answer = null;
      this.trouble = '';
      this.root.scrollTop = 0;
    }
    this.askedAt = 0;
    const opens = this.root.hidden && Boolean(subject);
    const active = document.activeElement;
    const inside = this.root.contains(active);
    this.root.hidden = !subject;
    this.root.parentElement?.classList.toggle('with-panel', Boolean(subject));
    if (subject) this.#refresh();
    this.show();
    this.#focus(opens, inside, active);
  }

  /**
   * Moves the focus into the panel if it opens, and back when it closes. A reader who opens
   * it with the mouse on the drawing stays there.
   * @param {boolean} opens
   * @param {boolean} inside whether the focus was in the panel
   * @param {Element|null} active what had the focus
   */
  #focus(opens, inside, active) {
    const drawing = active?.id === 'net' && this.input === 'pointer' && innerWidth > 760;
    if (opens) this.opener = active;
    if (!this.subject) {
      if (document.activeElement === document.body && this.opener?.isConnected) /** @type {HTMLElement} */ (this.opener).focus();
    } else if (this.input && !drawing && (opens || inside)) {
      this.root.focus({ preventScroll: true });
    }
  }

  async #refresh() {
    if (!this.subject || Date.now() - this.askedAt < fresh || document.visibilityState !== 'visible') return;
    this.askedAt = Date.now();
    this.asked?.abort();
    const asked = (this.asked = new AbortController());
    const { model } = this;
    const { where: { net, kind, id }, moment } = model;
    try {
      this.answer = await ask(kind, { net, [kind]: id, ...(moment ? { at: new Date(moment.asked).toISOString() } : {}) }, asked.signal);
      this.answerOfPast = moment !== null;
      this.trouble = '';
      model.unfound = kind === 'instance' && !this.answer.now && !this.answer.seen?.length && /^none of /.test(this.answer.unanswered) ? id : '';
    } catch (error) {
      if (asked.signal.aborted) return;
      if (error instanceof ApiError && error.status === 404) this.answer = null;
      this.trouble = error instanceof Error ? error.message : String(error);
    }
    if (!this.held && !asked.signal.aborted) this.show();
  }

  /** @returns {string[]} the places that hold tokens of the instance, as far as that is known */
  #traced() {
    const { where, moment, at } = this.model;
    if (where.kind !== 'instance' || !this.answer) return [];
    const held = moment ? (this.answer.seen ?? []).filter((/** @type {any} */ s) => there(s, at)) : this.answer.now ?? [];
    return held.map((/** @type {{place: string}} */ t) => t.place);
  }

  show() {
    this.of = this.model.moment;
    this.model.trace(this.#traced());
    if (!this.subject) return this.root.replaceChildren();
    const { kind, id } = this.model.where;
    const { model, root } = this;
    const node = model.selected();
    const called = this.answer?.called ?? model.scene?.nodes[node]?.called;
    const title = (called?.name || this.answer?.name || model.scene?.nodes[node]?.name || id) ?? '';
    const head = el('header', { class: 'panel-head' },
      el('p', { class: 'quiet' }, called?.kind ?? kind),
      el('h2', null, name(title)),
      title !== id && el('p', { class: 'quiet' }, name(id)),
      el('button', { type: 'button', class: 'icon close', 'aria-label': 'Close the details (Esc)', title: 'Esc', 'data-key': 'close', onclick: () => model.select('', '') }, '×'));
    const doc = this.answer?.doc || model.scene?.nodes[node]?.doc;
    const body = el('div', { class: 'panel-body' });
    body.append(...element(model, node));
    const outside = (node >= 0 || kind === 'instance') && links(model);
    if (outside) body.append(outside);
    if (doc) body.append(el('p', { class: 'doc' }, doc));
    if (this.trouble && !model.moment) body.append(el('p', { class: 'note' }, `No details: ${this.trouble}`));
    if (model.moment && kind) body.append(...past(kind, this.answer, node, { model, heat: this.heat }));
    else if (this.answer && kind && !this.answerOfPast) body.append(...parts[kind](this.answer, { model, heat: this.heat }));
    else if (!this.trouble) body.append(el('p', { class: 'quiet' }, 'asking …'));
    const whole = this.answer || this.trouble || model.moment; // before that, what is below moves off
    if (node >= 0 && whole) body.append(el('p', null, el('button', { type: 'button', class: 'link-like', 'data-key': 'near', title: 'n', onclick: () => model.lookAround(node, 2) }, 'Show only what is near')));
    replaceKeepingFocus(root, head, body);
  }
}

/**
 * The other nodes of the element of the BPMN file that a node belongs to.
 * @param {import('./model.js').Model} model
 * @param {number} node
 */
function element(model, node) {
  const { scene, shown } = model;
  const e = scene?.elements?.of(node);
  if (!scene?.elements || !e || !model.bpmn) return [];
  const others = scene.elements.nodesOf(e, shown).filter((i) => i !== node);
  if (!others.length) return [];
  return [el('h3', null, `Also of ${e.id}`), el('ul', { class: 'also' }, ...others.map((i) => {
    const n = scene.nodes[i];
    const held = n.kind === 'place' ? ` ${waiting(shown?.places[i]?.tokens, n)}` : '';
    return el('li', null, el('button', { type: 'button', class: 'link-like', 'data-key': 'also ' + i, onclick: () => model.select(n.kind, n.id) }, name(label(n))), el('span', { class: 'quiet num' }, ` ${n.called ? '' : n.kind}${held}`));
  }))];
}
