// SPDX-License-Identifier: Apache-2.0
// Details of the past: what the frame of the moment has, what the sidecar keeps as a
// series, and in words what it does not keep.
import { facts, sparkline } from './chart.js';
import { both } from './compare.js';
import { el, name } from './dom.js';
import { age, count, rate, when } from './format.js';
import { stays } from './instance.js';
import { badge } from './token.js';

/** @typedef {import('./place.js').Context} Context */

const hour = 3600e3;
/** An answer belongs to the moment if their times differ by less, ms. */
const same = 2;

/**
 * @param {'place'|'transition'|'instance'} kind
 * @param {any} answer as /api/v1/ answers, null before that; only what is of that moment is shown
 * @param {number} node of the drawing, -1 for none
 * @param {Context} context
 * @returns {HTMLElement[]}
 */
export function past(kind, answer, node, context) {
  const { model } = context;
  const out = [el('p', { class: 'note of-past' }, `As of ${when(model.at)}, ${age((model.clock.now() - model.at) / 1000)} ago.`)];
  if (kind === 'instance') out.push(...instance(answer, context));
  else if (!model.shown || node < 0) out.push(el('p', null, model.lacks || 'Nothing is known of it for that moment.'));
  else out.push(...(kind === 'place' ? place(node, model) : transition(node, model)), ...oldest(kind, answer, context), ...series(kind, answer, model));
  const missing = { place: 'Why its tokens waited, how old the others were, how long tokens stayed', transition: 'Why it did not fire, how long it took', instance: 'Where else it was' }[kind];
  out.push(el('p', { class: 'quiet' }, `${missing}: not kept. Requests act on now, so there are none here. `,
    el('button', { type: 'button', class: 'link-like', 'data-key': 'now', onclick: () => model.travel(0) }, 'Show now')));
  return out;
}

/**
 * @param {number} node
 * @param {import('./model.js').Model} model
 */
function place(node, model) {
  const { scene, shown } = model;
  const final = scene?.nodes[node].final;
  const now = model.comparing ? model.current?.places[node] : undefined;
  const then = shown?.places[node] ?? {};
  const later = now ?? then;
  const old = (/** @type {any} */ frame, /** @type {number} */ at) => (frame?.places[node]?.tokens === 0 ? 'empty' : age(frame?.oldestAge(node, at)));
  const oldest = old(shown, model.at);
  const present = old(model.current, model.clock.now());
  return [facts([
    ['tokens', both(then.tokens, later.tokens)], ['instances', both(then.instances, later.instances)],
    ['oldest', later === then || oldest === present ? oldest : `${oldest} → ${present}`], ['arrivals', both(then.arrival_rate, later.arrival_rate, rate)],
  ]), ...(final ? [el('p', { class: 'quiet' }, 'No transition takes tokens from here: they are finished work, not stuck.')] : [])];
}

/**
 * @param {number} node
 * @param {import('./model.js').Model} model
 */
function transition(node, model) {
  const { scene, shown } = model;
  const row = scene?.row(node) ?? 0;
  const then = shown?.transitions[row] ?? {};
  const later = (model.comparing ? model.current?.transitions[row] : undefined) ?? then;
  return [facts([
    ['rate', both(then.rate, later.rate, rate)], ['enabled', both(then.enabled, later.enabled)], ['for', then.enabled ? age(shown?.enabledAge(row, model.at)) : '–'],
    ['running', both(then.running, later.running)], ['blocked', both(then.blocked, later.blocked)], ['failed', both(then.failures, later.failures)],
  ])];
}

/**
 * The oldest tokens of a place then, if the answer is of then.
 * @param {'place'|'transition'} kind
 * @param {any} answer
 * @param {Context} context
 */
function oldest(kind, answer, { model, heat: scale }) {
  if (kind !== 'place' || !answer?.stuck?.length || Math.abs(Date.parse(answer.at) - model.at) > same) return [];
  return [el('h3', null, 'Oldest tokens then'), el('ol', { class: 'tokens' }, ...answer.stuck.map((/** @type {any} */ t, /** @type {number} */ i) => el('li', null,
    el('button', { type: 'button', class: 'link-like', 'data-key': 'token ' + i, onclick: () => model.select('instance', t.instance) }, name(t.instance)),
    badge(t.age_seconds, model.scene?.nodes[model.scene.find('place', answer.id)]?.calm ? scale.cold() : scale), el('span', { class: 'quiet num' }, `since ${when(Date.parse(t.injected))}`))))];
}

/**
 * The hour before the moment, as far as it is kept.
 * @param {'place'|'transition'} kind
 * @param {any} answer
 * @param {import('./model.js').Model} model
 */
function series(kind, answer, model) {
  const { at } = model;
  const points = (answer?.series?.points ?? []).filter((/** @type {(number|null)[]} */ p) => p[0] !== null && p[0] >= at - hour && p[0] <= at);
  if (!points.length) return [el('p', { class: 'quiet' }, answer ? 'The hour before is not kept.' : 'asking …')];
  const range = { from: Math.min(points[0][0], at - 60e3), to: at, mark: at, pick: (/** @type {number} */ ms) => model.travel(Math.round(ms)) };
  const lines = kind === 'place'
    ? [['Tokens', 1, count, ''], ['Oldest token', 2, age, 'warm']]
    : [['Firings', 1, rate, ''], ['Running', 2, count, 'warm']];
  return lines.map(([title, column, say, className]) => sparkline(points, Number(column), { title: String(title), say: /** @type {any} */ (say), className: String(className), ...range }));
}

/**
 * Where an instance was seen at that moment, and in that hour.
 * @param {any} answer
 * @param {Context} context
 */
function instance(answer, context) {
  const { at } = context.model;
  if (!answer) return [el('p', { class: 'quiet' }, 'asking …')];
  const seen = (answer.seen ?? []).filter((/** @type {any} */ s) => Date.parse(s.injected) <= at);
  const then = seen.filter((/** @type {any} */ s) => there(s, at));
  return [el('h3', null, 'Where it was seen then'),
    then.length ? stays(then, context, 'then') : el('p', { class: 'quiet' }, 'Not among the oldest tokens of any place at that moment.'),
    el('h3', null, 'Seen among the oldest until then'),
    seen.length ? stays(seen, context, 'seen') : el('p', { class: 'quiet' }, 'Not among the oldest tokens of any place until then.')];
}

/**
 * Whether an instance was in a place at a time, as far as it was seen.
 * @param {{injected: string, last_seen: string, gone?: boolean}} stay
 * @param {number} at ms
 */
export function there({ injected, last_seen: last, gone }, at) {
  return Date.parse(injected) <= at && (!gone || at <= Date.parse(last));
}
