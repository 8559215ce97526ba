// SPDX-License-Identifier: Apache-2.0
import { el, name, say, syncRows } from './dom.js';
import { less, placeChange } from './compare.js';
import { age, count, label, rate, signed, unknown } from './format.js';
import { heat, HeatScale } from './heat.js';
import { work } from './scene.js';

const most = 500;
const pause = 900;

/** The net as two tables: places by their oldest token, transitions by rate; what is compared with now by how much it differs. */
export class Tables {
  /**
   * @param {import('./model.js').Model} model
   * @param {HTMLElement} root
   * @param {import('./theme.js').Theme} theme
   */
  constructor(model, root, theme) {
    this.model = model;
    this.root = root;
    this.theme = theme;
    this.heat = new HeatScale(theme.now);
    this.places = table('Places, oldest token first', ['place', 'oldest token', 'tokens', 'instances', 'arrivals']);
    this.transitions = table('Transitions, most firings first', ['transition', 'rate', 'enabled', 'for', 'running', 'blocked', 'failures']);
    this.placesOfBoth = table('Places, greatest difference first', ['place', 'tokens then', 'tokens now', 'difference', 'oldest then', 'oldest now', 'same token']);
    this.transitionsOfBoth = table('Transitions, greatest difference of the rate first', ['transition', 'rate then', 'rate now', 'difference', 'blocked then', 'blocked now', 'difference']);
    root.append(this.places.root, this.transitions.root, this.placesOfBoth.root, this.transitionsOfBoth.root);
    this.shownAt = 0;
    /** The moment that is shown. */ this.of = 0;
    theme.addEventListener('change', () => {
      this.heat = new HeatScale(theme.now);
      this.show(true);
    });
    model.on('address drawing', () => this.show(true));
    model.on('frame', () => this.show(false));
  }

  /** @param {boolean} now also if it was shown a moment ago */
  show(now) {
    const { model, root } = this;
    root.hidden = !model.where.table;
    root.parentElement?.classList.toggle('as-table', model.where.table);
    const { scene, shown } = model;
    if (!model.where.table || !scene || (!now && this.of === model.at && Date.now() - this.shownAt < pause)) return;
    this.shownAt = Date.now();
    this.of = model.at;
    const compared = model.comparing && shown !== null && model.current?.drawing === shown.drawing;
    for (const t of [this.places, this.transitions]) t.root.hidden = compared;
    for (const t of [this.placesOfBoth, this.transitionsOfBoth]) t.root.hidden = !compared;
    if (compared) this.#compare(scene, shown, /** @type {import('./frame.js').Frame} */ (model.current));
    else this.#show(scene, shown);
  }

  /**
   * @param {import('./scene.js').Scene} scene
   * @param {import('./frame.js').Frame|null} shown
   */
  #show(scene, shown) {
    const { model } = this;
    const at = model.now();
    const places = worked(scene, 0, scene.placeCount);
    const oldest = places.map((i) => (scene.nodes[i].calm ? Infinity : shown?.places[i]?.since || Infinity));
    places.sort((a, b) => oldest[a] - oldest[b] || (shown?.places[b]?.tokens ?? -1) - (shown?.places[a]?.tokens ?? -1) || a - b);
    this.#fill(this.places, scene, places, 0, (i) => {
      const row = shown?.places[i] ?? {};
      const seconds = shown?.oldestAge(i, at);
      return [row.tokens === 0 ? 'empty' : scene.nodes[i].final ? 'finished' : age(seconds), count(row.tokens), count(row.instances), rate(row.arrival_rate)];
    }, (i) => (scene.nodes[i].calm ? 0 : heat(shown?.oldestAge(i, at))));
    const transitions = worked(scene, scene.placeCount, scene.nodes.length);
    transitions.sort((a, b) => (shown?.transitions[b]?.rate ?? -1) - (shown?.transitions[a]?.rate ?? -1) || a - b);
    this.#fill(this.transitions, scene, transitions, scene.placeCount, (i) => {
      const row = shown?.transitions[i] ?? {};
      return [rate(row.rate), count(row.enabled), row.enabled ? age(shown?.enabledAge(i, at)) : unknown, count(row.running), count(row.blocked), count(row.failures)];
    });
  }

  /**
   * @param {import('./scene.js').Scene} scene
   * @param {import('./frame.js').Frame} then
   * @param {import('./frame.js').Frame} now
   */
  #compare(scene, then, now) {
    const { model } = this;
    const [at, present] = [model.at, model.clock.now()];
    const old = (/** @type {number} */ i, /** @type {import('./frame.js').Frame} */ frame, /** @type {number} */ ms) => (frame.places[i]?.tokens === 0 ? 'empty' : scene.nodes[i].final ? 'finished' : age(frame.oldestAge(i, ms)));
    const changes = Array.from({ length: scene.placeCount }, (_, i) => placeChange(then.places[i], now.places[i], (present - at) / 1000, scene.nodes[i].calm));
    this.#fill(this.placesOfBoth, scene, byChange(changes.map((c) => c.by)).filter((i) => work(scene.nodes[i])), 0, (i) => {
      const { then: a, now: b, by, aged } = changes[i];
      return [count(a), count(b), difference(by), old(i, then, at), old(i, now, present), aged ? `still there, ${age(aged)} older` : ''];
    });
    const rates = Array.from({ length: scene.nodes.length - scene.placeCount }, (_, i) => less(now.transitions[i]?.rate, then.transitions[i]?.rate));
    this.#fill(this.transitionsOfBoth, scene, byChange(rates).filter((i) => work(scene.nodes[scene.placeCount + i])), scene.placeCount, (i) => {
      const [a, b] = [then.transitions[i] ?? {}, now.transitions[i] ?? {}];
      return [rate(a.rate), rate(b.rate), difference(rates[i], rate), count(a.blocked), count(b.blocked), difference(less(b.blocked, a.blocked))];
    });
  }

  /**
   * @param {{body: HTMLElement, more: HTMLElement}} to
   * @param {import('./scene.js').Scene} scene
   * @param {number[]} rows
   * @param {number} first node of the rows
   * @param {(row: number) => string[]} cells
   * @param {(row: number) => number} [hot]
   */
  #fill(to, scene, rows, first, cells, hot) {
    const selected = this.model.selected();
    syncRows(to.body, rows.slice(0, most), (i) => scene.hash + i, (i) => this.#row(scene.nodes[first + i], cells(i).length), (element, i) => {
      cells(i).forEach((text, k) => say(element.children[k + 1], text));
      if (first + i === selected) element.setAttribute('aria-current', 'true');
      else element.removeAttribute('aria-current');
      if (!hot) return;
      const h = hot(i);
      element.classList.toggle('hot', h > 0);
      element.style.setProperty('--fill', this.heat.fill(h));
    });
    to.more.hidden = rows.length <= most;
    say(to.more, rows.length > most ? `and ${rows.length - most} more` : '');
  }

  /**
   * @param {import('./scene.js').DrawnNode} node
   * @param {number} cells
   */
  #row(node, cells) {
    const open = el('button', { type: 'button', class: 'link-like', onclick: () => this.model.select(node.kind, node.id) }, name(label(node), node.id));
    return el('tr', null, el('th', { scope: 'row' }, open), ...Array.from({ length: cells }, () => el('td', { class: 'num' })));
  }
}

/**
 * Rows by how much they differ.
 * @param {(number|null)[]} by
 */
function byChange(by) {
  return [...by.keys()].sort((a, b) => Math.abs(by[b] ?? 0) - Math.abs(by[a] ?? 0) || a - b);
}

/**
 * @param {number|null} by null where one of the two is not known
 * @param {(n: number) => string} [say]
 */
function difference(by, say) {
  return by === null ? unknown : signed(by, say);
}

/**
 * @param {string} caption
 * @param {string[]} heads
 */
function table(caption, heads) {
  const body = el('tbody', null);
  const more = el('p', { class: 'quiet more', hidden: true });
  const root = el('div', { class: 'table' }, el('table', { role: 'table' }, el('caption', null, caption),
    el('thead', null, el('tr', null, ...heads.map((h) => el('th', { scope: 'col' }, h)))), body), more);
  return { root, body, more };
}

/**
 * The rows of those nodes that are work.
 * @param {import('./scene.js').Scene} scene
 * @param {number} from node
 * @param {number} to
 */
function worked(scene, from, to) {
  return Array.from({ length: to - from }, (_, i) => i).filter((i) => work(scene.nodes[from + i]));
}
