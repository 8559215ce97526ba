// SPDX-License-Identifier: Apache-2.0
import { hash } from './address.js';
import { download } from './api.js';
import { byId, el, say } from './dom.js';
import { visible, when } from './format.js';
import { looked } from './look.js';
import { asPNG, asSVG, picture } from './picture.js';

/** The dialog to give what one sees to others: a link, a picture, tables. */
export class Share {
  /**
   * @param {import('./model.js').Model} model
   * @param {import('./stage.js').Stage} stage
   * @param {import('./bpmn.js').BpmnStage} bpmn
   */
  constructor(model, stage, bpmn) {
    Object.assign(this, { model, stage, bpmn });
    this.model = model;
    this.stage = stage;
    this.bpmn = bpmn;
    /** The moment that was seen when the dialog was opened, ms since the Unix epoch. */ this.at = 0;
    this.link = /** @type {HTMLInputElement} */ (el('input', { type: 'text', id: 'share-link', readonly: true, 'aria-label': 'Link to what is shown', onfocus: () => this.link.select() }));
    this.fixed = /** @type {HTMLInputElement} */ (el('input', { type: 'checkbox', id: 'share-fixed', onchange: () => this.#address() }));
    this.moment = el('span', { class: 'num' });
    this.said = el('p', { class: 'said', role: 'status' });
    this.pictures = el('div', { class: 'choices' }, this.#button('png', 'PNG', () => this.#picture('png')), this.#button('svg', 'SVG', () => this.#picture('svg')));
    this.stuck = this.#button('stuck', '', () => this.#table('stuck'));
    this.dialog = /** @type {HTMLDialogElement} */ (byId('share'));
    this.dialog.append(el('h2', { id: 'share-title' }, 'Link'),
      el('div', { class: 'choices' }, this.link, this.#button('copy', 'Copy link', () => this.#copy())),
      el('label', { class: 'fixed' }, this.fixed, ' to this moment, ', this.moment, el('span', { class: 'quiet' }, ', for as long as the server keeps it')),
      el('h2', null, 'Picture of what is shown'), this.pictures,
      el('h2', null, 'Tables (CSV)'), el('div', { class: 'choices' }, this.#button('places', 'Places', () => this.#table('places')), this.#button('transitions', 'Transitions', () => this.#table('transitions')),
        this.stuck, this.#button('alarms', 'Alarms', () => this.#table('alarms'))),
      this.said, el('button', { type: 'button', onclick: () => this.dialog.close() }, 'Close'));
    model.on('drawing', () => this.#allow());
  }

  /**
   * @param {string} key
   * @param {string} text
   * @param {() => void} onclick
   */
  #button(key, text, onclick) {
    return /** @type {HTMLButtonElement} */ (el('button', { type: 'button', 'data-key': key, onclick }, text));
  }

  open() {
    const { model } = this;
    // The server's times are finer than milliseconds; the moment is the first at which what is seen was there.
    this.at = model.where.at || (model.current ? model.current.at + 1 : 0);
    this.fixed.checked = Boolean(model.where.at);
    this.fixed.disabled = !this.at || this.fixed.checked;
    say(this.moment, this.at ? when(this.at) : '–');
    say(this.stuck, model.where.kind === 'place' ? 'Instances waiting in this place' : 'Waiting instances');
    say(this.said, model.where.table ? 'A picture shows the drawing, not the table.' : '');
    this.#address();
    this.#allow();
    this.dialog.showModal();
    this.link.focus();
  }

  /** Pictures are there once there is a drawing. */
  #allow() {
    const { scene, where } = this.model;
    for (const button of this.pictures.children) /** @type {HTMLButtonElement} */ (button).disabled = !scene || where.table;
  }

  #address() {
    const { where } = this.model;
    this.link.value = new URL(hash({ ...where, at: this.fixed.checked ? this.at : where.at, look: looked(this.stage) }), location.href).href;
  }

  async #copy() {
    say(this.said, (await copied(this.link)) ? 'Copied.' : 'This browser does not copy here: press Ctrl+C.');
  }

  /** @param {'png'|'svg'} kind */
  #picture(kind) {
    this.#give(async () => {
      const drawn = picture(this.model, this.stage, this.bpmn);
      return { blob: kind === 'png' ? await asPNG(drawn) : asSVG(drawn), name: `${fileName(this.model)}.${kind}`, lacks: '' };
    });
  }

  /** @param {'places'|'transitions'|'alarms'|'stuck'} what */
  #table(what) {
    const { net, at, kind, id, filter } = this.model.where;
    const { of = '', ...rest } = filter;
    const then = at ? { at: new Date(at).toISOString() } : {};
    const queries = { places: { net, ...then }, transitions: { net, ...then }, stuck: kind === 'place' ? { net, place: id } : { net }, alarms: of ? { ...rest, net: of } : rest };
    this.#give(() => download(`${what}.csv`, /** @type {Record<string, string>} */ (queries[what])));
  }

  /** @param {() => Promise<import('./api.js').Download>} make */
  async #give(make) {
    say(this.said, 'making it …');
    say(this.said, await given(make));
  }
}

/**
 * Saves a file, and returns what to say of it.
 * @param {() => Promise<import('./api.js').Download>} make
 */
export async function given(make) {
  try {
    const { blob, name, lacks } = await make();
    const href = URL.createObjectURL(blob);
    el('a', { href, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60e3);
    return visible(`Saved as ${name}.${lacks && ` There may be more: ${lacks}.`}`);
  } catch (error) {
    return `Not saved: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/**
 * Copies what an input holds. Without a secure context there is no clipboard, and the
 * older way needs the text to be selected.
 * @param {HTMLInputElement} input
 */
async function copied(input) {
  try {
    await navigator.clipboard.writeText(input.value);
    return true;
  } catch {
    input.focus();
    input.select();
    return document.execCommand('copy');
  }
}

/**
 * A name for a file: of the net's id its letters, digits, dots and underscores.
 * @param {import('./model.js').Model} model
 */
function fileName({ where, shown, clock: time }) {
  const id = Array.from(where.net.replace(/[^\p{L}\p{M}\p{N}._]/gu, '-')).slice(0, 64).join('').replace(/^[-.]+|[-.]+$/g, '');
  const at = new Date(shown?.at ?? time.now()).toISOString().replace(/\.\d+Z$/, 'Z').replace(/[-:]/g, '');
  return `${id || 'net'}-${at}`;
}
