// SPDX-License-Identifier: Apache-2.0

/**
 * Where the reader is.
 * @typedef {object} Where
 * @property {string} net id, '' for the one that needs looking at most
 * @property {''|'place'|'transition'|'instance'} kind what is selected
 * @property {string} id of what is selected
 * @property {number} at ms since the Unix epoch, 0 for now
 * @property {''|'6h'|'24h'|'7d'} range what the slider spans, '' for the last hour
 * @property {boolean} compare what differs from now is shown too
 * @property {boolean} table the table instead of the drawing
 * @property {Record<string, string>} filter of the alarms; what is absent selects everything
 * @property {''|'net'|'bpmn'} view the net instead of the BPMN file that it was made from, or that file even if it is large
 * @property {boolean} quiet what is quiet is collapsed
 * @property {string} around kind and id of the node whose surroundings are shown, '' for the whole net
 * @property {number} steps how far they reach
 * @property {string} find what is searched for
 * @property {string} look a node's kind and id behind a scale: what part of the drawing is shown first, '' for all
 */

/** The most steps of a neighbourhood. */
export const mostSteps = 5;
/** The most characters of a search. */
const longest = 200;
const kinds = /** @type {const} */ (['place', 'transition', 'instance']);
const ranges = /** @type {const} */ (['6h', '24h', '7d']);
const views = /** @type {const} */ (['net', 'bpmn']);
const filters = ['severity', 'of', 'alarm', 'acknowledged', 'silenced'];

/**
 * @param {string} hash
 * @returns {Where}
 */
export function parse(hash) {
  const q = new URLSearchParams(hash.replace(/^#/, ''));
  const kind = kinds.find((k) => q.has(k)) ?? '';
  const at = Date.parse(q.get('at') ?? '');
  return {
    net: q.get('net') ?? '', kind, id: kind ? q.get(kind) ?? '' : '', at: Number.isFinite(at) ? at : 0, range: ranges.find((r) => r === q.get('range')) ?? '', compare: q.has('compare'), table: q.has('table'), view: views.find((v) => v === q.get('view')) ?? '', quiet: q.has('quiet'),
    around: q.get('around') ?? '', steps: Math.max(1, Math.min(mostSteps, Math.round(Number(q.get('steps'))) || 1)),
    find: (q.get('q') ?? '').slice(0, longest), look: q.get('look') ?? '',
    filter: Object.fromEntries(filters.filter((f) => q.get(f)).map((f) => [f, /** @type {string} */ (q.get(f))])),
  };
}

/**
 * @param {Where} where
 * @returns {string}
 */
export function hash(where) {
  const q = new URLSearchParams();
  if (where.net) q.set('net', where.net);
  if (where.kind) q.set(where.kind, where.id);
  if (where.at) q.set('at', new Date(where.at).toISOString());
  if (where.at && where.compare) q.set('compare', '');
  if (where.range) q.set('range', where.range);
  if (where.table) q.set('table', '');
  for (const f of filters) if (where.filter[f]) q.set(f, where.filter[f]);
  if (where.view) q.set('view', where.view);
  if (where.quiet) q.set('quiet', '');
  if (where.around) {
    q.set('around', where.around);
    q.set('steps', String(where.steps));
  }
  if (where.find) q.set('q', where.find);
  if (where.look) q.set('look', where.look);
  return '#' + q.toString();
}

/** The address of the page, so that a link shows the same to another reader. */
export class Address extends EventTarget {
  constructor() {
    super();
    this.where = parse(location.hash);
    addEventListener('popstate', () => this.#take(parse(location.hash)));
    addEventListener('hashchange', () => this.#take(parse(location.hash)));
  }

  /**
   * @param {Partial<Where>} change
   * @param {boolean} [replace] leaves no step to come back to
   */
  go(change, replace) {
    const next = { ...this.where, ...change };
    if (hash(next) === hash(this.where)) return;
    if (replace) history.replaceState(null, '', hash(next));
    else history.pushState(null, '', hash(next));
    this.#take(next);
  }

  /** @param {Where} next */
  #take(next) {
    if (hash(next) === hash(this.where)) return;
    const before = this.where;
    this.where = next;
    this.dispatchEvent(new CustomEvent('change', { detail: before }));
  }
}
