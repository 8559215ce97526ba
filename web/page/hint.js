// SPDX-License-Identifier: Apache-2.0
import { byId, el } from './dom.js';

const key = 'pnagent hint';

/** Three sentences for who sees the page for the first time; dismissed once, and not shown again. */
export function hint() {
  if (seen()) return;
  const root = byId('hint');
  root.hidden = false;
  root.append(el('p', null, 'The colour of a number says how long something has waited, as the legend shows. Click what is coloured to see who waits there, and for what. The slider below goes back in time, / searches, and ? has the rest.'),
    el('button', { type: 'button', onclick: () => dismiss(root) }, 'Got it'));
}

/** @param {HTMLElement} root */
function dismiss(root) {
  root.hidden = true;
  try {
    localStorage.setItem(key, 'seen');
  } catch {
    // A browser that keeps nothing for us shows it again next time.
  }
}

function seen() {
  try {
    return localStorage.getItem(key) !== null;
  } catch {
    return false;
  }
}
