// SPDX-License-Identifier: Apache-2.0
import { Confirmation } from './confirm.js';
import { el, name } from './dom.js';
import { when } from './format.js';

/** @type {Record<string, string>} */
const verbs = Object.freeze({ fire: 'Fire', retry: 'Retry', inject: 'Inject' });

/**
 * The command lines that act on an instance, or those of the tool that people act on it with instead.
 * A click on a line selects it. A button does the same, if the sidecar takes requests.
 * @param {{commands?: string[], acts?: import('./confirm.js').Act[], tool?: string}} answer
 * @param {import('./model.js').Model} model
 * @returns {HTMLElement[]}
 */
export function commands({ commands: lines, acts, tool }, model) {
  if (!lines?.length && !tool) return [];
  const button = (/** @type {number} */ i) => {
    const act = model.latest?.acts ? acts?.[i] : undefined;
    return act && el('button', { type: 'button', class: 'do', 'data-key': 'act ' + i, onclick: () => new Confirmation(model, act).ask() }, `${verbs[act.verb]} …`);
  };
  const body = [];
  if (tool) body.push(el('p', { class: 'quiet' }, `pnagent does not act on this engine. Use ${tool}${lines?.length ? ':' : '.'}`));
  if (lines?.length) body.push(el('ul', { class: 'commands' }, ...lines.map((line, i) => el('li', null, el('code', null, line), button(i)))));
  return [el('h3', null, 'Act on it'), ...body];
}

/**
 * What people did to an instance, the newest first.
 * @param {any[]|undefined} list
 * @returns {HTMLElement[]}
 */
export function actions(list) {
  if (!list?.length) return [];
  return [el('h3', null, 'What people did'), el('ol', { class: 'tokens' }, ...list.map((a) => el('li', null,
    el('span', { class: 'quiet num' }, when(Date.parse(a.at))), name(did(a)),
    el('span', { class: 'quiet' }, `by ${a.by || 'unknown'}${a.comment ? ': ' + a.comment : ''}`),
    a.error && el('ul', { class: 'waits' }, el('li', null, `refused: ${a.error}`)))))];
}

/** @param {any} a */
function did(a) {
  if (a.kind === 'inject') return `inject ${a.place ?? ''}${a.tokens > 1 ? ' ×' + a.tokens : ''}`;
  return `${a.kind} ${a.transition ?? a.event ?? ''}`;
}
