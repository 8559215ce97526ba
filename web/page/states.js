// SPDX-License-Identifier: Apache-2.0
// The states of the page: what the reader must know about the numbers shown.
//
// Each row of the tables is one state: its condition, its words and what to do.
// Rows are in the order of importance, in which they are shown. Words say who,
// what, since when, what it means for the numbers, and what to do.

import { el } from './dom.js';
import { line } from './connect.js';
import { age, count, label, plural, when } from './format.js';

/**
 * @typedef {import('./model.js').Model} Model
 * @typedef {import('./model.js').SourceSummary} Source
 * @typedef {object} Situation what conditions and words are about
 * @property {Model} model
 * @property {boolean} lost the sidecar has not answered for longer than the page waits
 * @property {number} lostAt when it last answered, or the page was opened, ms by this page's clock
 * @property {boolean} newer the server has other files of the page
 *
 * @typedef {'bad'|'warn'|'past'|'info'} Grade bad: no number shown is current; warn: something is missing
 *   or wrong; past: as the reader asked; info: as it was set up
 * @typedef {object} State
 * @property {string} id
 * @property {Grade} grade
 * @property {'now'|'then'|'any'} [of] of now, which is left out; of the moment of the past that is shown; or of both
 * @property {boolean} [offline] also shown while the sidecar does not answer
 * @property {'net'|'all'|((s: Situation) => ''|'net'|'all')} [outdated] which numbers are not current: they are shown in grey
 * @property {number} [after] how long the condition must hold, ms
 * @property {(s: Situation) => unknown} when
 * @property {(s: Situation) => string} words
 * @property {(s: Situation) => Node|null} [act] what to do
 */

/** A difference of clocks that is worth a word, ms. */
const apart = 5000;
/** The most names in a sentence. */
const named = 3;

/** @type {readonly State[]} */
export const states = Object.freeze(/** @type {State[]} */ ([
  // The server.
  {
    id: 'login', grade: 'bad', of: 'any', offline: true, outdated: 'all',
    when: (s) => s.model.live.refusal?.status === 401,
    words: (s) => `The sidecar has not accepted the login of this page since ${ago(s.lostAt)}. ${shown(s)} Log in again.`,
    act: () => button('log in', () => location.reload()),
  },
  {
    id: 'full', grade: 'bad', of: 'any', offline: true, outdated: 'all',
    when: (s) => [429, 503].includes(s.model.live.refusal?.status ?? 0),
    words: (s) => `The sidecar has no room for this page: ${s.model.live.refusal?.text}. ${shown(s)} This page tries again every ${age((s.model.live.refusal?.after ?? 0) / 1000)}. Close other pages of this sidecar, or raise --web.viewers or --web.viewers-per-address there.`,
  },
  {
    id: 'refused-page', grade: 'bad', of: 'any', offline: true, outdated: 'all',
    when: (s) => s.model.live.refusal && ![401, 429, 503].includes(s.model.live.refusal.status),
    words: (s) => `The server has answered this page with an error since ${ago(s.lostAt)}: ${s.model.live.refusal?.status} ${s.model.live.refusal?.text}. ${shown(s)} This page tries again. Look at the log of the sidecar, or of a proxy in front of it.`,
  },
  {
    id: 'lost', grade: 'bad', of: 'any', offline: true, outdated: 'all',
    when: (s) => s.lost && !s.model.live.refusal,
    words: (s) => s.model.live.received
      ? `The sidecar has not answered since ${ago(s.lostAt)}. ${shown(s)} This page tries again. Check that pnagent serve runs at ${location.host}.`
      : `The sidecar does not answer yet. This page tries again. Check that pnagent serve runs at ${location.host}.`,
  },

  // What the sidecar receives.
  {
    id: 'deaf', grade: 'bad', outdated: 'all',
    when: ({ model }) => model.overview?.nats && !model.overview.nats.connected,
    words: ({ model }) => {
      const { since, reason, disconnects, server } = /** @type {import('./model.js').Connection} */ (model.overview?.nats);
      const where = server || model.overview?.sidecar?.connect?.servers;
      const begun = disconnects ? `since ${then(model, Date.parse(since))}` : 'since its start';
      const up = model.overview?.sidecar?.above && !model.overview.up_nats ? ' The sidecar above, which is reached the same way, shows these nets with their last known state.' : '';
      return `The sidecar has had no connection to NATS${where ? ` at ${where}` : ''} ${begun} and receives no engine: ${reason || 'no reason known'}. The numbers shown are not current: they are the last known, and tokens grow older.${up} The sidecar tries again by itself. Check that the NATS server runs.`;
    },
  },
  {
    id: 'settling', grade: 'warn', outdated: 'all', after: 1500,
    when: ({ model }) => model.overview?.deaf && model.overview.nats?.connected !== false && model.overview.generation > 0,
    words: ({ model }) => `The sidecar is connected to NATS again${model.overview?.nats ? ` since ${then(model, Date.parse(model.overview.nats.since))}` : ''} and still waits for its sources: each is shown as it was before the break until it is received again. That takes some seconds.`,
  },
  {
    id: 'silent', grade: 'bad', outdated: 'net',
    when: ({ model }) => health(model) === 'silent',
    words: ({ model }) => `No source of ${netName(model)} is up. ${silent(model)} The numbers shown are the last known: they are not zero, and tokens grow older. Check ${who(model, 'stale')}.`,
  },
  {
    id: 'gone', grade: 'warn', outdated: 'net',
    when: ({ model }) => health(model) === 'gone',
    words: ({ model }) => `No engine of ${netName(model)} runs any more: each ended, or was silent for so long that it was forgotten. Where their tokens were is not known any more (–); counters are as they were. Start an engine:`,
    act: ({ model }) => line(model.overview?.sidecar?.connect),
  },
  {
    id: 'arriving', grade: 'warn', after: 2000,
    when: ({ model }) => health(model) === 'arriving',
    words: ({ model }) => `${listed(mine(model, 'undefined').map((x) => x.name))} of ${netName(model)} is received, and its definition or some of its numbers are not known yet. What is missing is shown as –. The sidecar asks for it.`,
  },
  {
    id: 'never', grade: 'warn',
    when: ({ model }) => health(model) === 'never',
    words: ({ model }) => `No engine has reported ${netName(model)} to this sidecar yet. It is drawn from a file or from what is kept, and its numbers are not known (–). Start an engine:`,
    act: ({ model }) => line(model.overview?.sidecar?.connect),
  },

  // What the link asks for.
  {
    id: 'unknown', grade: 'warn', of: 'any', outdated: ({ model }) => (model.scene ? 'net' : ''),
    when: ({ model }) => model.where.net && model.latest && !model.latest.nets.some((n) => n.id === model.where.net) && (model.latest.nets.length || (model.scene && !model.moment)),
    words: ({ model }) => {
      if (model.moment && model.net) return `This sidecar has the net “${model.where.net}” no more, so it cannot be drawn.`;
      return model.latest?.nets.length
        ? `This sidecar has no net “${model.where.net}”: no engine has reported it, or it was forgotten. It is shown once an engine reports it. Choose another net.`
        : `This sidecar has received no net yet. The drawing of “${model.where.net}” is an earlier one, and its numbers are not current.`;
    },
    act: ({ model }) => model.latest?.nets.length ? button('choose a net', () => choose()) : null,
  },
  {
    id: 'unknown-node', grade: 'warn', of: 'any',
    when: ({ model }) => model.scene && (model.where.kind === 'place' || model.where.kind === 'transition') && model.selected() < 0,
    words: ({ model }) => `${netName(model)} has no ${model.where.kind} “${model.where.id}”: the link is wrong, or the net was defined anew without it. Search for another one with /.`,
    act: ({ model }) => button('close', () => model.select('', '')),
  },
  {
    id: 'unknown-instance', grade: 'warn', of: 'any',
    when: ({ model }) => model.where.kind === 'instance' && model.unfound === model.where.id,
    words: ({ model }) => `No source of ${netName(model)} that is up has an instance “${model.where.id}”, and it was not among the oldest tokens in the last hour: the link is wrong, or the instance ended before that.`,
    act: ({ model }) => button('close', () => model.select('', '')),
  },
  {
    id: 'unknown-around', grade: 'warn', of: 'any',
    when: ({ model }) => model.scene && model.where.around && around(model) < 0,
    words: ({ model }) => `${netName(model)} has no ${model.where.around.replace(' ', ' “')}”, so the whole net is shown instead of its surroundings.`,
    act: ({ model }) => button('show the whole net', () => model.address.go({ around: '' })),
  },
  {
    id: 'unknown-time', grade: 'warn', of: 'any', offline: true,
    when: ({ model }) => !model.where.at && askedTime(),
    words: () => `The link asks for the time “${askedTime()}”, which is not one such as 2026-03-01T12:00:00Z. The numbers shown are those of now.`,
  },
  {
    id: 'undrawn', grade: 'bad', of: 'any',
    when: ({ model }) => model.trouble,
    words: ({ model }) => `${model.trouble} The lists beside it are right. This page tries again with the next numbers. Look at the log of the sidecar.`,
  },
  {
    id: 'past', grade: 'past', of: 'then', offline: true,
    when: ({ model }) => model.moment,
    words: ({ model }) => past(model),
    act: ({ model }) => button('back to live', () => model.travel(0)),
  },
  {
    id: 'deaf-then', grade: 'warn', of: 'then',
    when: ({ model }) => model.overview?.nats && !model.overview.nats.connected,
    words: ({ model }) => {
      const { since, reason } = /** @type {import('./model.js').Connection} */ (model.overview?.nats);
      return `The sidecar had no connection to NATS for ${age((model.now() - Date.parse(since)) / 1000)} and received no engine: ${reason || 'no reason known'}. The numbers shown were not current then.`;
    },
  },
  {
    id: 'silent-then', grade: 'warn', of: 'then',
    when: ({ model }) => model.net && model.net.sources_up === 0,
    words: ({ model }) => `No source of ${netName(model)} was up: the numbers are those of the last messages before that.`,
  },
  {
    id: 'above-then', grade: 'warn', of: 'then',
    when: ({ model }) => model.overview?.up_nats && !model.overview.up_nats.connected,
    words: ({ model }) => {
      const { since, reason } = /** @type {import('./model.js').Connection} */ (model.overview?.up_nats);
      return `The sidecar had no connection to the NATS of the sidecar above (--up.nats) for ${age((model.now() - Date.parse(since)) / 1000)}: ${reason || 'no reason known'}. That sidecar showed these nets with their last known state.`;
    },
  },

  // What is missing or wrong in part.
  {
    id: 'partial', grade: 'warn',
    when: ({ model }) => model.net?.sources_up && model.net.sources_stale,
    words: ({ model }) => `${plural(model.net?.sources_stale, 'source')} of ${netName(model)} ${model.net?.sources_stale === 1 ? 'is' : 'are'} silent, ${count(model.net?.sources_up)} up. ${silent(model)} The sums hold the last known numbers of a silent source, and its tokens grow older. Check ${who(model, 'stale')}.`,
  },
  {
    id: 'refused', grade: 'warn', outdated: ({ model }) => (health(model) === 'refused' ? 'net' : ''),
    when: ({ model }) => model.overview?.refused?.length,
    words: ({ model }) => {
      const all = model.overview?.refused ?? [];
      const sources = all.reduce((n, r) => n + r.sources, 0);
      const each = all.slice(0, named).map((r) => `${r.reason}: ${r.source} of ${netName(model, r.net)}${r.sources > 1 ? ` and ${r.sources - 1} more` : ''} (${r.text}). ${advice(r.reason)}`);
      const more = all.length > named ? ` ${plural(all.length - named, 'more reason')}: see the list of sources.` : '';
      return `The messages of ${plural(sources, 'source')} are refused. What ${sources === 1 ? 'it does' : 'they do'} now is not shown; the sums hold the last numbers that were accepted. By reason: ${each.join(' ')}${more}`;
    },
    act: ({ model }) => runbook(model, model.overview?.refused?.[0].reason === 'conflict' ? 'sourceConflict' : 'sourceRefused'),
  },
  {
    id: 'skew', grade: 'warn',
    when: ({ model }) => model.overview?.skewed,
    words: ({ model }) => {
      const { sources, worst } = /** @type {import('./model.js').Skewed} */ (model.overview?.skewed);
      const each = worst.slice(0, named).map((w) => `${w.name} of ${netName(model, w.net)} is ${off(w.ahead_seconds)}`);
      return `The clock of ${plural(sources, 'source')} differs from that of the sidecar: ${each.join(', ')}${sources > each.length ? ` and ${sources - each.length} more` : ''}. Ages and times here are right: the sidecar corrects them by the difference. Times in the source’s own log differ by it. Synchronise its clock.`;
    },
  },
  {
    id: 'pace', grade: 'warn',
    when: ({ model }) => model.overview?.interval_asked_seconds,
    words: ({ model }) => `The sidecar has too much work with so many engines and asked them to publish each ${age(/** @type {number} */ (model.overview?.interval_asked_seconds))}. The numbers here are exact, and late by up to that. Divide the engines among several sidecars, or give it a faster processor.`,
  },
  {
    id: 'browser-clock', grade: 'warn',
    when: ({ model }) => Math.abs(model.clock.ahead ?? 0) > apart,
    words: ({ model }) => {
      const ahead = -(model.clock.ahead ?? 0) / 1000;
      return `The clock of this computer is ${age(Math.abs(ahead))} ${ahead > 0 ? 'ahead of' : 'behind'} that of the sidecar. Ages here are right. Times of day are by the sidecar’s clock, and differ from this computer’s by that. Synchronise the clock that is wrong.`;
    },
  },
  {
    id: 'above', grade: 'warn',
    when: ({ model }) => model.overview?.up_nats && !model.overview.up_nats.connected,
    words: ({ model }) => {
      const { since, reason, disconnects } = /** @type {import('./model.js').Connection} */ (model.overview?.up_nats);
      const begun = disconnects ? `since ${then(model, Date.parse(since))}` : 'since its start';
      return `The sidecar has had no connection to the NATS of the sidecar above (--up.nats) ${begun}: ${reason || 'no reason known'}. That sidecar shows these nets with their last known state. The numbers on this page are current. This sidecar tries again by itself.`;
    },
  },
  {
    id: 'agentx', grade: 'bad',
    when: ({ model }) => !model.moment && model.overview?.agentx && !model.overview.agentx.connected,
    words: ({ model }) => {
      const { since, reason, disconnects, server } = /** @type {import('./model.js').Connection} */ (model.overview?.agentx);
      const begun = disconnects ? `since ${then(model, Date.parse(since))}` : 'since its start';
      return `SNMP shows nothing: the sidecar has had no session with the AgentX master at ${server} ${begun}, and notifications through it wait. ${reason || 'No reason known'}. The numbers on this page are current. The sidecar tries again by itself.`;
    },
  },

  // As it was set up.
  {
    id: 'below', grade: 'info',
    when: ({ model }) => model.overview?.sources.some((x) => x.below && x.net === model.where.net && x.state !== 'gone'),
    words: ({ model }) => {
      const all = (model.overview?.sources ?? []).filter((x) => x.below && x.net === model.where.net && x.state !== 'gone');
      return `The numbers of ${netName(model)} come from ${plural(all.length, 'sidecar')} below this one, each of which adds up its own engines: ${listed(all.map((x) => `${x.name} (${age(heard(model, x))} ago)`))}.`;
    },
  },
  {
    id: 'branch', grade: 'info',
    when: ({ model }) => model.overview?.sidecar?.share || model.overview?.sidecar?.above,
    words: ({ model }) => {
      const { share, above } = /** @type {import('./model.js').Sidecar} */ (model.overview?.sidecar);
      const part = share ? `This sidecar has share ${share} of the sources, so its numbers are a part of the whole.` : 'This sidecar has the sources of its own NATS.';
      return above ? `${part} The sidecar above, in ${above.prefix}, has the sums; this one is ${above.source} there.` : part;
    },
  },
  {
    id: 'standby', grade: 'info',
    when: ({ model }) => model.overview?.sidecar?.duty && !model.overview.sidecar.duty.on && model.overview.sidecar.duty.others > 0,
    words: () => 'This sidecar stands by: another one of its pair is on duty and sends the notifications. The numbers and alarms here are its own, and current.',
  },
  {
    id: 'duty', grade: 'info',
    when: ({ model }) => model.overview?.sidecar?.duty?.on && model.overview.sidecar.duty.others > 0,
    words: ({ model }) => `This sidecar is on duty: it sends the notifications, and ${plural(model.overview?.sidecar?.duty?.others, 'other sidecar')} ${model.overview?.sidecar?.duty?.others === 1 ? 'stands' : 'stand'} by.`,
  },
  {
    id: 'newer', grade: 'info', of: 'any',
    when: (s) => s.newer,
    words: () => 'A newer version of this page is available.',
    act: () => button('reload', () => location.reload()),
  },
]));

/**
 * What is shown instead of a drawing. At most one of these holds.
 * @type {readonly {id: string, when: (s: Situation) => unknown, title: (s: Situation) => string, words: (s: Situation) => string}[]}
 */
export const stages = Object.freeze([
  {
    id: 'absent',
    when: ({ model }) => model.moment && !model.moment.asking && !model.shown,
    title: () => 'No data to show',
    words: ({ model }) => model.lacks,
  },
  {
    id: 'asking',
    when: ({ model }) => model.moment && !model.shown,
    title: () => '',
    words: () => 'asking …',
  },
  {
    id: 'starting',
    when: ({ model }) => model.latest?.generation === 0,
    title: () => 'The sidecar starts',
    words: () => 'It has not added up anything yet. Nets appear here within seconds.',
  },
  {
    id: 'no-nats',
    when: ({ model }) => none(model) && model.latest?.nats?.connected === false,
    title: () => 'Waiting for NATS',
    words: ({ model }) => `The sidecar has received no net, because it has no connection to NATS${at(model)}. Once that server runs, an engine connects like this:`,
  },
  {
    id: 'none',
    when: ({ model }) => none(model),
    title: () => 'Waiting for the first engine',
    words: ({ model }) => {
      const { connect, share } = model.overview?.sidecar ?? {};
      const part = share ? ` It takes share ${share} of the sources: an engine of another share appears at the sidecar of that share.` : '';
      const wanted = model.where.net ? ` The net “${model.where.net}” of the link is shown once an engine reports it.` : '';
      return `The sidecar is connected to NATS${at(model)} and has received no net${connect ? ` in the subject space ${connect.prefix}` : ''}.${part}${wanted}`;
    },
  },
  {
    id: 'no-such-net',
    when: ({ model }) => model.latest && model.where.net && !model.latest.nets.some((n) => n.id === model.where.net),
    title: ({ model }) => `No net “${model.where.net}”`,
    words: () => 'There is nothing to draw.',
  },
  {
    id: 'waiting',
    when: (s) => !(s.model.overview && !s.model.where.net) && !s.lost && !s.model.live.refusal && !s.model.trouble,
    title: () => '',
    words: () => 'fetching the net …',
  },
]);

/** @param {Model} model */
function none(model) {
  return model.latest !== null && model.latest.generation > 0 && model.latest.nets.length === 0;
}

/** @param {Model} model */
function at(model) {
  const where = model.overview?.nats?.connected ? model.overview.nats.server : model.overview?.sidecar?.connect?.servers;
  return where ? ` at ${where}` : '';
}

/**
 * How the sources of the net are, if none is up.
 * @param {Model} model
 * @returns {''|'silent'|'refused'|'arriving'|'gone'|'never'}
 */
function health(model) {
  const { net } = model;
  if (!net || net.sources_up) return '';
  if (net.sources_stale || mine(model, 'stale').length) return 'silent';
  if (mine(model, 'refused').length) return 'refused';
  if (mine(model, 'undefined').length) return 'arriving';
  return net.firings == null && !mine(model, 'gone').length ? 'never' : 'gone';
}

/**
 * The sources of the net in a state.
 * @param {Model} model
 * @param {string} state
 * @returns {Source[]}
 */
function mine(model, state) {
  return (model.overview?.sources ?? []).filter((x) => x.net === model.where.net && x.state === state);
}

/**
 * Which sources are silent, and since when.
 * @param {Model} model
 */
function silent(model) {
  const all = mine(model, 'stale').sort((a, b) => (b.last_heard_age_seconds ?? 0) - (a.last_heard_age_seconds ?? 0));
  if (!all.length) return '';
  const each = all.map((x) => `${x.below ? 'the sidecar below ' : ''}${x.name} since ${then(model, model.clock.now() - 1000 * heard(model, x))}`);
  return `Silent: ${listed(each)}.`;
}

/**
 * What to check.
 * @param {Model} model
 * @param {string} state
 */
function who(model, state) {
  return mine(model, state).some((x) => x.below) ? 'the sidecars below, their hosts and their connection to NATS' : 'the engines, their hosts and their connection to NATS';
}

/**
 * @param {Model} model
 * @param {Source} source
 * @returns {number} seconds since its last message
 */
function heard(model, source) {
  return (source.last_heard_age_seconds ?? 0) + model.passed();
}

/**
 * @param {Model} model
 * @param {string} [id] without it the net of the page
 */
function netName(model, id = model.where.net) {
  const net = model.overview?.nets.find((n) => n.id === id) ?? model.latest?.nets.find((n) => n.id === id);
  return net ? label(net) : `“${id}”`;
}

/**
 * @param {string[]} names
 * @returns {string}
 */
function listed(names) {
  return names.length > named + 1 ? `${names.slice(0, named).join(', ')} and ${names.length - named} more` : names.join(', ');
}

/** @param {number} seconds positive for ahead */
function off(seconds) {
  return `${age(Math.abs(seconds))} ${seconds > 0 ? 'ahead' : 'behind'}`;
}

/**
 * A moment and how long ago it was.
 * @param {number} ms by this page's clock
 */
function ago(ms) {
  return `${when(ms)} (${age((Date.now() - ms) / 1000)})`;
}

/**
 * @param {Model} model
 * @param {number} ms by the server's clock
 */
function then(model, ms) {
  return `${when(ms)} (${age(Math.max(0, model.clock.now() - ms) / 1000)})`;
}

/** @param {Situation} s */
function shown({ model }) {
  if (model.moment) return 'The numbers of the past that are shown stay.';
  return model.live.received ? `The numbers shown are ${age((Date.now() - model.live.received) / 1000)} old.` : 'Nothing can be shown.';
}

/**
 * What moment is shown, and what it lacks.
 * @param {Model} model
 */
function past(model) {
  const moment = /** @type {import('./moments.js').Moment} */ (model.moment);
  if (moment.asking) return `Asking for ${when(moment.asked)} …`;
  if (!moment.overview && !moment.frame) return model.lacks;
  const parts = [`The data shown is of ${when(moment.at)}, ${age((model.clock.now() - moment.at) / 1000)} ago${moment.archive ? ', from the archive' : ''}.`, model.lacks];
  if (model.comparing) parts.push(model.current ? 'Compared with now: + more now, − fewer now, same: the oldest token is still there.' : 'It cannot be compared: the numbers of now are not known.');
  return parts.filter(Boolean).join(' ');
}

/** @param {Model} model */
function around({ scene, where }) {
  const [kind, ...id] = where.around.split(' ');
  return scene?.find(/** @type {'place'|'transition'} */ (kind), id.join(' ')) ?? -1;
}

/** @returns {string} the time that the link asks for, if it is not one */
function askedTime() {
  const text = new URLSearchParams(location.hash.slice(1)).get('at') ?? '';
  return Number.isFinite(Date.parse(text)) ? '' : text;
}

/**
 * @param {string} words
 * @param {() => void} does
 */
function button(words, does) {
  return el('button', { type: 'button', onclick: does }, words);
}

/**
 * @param {Model} model
 * @param {string} kind of alarm
 */
function runbook(model, kind) {
  const href = model.overview?.links?.runbooks[kind];
  return href ? el('a', { href, target: '_blank', rel: 'noopener' }, 'runbook') : null;
}

/** Brings the list of nets before the reader. */
function choose() {
  const lists = document.getElementById('lists');
  if (lists && getComputedStyle(lists).display === 'none') document.getElementById('menu')?.click();
  /** @type {HTMLElement|null|undefined} */ (lists?.querySelector('.row.net'))?.focus();
}

/** @type {Record<string, string>} what to do about a source that is refused, by the reason */
const advices = Object.freeze({
  conflict: 'Stop one of the two processes, or give it another --source.',
  counter_fell: 'Restart the engine, so that it counts as a new process.',
  wrong_size: 'Restart the engine: it publishes rows of another definition than it names.',
  definition_held: 'If its definition is right, give its file to pnagent serve.',
  net_not_allowed: 'Have --net-allow of this sidecar name the net, or stop the source.',
  old_fence: 'Another process has taken its region over: stop this one.',
  too_many_sources: 'Stop sources that should not publish, or raise --collect.max-sources.',
  too_many_rows: 'Stop sources that should not publish, or raise --collect.max-rows.',
  too_many_nets: 'Stop sources that should not publish.',
  too_many_definitions: 'Run one definition of the net in all its engines.',
  bad_definition: 'Correct the definition of its net.',
});

/** @param {string} reason */
function advice(reason) {
  return advices[reason] ?? 'pnagent wire check names what to change in its messages.';
}
