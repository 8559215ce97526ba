// SPDX-License-Identifier: Apache-2.0
import { byId, el, say, sayName } from './dom.js';
import { age, label, short, visible, when } from './format.js';
import { causes, tally } from './problem.js';

/** The least time between two summaries for a screen reader, ms. */
const pause = 15e3;

/** The title, the oldest token, and the summaries for a screen reader. */
export class Headline {
  /** @param {import('./model.js').Model} model */
  constructor(model) {
    this.model = model;
    this.title = byId('net-name');
    this.name = el('bdi', { class: 'name' }, 'pnagent');
    this.title.replaceChildren(this.name);
    this.age = el('strong', { class: 'num' });
    this.place = el('bdi', { class: 'name' });
    this.open = el('button', { type: 'button', class: 'link-like', onclick: () => model.select('place', this.oldest) }, this.place);
    this.vitals = byId('vitals');
    this.vitals.append(el('span', { class: 'quiet' }, 'oldest '), this.age, el('span', { class: 'quiet' }, ' in '), this.open);
    this.oldest = '';
    this.said = 0;
    model.on('overview drawing frame address', () => this.show());
    this.show();
  }

  show() {
    const { net, shown, where, scene, at } = this.model;
    const called = net ? label(net) : visible(scene?.name || where.net || 'pnagent');
    sayName(this.name, called);
    this.title.title = called;
    document.title = `${net ? signs(net) : ''}${called.slice(0, 80)}${at ? ` at ${when(at)}` : ''} – pnagent`;
    const hottest = this.model.hottest();
    const place = hottest >= 0 ? scene?.nodes[hottest] : undefined;
    this.vitals.hidden = !place;
    this.oldest = place?.id ?? '';
    if (place) {
      say(this.age, age(shown?.oldestAge(hottest, this.model.now())));
      say(this.place, short(label(place), 44));
      this.open.title = label(place);
    }
    if (!net || at || Date.now() - this.said < pause) return; // of the past, what is slid to is said
    this.said = Date.now();
    say(byId('summary'), `${this.model.outdated ? 'Last known of ' : ''}${called}: ${net.tokens ?? 'unknown'} tokens${place ? `, oldest ${this.age.textContent} in ${label(place)}` : ''}, ${tally(net)}.`);
  }
}

/**
 * How many alarms of a net are known to hold, or else how many are unknown.
 * @param {import('./model.js').NetSummary} net
 */
function signs(net) {
  return causes(net) > 0 ? `▲${causes(net)} ` : net.alarms_unknown ? `?${net.alarms_unknown} ` : '';
}
