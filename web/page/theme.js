// SPDX-License-Identifier: Apache-2.0

const key = 'pnagent theme';

/** Dark or light: what the system prefers until the reader says otherwise. */
export class Theme extends EventTarget {
  /** @param {'light'|'dark'|''} [chosen] '' for what the system prefers; without it what the reader chose last */
  constructor(chosen = remembered()) {
    super();
    this.system = matchMedia('(prefers-color-scheme: dark)');
    /** @type {'light'|'dark'|''} */ this.chosen = chosen;
    this.system.addEventListener('change', () => this.#show());
    this.#show();
  }

  /** @returns {'light'|'dark'} */
  get now() {
    return this.chosen || (this.system.matches ? 'dark' : 'light');
  }

  toggle() {
    this.chosen = this.now === 'dark' ? 'light' : 'dark';
    try {
      localStorage.setItem(key, this.chosen);
    } catch {
      // A browser that keeps nothing for us still shows it now.
    }
    this.#show();
  }

  #show() {
    document.documentElement.dataset.theme = this.now;
    this.dispatchEvent(new Event('change'));
  }
}

/** @returns {'light'|'dark'|''} */
function remembered() {
  try {
    const kept = localStorage.getItem(key);
    return kept === 'dark' || kept === 'light' ? kept : '';
  } catch {
    return '';
  }
}
