// SPDX-License-Identifier: Apache-2.0
import { address, ask } from './api.js';

const firstWait = 500;
const longestWait = 5000;
const silence = 20000;

/**
 * The stream of events. After an error it connects again, sooner at first. If
 * nothing arrives for long, it asks the server for an overview.
 *
 * Events: overview, frame, diff (detail: the message), up (detail: whether it
 * was up before), down.
 */
export class Live extends EventTarget {
  /** @type {EventSource|null} */ #source = null;
  #net = '';
  #wait = firstWait;
  #retry = 0;
  #watch = 0;
  #wasUp = false;
  /** Whether events arrive. */ up = false;
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
    this.#listen();
  }

  /**
   * @param {string} type
   * @param {string} text
   */
  #take(type, text) {
    this.received = Date.now();
    this.#listen();
    if (!this.up) {
      this.up = true;
      this.#wait = firstWait;
      this.dispatchEvent(new CustomEvent('up', { detail: this.#wasUp }));
      this.#wasUp = true;
    }
    this.dispatchEvent(new CustomEvent(type, { detail: JSON.parse(text) }));
  }

  /** @param {EventSource} source */
  #lost(source) {
    if (source !== this.#source) return;
    source.close();
    clearTimeout(this.#watch);
    clearTimeout(this.#retry);
    this.up = false;
    this.dispatchEvent(new CustomEvent('down'));
    this.#retry = window.setTimeout(() => this.#connect(), this.#wait);
    this.#wait = Math.min(longestWait, this.#wait * 2);
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
      if (source) this.#lost(source);
    }
  }
}
