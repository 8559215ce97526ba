// SPDX-License-Identifier: Apache-2.0
// How an engine comes to be shown.
import { el } from './dom.js';

/** @typedef {import('./model.js').Connect} Connect */

/**
 * A command line in which the words to replace are marked. A click selects it.
 * @param {import('./model.js').CommandLine} command
 * @param {string} tag
 */
function marked({ line: text, fill }, tag) {
  const words = fill.map((b) => b.word).filter((word) => /^[A-Z]/.test(word));
  const parts = words.length ? text.split(new RegExp(`\\b(${words.map((w) => w.replace(/\W/g, '\\$&')).join('|')})\\b`)) : [text];
  return el(tag, { class: 'line' }, ...parts.map((part, i) => (i % 2 ? el('mark', null, part) : part)));
}

/**
 * The command line of an engine.
 * @param {Connect|undefined} connect
 */
export function line(connect) {
  return connect?.commands.length ? marked(connect.commands[0], 'code') : null;
}

/**
 * All command lines, and what to fill in.
 * @param {Connect|undefined} connect
 * @returns {HTMLElement[]}
 */
export function connecting(connect) {
  /** @type {Set<string>} */
  const known = new Set();
  return (connect?.commands ?? []).flatMap((command) => {
    const fresh = command.fill.filter((b) => !known.has(b.word));
    for (const b of fresh) known.add(b.word);
    return [
      el('p', null, `${command.does}:`), marked(command, 'pre'),
      el('dl', { class: 'fill' }, ...fresh.flatMap((b) => [el('dt', null, el('code', null, b.word)), el('dd', null, b.means)])),
    ];
  });
}
