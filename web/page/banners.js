// SPDX-License-Identifier: Apache-2.0
import { byId, el, say, syncRows } from './dom.js';
import { age, label, when } from './format.js';
import { margin } from './spans.js';

/** A loss shorter than this is not worth a banner, ms. */
const patience = 1500;
/** Viewers who come back ask for versions within so long, ms. */
const spread = 2000;

/** What the reader must know about what is shown: past, stale, missing, empty. */
export class Banners {
  /** @param {import('./model.js').Model} model */
  constructor(model) {
    this.model = model;
    this.root = byId('banners');
    this.link = byId('link');
    this.empty = byId('empty');
    this.newer = false;
    this.kinds = '';
    this.lostAt = Date.now();
    model.on('address overview drawing frame link', () => this.show());
    model.live.addEventListener('down', () => (this.lostAt = Date.now()));
    model.live.addEventListener('up', (event) => /** @type {CustomEvent} */ (event).detail && this.#version());
    setInterval(() => this.show(), 500);
    /** The files of this page. */
    this.files = [location.pathname, ...new Set(performance.getEntriesByType('resource').map((r) => r.name).filter((n) => /\.(js|css)$/.test(n)))];
    this.versions = this.#versionsNow();
  }

  show() {
    const { model } = this;
    const up = model.live.up;
    const lost = !up && Date.now() - this.lostAt > patience;
    say(this.link, up ? (model.moment ? 'past' : 'live') : model.live.received ? 'reconnecting' : 'connecting');
    this.link.className = `link ${up ? 'up' : 'down'}${model.moment ? ' at-past' : ''}`;
    document.documentElement.classList.toggle('lost', lost && model.live.received > 0 && !model.moment);
    this.#banners(lost);
    this.#empty();
  }

  /** @param {boolean} lost */
  #banners(lost) {
    const { model } = this;
    const { where, net, latest, moment } = model;
    /** @type {[string, string, (() => Node)|null][]} kind, words, what to do */
    const all = [];
    const passed = age((Date.now() - model.live.received) / 1000);
    if (lost && moment) all.push(['lost', 'The sidecar does not answer. This page tries again.', null]);
    else if (lost && model.live.received) all.push(['lost', `The sidecar does not answer. The data shown is ${passed} old. This page tries again.`, null]);
    else if (lost) all.push(['lost', 'The sidecar does not answer yet. This page tries again.', null]);
    if (!lost) this.#connections(all);
    if (moment) {
      const back = () => el('button', { type: 'button', onclick: () => model.travel(0) }, 'back to live');
      all.push(['past', this.#past(moment), back]);
    }
    if (model.trouble) all.push(['trouble', model.trouble, null]);
    const nets = latest?.nets.length ?? -1;
    if (!lost && where.net && nets > 0 && !latest?.nets.some((n) => n.id === where.net)) all.push(['unknown', moment && net ? `This sidecar has the net “${where.net}” no more, so it cannot be drawn.` : `This sidecar has no net “${where.net}”.`, null]);
    if (!lost && !moment && model.scene && nets === 0) all.push(['unknown', 'The sidecar has received no net yet. The data shown is not current.', null]);
    if (!lost && net && net.sources_up === 0) all.push(['silent', `No source of ${label(net)} ${moment ? 'was' : 'is'} up: the numbers are those of the last messages.`, null]);
    if (this.newer) all.push(['newer', 'A newer version of this page is available.', () => el('button', { type: 'button', onclick: () => location.reload() }, 'reload')]);
    this.#announce(all);
    syncRows(this.root, all, (b) => b[0], ([kind, , action]) => el('p', { class: 'banner ' + kind }, el('bdi', null), action?.()),
      (row, [, text]) => say(row.firstElementChild, text));
  }

  /**
   * What moment is shown, and what it lacks.
   * @param {import('./moments.js').Moment} moment
   */
  #past(moment) {
    const { model } = this;
    if (moment.asking) return `Asking for ${when(moment.asked)} …`;
    if (!moment.overview && !moment.frame) return model.lacks;
    const ago = `${age((model.clock.now() - moment.at) / 1000)} ago`;
    const parts = [`The data shown is of ${when(moment.at)}, ${ago}${moment.archive ? ', from the archive' : ''}.`, model.lacks];
    if (model.comparing) parts.push(model.current ? 'Compared with now: + more now, − fewer now, same: the oldest token is still there.' : 'It cannot be compared: the numbers of now are not known.');
    return parts.filter(Boolean).join(' ');
  }

  /**
   * The connections that the sidecar does not have.
   * @param {[string, string, any][]} all
   */
  #connections(all) {
    const { overview, moment } = this.model;
    const away = (/** @type {import('./model.js').Connection} */ c) => age(Math.max(0, this.model.now() - Date.parse(c.since)) / 1000);
    const has = moment ? 'had' : 'has had';
    const nats = overview?.nats;
    const above = overview?.up_nats;
    if (nats && !nats.connected) {
      all.push(['deaf', `The sidecar ${has} no connection to NATS for ${away(nats)} and ${moment ? 'received' : 'receives'} no engine: ${nats.reason ?? 'no reason known'}. The data shown ${moment ? 'was not current then' : 'is not current'}.`, null]);
    }
    if (above && !above.connected) {
      all.push(['above', `The sidecar ${has} no connection to the NATS of the sidecar above (--up.nats) for ${away(above)}: ${above.reason ?? 'no reason known'}. That sidecar ${moment ? 'showed' : 'shows'} these nets with their last known state.`, null]);
    }
  }

  /**
   * Gives a screen reader what is new, and not every second how old it is.
   * @param {[string, string, any][]} all
   */
  #announce(all) {
    const kinds = all.map((b) => b[0]).join();
    if (kinds !== this.kinds) say(byId('said'), all.map((b) => b[1]).join(' '));
    this.kinds = kinds;
  }

  #empty() {
    const { latest, scene, where, moment, lacks, shown } = this.model;
    const none = !moment && latest !== null && latest.nets.length === 0 && !scene;
    const absent = moment !== null && !moment.asking && !shown;
    const waiting = !none && !absent && (!scene || (moment !== null && !shown)) && !where.table;
    this.empty.hidden = !none && !waiting && !absent;
    byId('stage').classList.toggle('no-data', moment !== null && !shown);
    const state = none ? 'none' : absent ? `${lacks} ${moment.before}` : moment ? 'asking' : 'waiting';
    if (this.empty.dataset.state === state) return;
    this.empty.dataset.state = state;
    this.empty.replaceChildren(...(none ? firstEngine() : absent ? this.#absent(moment) : [el('p', { class: 'quiet' }, moment ? 'asking …' : 'fetching the net …')]));
  }

  /**
   * Why there are no numbers, and where the next are.
   * @param {import('./moments.js').Moment} moment
   */
  #absent({ before }) {
    const { model } = this;
    const h = model.latest?.history;
    const first = h ? Date.parse(h.archive?.from ?? h.from) + margin : 0;
    const go = (/** @type {number} */ at, /** @type {string} */ text) => el('button', { type: 'button', class: 'go', onclick: () => model.travel(at) }, text);
    return [el('h2', null, 'No data to show'), el('p', null, model.lacks),
      el('p', { class: 'choices' }, before > 0 && go(before + 1, `to ${when(before)}`), first > 0 && model.where.at < first && go(first, `to ${when(first)}`), go(0, 'to now'))];
  }

  /** The versions of the files of this page that the server has now. */
  async #versionsNow() {
    const answers = await Promise.all(this.files.map((f) => fetch(f, { method: 'HEAD', cache: 'no-store' })));
    return answers.map((a) => (a.ok ? a.headers.get('ETag') : '')).join(' ');
  }

  /** Looks for another version, not at the same moment as all other viewers. */
  async #version() {
    await new Promise((done) => setTimeout(done, Math.random() * spread));
    try {
      this.newer = (await this.versions) !== (await this.#versionsNow());
      this.show();
    } catch {
      // The server went again; it is asked when it is back.
    }
  }
}

/** How to bring the first engine. */
function firstEngine() {
  return [
    el('h2', null, 'Waiting for the first engine'),
    el('p', null, 'The sidecar runs and has received no net yet. Start an engine on the same NATS server:'),
    el('pre', null, 'pnagent engine --nats nats://127.0.0.1:4222 net.pnml'),
    el('p', null, 'or try everything at once, with nothing installed:'),
    el('pre', null, 'pnagent demo'),
    el('p', { class: 'quiet' }, 'This page shows it once it publishes.'),
  ];
}
