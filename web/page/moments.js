// SPDX-License-Identifier: Apache-2.0
import { ApiError, ask } from './api.js';
import { when } from './format.js';
import { Frame } from './frame.js';

/** How many moments are kept at hand; those that play fetches ahead are among them. */
const most = 12;
/** The status of an archive that has too much to do, and when it is asked again, ms. */
const busy = 503;
const pause = 2000;
/** How often something is asked for again. */
const tries = 3;
/** Two answers are of one moment if their times differ by less, ms. */
const same = 2;
/** The number of steps, and the time in ms, after which a kept moment is no answer for a later one. */
const late = { steps: 3, least: 120e3, archive: 300e3 };

/**
 * A net, and all nets, sources and alarms, at one moment of the past.
 * @typedef {object} Moment
 * @property {string} net id, '' for none
 * @property {number} asked the time that was asked for, ms since the Unix epoch
 * @property {number} at the time that all of it is of; the time asked for where nothing is kept
 * @property {import('./model.js').Overview|null} overview null where it is not kept
 * @property {Frame|null} frame null where it is not kept
 * @property {string} lacks what is not kept, in words, '' if all is
 * @property {number} before a moment before that time of which there is data, 0 for none
 * @property {boolean} archive whether it is from the archive
 * @property {boolean} failed whether what it lacks may be there later
 * @property {boolean} asking whether it is still asked for
 */

/** @typedef {{from: string, to: string, step: number, archive?: {from: string, step: number}}} Kept */
/** @typedef {{doc: any, at: number, why: string}} Answer why: there is no document, '' where none is kept */

/** The moments of the past: both halves of each are asked for, and are of one time. */
export class Moments {
  constructor() {
    /** @type {Map<string, Promise<Moment>>} */ this.known = new Map();
  }

  /**
   * @param {string} net id, '' for none
   * @param {number} at ms since the Unix epoch
   * @param {Kept|undefined} kept what the server has, for words
   * @param {AbortSignal} signal
   * @returns {Promise<Moment>} rejected only if it is given up
   */
  async ask(net, at, kept, signal) {
    const key = `${at} ${net}`;
    const known = this.known.get(key);
    if (known) {
      try {
        return await known;
      } catch {
        signal.throwIfAborted(); // who asked first gave it up
      }
    }
    const asked = moment(net, at, kept, signal);
    this.known.set(key, asked);
    if (this.known.size > most) this.known.delete(/** @type {string} */ (this.known.keys().next().value));
    try {
      const found = await asked;
      if (found.failed) this.known.delete(key);
      return found;
    } catch (error) {
      this.known.delete(key);
      throw error;
    }
  }
}

/**
 * A moment of which nothing is known yet.
 * @param {string} net
 * @param {number} at
 * @param {Moment|null} [of] the same time for another net
 * @returns {Moment}
 */
export function unasked(net, at, of) {
  const overview = of?.asked === at ? of.overview : null;
  return { net, asked: at, at: overview && of ? of.at : at, overview, frame: null, lacks: '', before: 0, archive: false, failed: false, asking: true };
}

/**
 * @param {string} net
 * @param {number} asked
 * @param {Kept|undefined} kept
 * @param {AbortSignal} signal
 * @returns {Promise<Moment>}
 */
async function moment(net, asked, kept, signal) {
  const time = new Date(asked).toISOString();
  const all = (/** @type {string} */ at) => answer('overview', { at }, asked, signal);
  const one = (/** @type {string} */ at) => answer('history', { net, at }, asked, signal);
  let [o, f] = await Promise.all([all(time), net ? one(time) : { doc: null, at: 0, why: '' }]);
  // The times of the server are finer than milliseconds, so it is asked with its own.
  for (let k = 0; k < tries && o.doc && f.doc && Math.abs(o.at - f.at) > same; k++) {
    if (o.at > f.at) o = await all(f.doc.at);
    else f = await one(o.doc.at);
  }
  return joined(net, asked, kept, o, f);
}

/**
 * @param {string} what
 * @param {Record<string, string>} query
 * @param {number} asked
 * @param {AbortSignal} signal
 * @returns {Promise<Answer>}
 */
async function answer(what, query, asked, signal) {
  try {
    const doc = await patient(what, query, signal);
    const at = Date.parse(doc.at);
    return at <= asked + same ? { doc, at, why: '' } : { doc: null, at: 0, why: '' };
  } catch (error) {
    signal.throwIfAborted();
    const none = error instanceof ApiError && error.status === 404;
    return { doc: null, at: 0, why: none ? '' : error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Asks again where the archive is busy.
 * @param {string} what
 * @param {Record<string, string>} query
 * @param {AbortSignal} signal
 */
async function patient(what, query, signal) {
  for (let k = 1; ; k++) {
    try {
      return await ask(what, query, signal);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== busy || k === tries) throw error;
      await new Promise((done) => setTimeout(done, pause));
      signal.throwIfAborted();
    }
  }
}

/**
 * @param {string} net
 * @param {number} asked
 * @param {Kept|undefined} kept
 * @param {Answer} o
 * @param {Answer} f
 * @returns {Moment}
 */
function joined(net, asked, kept, o, f) {
  const of = when(asked);
  /** @type {Moment} */
  const m = { net, asked, at: asked, overview: null, frame: null, lacks: '', before: 0, archive: Boolean(o.doc?.archive ?? f.doc?.archive), failed: Boolean(o.why || f.why), asking: false };
  const newest = Math.max(o.at, f.at);
  if (!newest) {
    const why = o.why || f.why;
    return { ...m, lacks: why ? `The data of ${of} cannot be loaded: ${why}.` : `No data is kept for ${of}. ${keeps(kept)}`.trim() };
  }
  if (asked - newest > patience(kept, m.archive)) {
    return { ...m, before: newest, lacks: `No data is kept for ${of}: nothing was kept after ${when(newest)} until then.` };
  }
  m.at = o.at || f.at;
  m.overview = o.doc && { nets: [], sources: [], alarms: [], silences: [], ...o.doc };
  if (f.doc && Math.abs(f.at - m.at) <= same) m.frame = new Frame(f.doc);
  if (!o.doc) m.lacks = `Nets, alarms and sources are not kept for ${of}${o.why && `: ${o.why}`}.`;
  else if (net && !m.frame) m.lacks = noFrame(net, m, f);
  m.before = f.doc && !m.frame ? f.at : 0;
  return m;
}

/**
 * Why there are no numbers of the net.
 * @param {string} net
 * @param {Moment} m
 * @param {Answer} f
 */
function noFrame(net, m, f) {
  const of = when(m.at);
  if (f.why) return `The numbers of this net at ${of} cannot be loaded: ${f.why}.`;
  if (!m.overview?.nets.some((n) => n.id === net)) return `This net was not there at ${of}.`;
  return `The numbers of this net are not kept for ${of}${f.doc ? `; the last before are of ${when(f.at)}` : ''}.`;
}

/**
 * How much older than what was asked for an answer may be, ms.
 * @param {Kept|undefined} kept
 * @param {boolean} archive
 */
function patience(kept, archive) {
  const step = (archive ? kept?.archive?.step : kept?.step) ?? 0;
  return Math.max(late.steps * step * 1000, archive ? late.archive : late.least);
}

/** @param {Kept|undefined} kept */
function keeps(kept) {
  if (!kept) return 'The sidecar keeps no past.';
  return `The sidecar keeps ${when(Date.parse(kept.from))} to now${kept.archive ? `, its archive ${when(Date.parse(kept.archive.from))} and later` : ''}.`;
}
