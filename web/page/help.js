// SPDX-License-Identifier: Apache-2.0
import { byId, el } from './dom.js';

const keys = [
  ['drag, wheel, pinch', 'move and zoom'], ['+  −  0', 'zoom in, zoom out, whole net'], ['/', 'search'], ['← ↑ → ↓', 'to the next connected node'],
  ['Enter', 'open the node'], ['n  <  >', 'only what is near the node, fewer and more steps'], ['q', 'collapse what is quiet'], ['Esc', 'close, back'], ['a', 'all nets'], ['h', 'to the oldest token'], ['t', 'table or drawing'],
  ['b', 'BPMN or net'], ['i', 'waiting instances by name, place and age'], ['[  ]', 'back and forth in time'], ['{  }', 'to where alarms were raised or cleared'],
  ['p', 'play the past up to now, pause'], ['c', 'compare the past with now'], ['l', 'back to live'], ['s', 'share: a link, a picture, tables'], ['d', 'dark or light'], ['?', 'this help'],
];
const signs = [
  ['circle', 'a place and how many tokens are in it; its colour and the ring around it say how old the oldest is, from a second to an hour and more'],
  ['grey circle', 'a place in which tokens stay on purpose: no transition takes them, or the rules for alarms turn tokenStuck off there; its age has no colour and is not among the oldest'],
  ['box', 'a transition and how often it fires; a ring with a bar marks that instances wait for it'],
  ['dot', 'one firing, or as many as the legend says'],
  ['–', 'not known: no source of the net reports it. This is not 0'],
  ['thin dashes', 'what is quiet and collapsed: places without tokens, transitions in which nothing happens'],
  ['+3  −3  same', 'in a comparison with now: three tokens more or fewer now; the oldest token is still there'],
  ['thick outline', 'an alarm is active; dashed if it is not known whether it still holds'],
  ['▲  △  ▽', 'above the slider: a critical or major alarm was raised, a minor one or a warning was raised, one was cleared'],
  ['arrow, ring, dashes', 'an arc that takes or puts tokens, an inhibitor arc, a read arc; ×3 is its weight'],
];

/** The dialog with the keys and what is drawn. */
export class Help {
  constructor() {
    this.dialog = /** @type {HTMLDialogElement} */ (byId('help'));
    this.dialog.append(el('h2', { id: 'help-title', tabindex: -1, autofocus: true }, 'Keys'), listed(keys, 'kbd'), el('h2', null, 'What is drawn'), listed(signs, 'span'),
      el('p', { class: 'quiet' }, 'Everything on the page is of the one moment that the slider shows. The address of this page holds what you see: net, selection, time, comparison, part, filters. Send it as a link; “to this moment” makes others see the numbers of now later.'),
      el('p', null, el('a', { href: 'endpoints' }, 'Everything this server offers')),
      el('button', { type: 'button', onclick: () => this.dialog.close() }, 'close'));
  }

  toggle() {
    if (this.dialog.open) this.dialog.close();
    else this.dialog.showModal();
  }
}

/**
 * @param {string[][]} pairs of a term and what it means
 * @param {string} tag of a term
 */
function listed(pairs, tag) {
  return el('dl', null, ...pairs.map(([term, text]) => el('div', null, el('dt', null, el(tag, null, term)), el('dd', null, text))));
}
