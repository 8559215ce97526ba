// SPDX-License-Identifier: Apache-2.0
import { address, ask } from './api.js';

const firstWait = 500;
const longestWait = 5000;
const silence = 20000;
/** How long a stream may take to open before the page asks why, ms. */
const opening = 4000;

/**
 * The stream of events. After an error it connects again, sooner at first. If
 * nothing arrives for long, it asks the server for an overview.
 *
 * Events: overview, frame, diff (detail: the message), up (detail: whether it
 * was up before), down.
 *
 * @typedef {{status: number, text: string, after: number}} Refusal status of HTTP and its reason, and how
 *   long the page waits, ms
 */
export class Live extends EventTarget {
  /** @type {EventSource|null} */ #source = null;
  #net = '';
  #wait = firstWait;
  #retry = 0;
  #watch = 0;
  #wasUp = false;
  /** Whether events arrive. */ up = false;
  /** @type {Refusal|null} why the server opens no stream; null if it does not answer */ refusal = null;
  /** When something last arrived, ms by this page's clock. */ received = 0;

  /**
   * Follows a net, or only the overview for ''.
   * @param {string} net
   */
  open(net) {
    this.#net = net;
    this.#wait = firstWait;
    this.#connect();
  }

  /** Ends the stream of a page that a reader left and may come back to, so that it is no viewer meanwhile. */
  rest() {
    clearTimeout(this.#retry);
    clearTimeout(this.#watch);
    this.#source?.close();
  }

  /** @returns {string} the net that is followed */
  get net() {
    return this.#net;
  }

  #connect() {
    clearTimeout(this.#retry);
    this.#source?.close();
    const source = new EventSource(address('live', this.#net ? { net: this.#net } : undefined));
    this.#source = source;
    source.addEventListener('error', () => this.#lost(source));
    for (const type of ['overview', 'frame', 'diff']) {
      source.addEventListener(type, (event) => this.#take(type, event.data));
    }
    clearTimeout(this.#watch);
    this.#watch = window.setTimeout(() => this.#stalled(source), opening);
  }

  /**
   * Finds out why a stream does not open. While a browser asks its reader for a login, the stream
   * has no event.
   * @param {EventSource} source
   */
  async #stalled(source) {
    const refusal = await this.#reason(false);
    if (source !== this.#source || source.readyState !== EventSource.CONNECTING) return;
    const before = this.refusal;
    this.refusal = refusal?.status === 401 ? refusal : null;
    if (this.refusal) this.#watch = window.setTimeout(() => this.#stalled(source), opening);
    else if (before) this.#connect(); // no login is asked for any more
    else this.#listen();
  }

  /**
   * @param {string} type
   * @param {string} text
   */
  #take(type, text) {
    this.received = Date.now();
    this.#listen();
    this.refusal = null;
    if (!this.up) {
      this.up = true;
      this.#wait = firstWait;
      this.dispatchEvent(new CustomEvent('up', { detail: this.#wasUp }));
      this.#wasUp = true;
    }
    this.dispatchEvent(new CustomEvent(type, { detail: JSON.parse(text) }));
  }

  /**
   * @param {EventSource} source
   * @param {boolean} [silent] it had no event for long
   */
  async #lost(source, silent) {
    if (source !== this.#source) return;
    const refused = source.readyState === EventSource.CLOSED; // by an answer that is no stream
    source.close();
    clearTimeout(this.#watch);
    clearTimeout(this.#retry);
    this.up = false;
    this.dispatchEvent(new CustomEvent('down'));
    if (refused) this.refusal = await this.#reason(true);
    else if (!silent) this.refusal = null;
    if (source !== this.#source) return;
    this.#retry = window.setTimeout(() => this.#connect(), this.refusal?.after ?? this.#wait);
    this.#wait = Math.min(longestWait, this.#wait * 2);
  }

  /**
   * @param {boolean} answered the server answered the stream, with whatever login the browser has
   * @returns {Promise<Refusal|null>} why there is no stream, which its events do not have
   */
  async #reason(answered) {
    const ended = new AbortController();
    const ask = (/** @type {RequestCredentials} */ credentials) => fetch(address('live'), { credentials, signal: AbortSignal.any([ended.signal, AbortSignal.timeout(silence / 4)]), cache: 'no-store' });
    try {
      let answer = await ask('omit'); // for which a browser asks its reader nothing
      if (answer.status === 401 && answered) answer = await ask('same-origin').catch(() => answer);
      if (answer.ok) return null;
      const text = await answer.json().then((doc) => String(doc.error), () => answer.statusText);
      return { status: answer.status, text, after: Math.max(this.#wait, 1000 * (Number(answer.headers.get('Retry-After')) || 0)) };
    } catch {
      return null;
    } finally {
      ended.abort();
    }
  }

  /** Comments of the stream are not seen here, so silence is asked about. */
  #listen() {
    clearTimeout(this.#watch);
    this.#watch = window.setTimeout(() => this.#probe(), silence);
  }

  async #probe() {
    const source = this.#source;
    try {
      await ask('overview', undefined, AbortSignal.timeout(silence / 4));
      this.received = Date.now();
      this.#listen();
    } catch {
      if (source) this.#lost(source, true);
    }
  }
}
