// SPDX-License-Identifier: Apache-2.0
import { el } from './dom.js';
import { kindName } from './problem.js';

/**
 * Links for what is selected: the runbooks of its alarms, and its dashboard.
 * @param {import('./model.js').Model} model
 * @returns {HTMLElement|null}
 */
export function links(model) {
  const { net, kind, id } = model.where;
  const to = model.latest?.links;
  if (!to) return null;
  const alarms = model.overview?.alarms.filter((a) => a.net === net && (kind === 'place' ? a.place : a.transition) === id) ?? [];
  const out = [...new Set(kind === 'instance' ? [] : alarms.map((a) => a.alarm))].filter((k) => to.runbooks[k]).map((k) => link(to.runbooks[k], `Runbook: ${kindName(k)}`, k));
  if (to.grafana) out.push(link(filled(to.grafana, model), 'Grafana', 'grafana'));
  return out.length ? el('p', { class: 'links' }, ...out) : null;
}

/**
 * @param {string} href
 * @param {string} text
 * @param {string} key
 */
function link(href, text, key) {
  return el('a', { href, target: '_blank', rel: 'noreferrer', 'data-key': 'link ' + key }, text);
}

/**
 * The address of a dashboard.
 * @param {string} template
 * @param {import('./model.js').Model} model
 */
function filled(template, model) {
  const { where } = model;
  const to = Math.round(model.now());
  /** @type {Record<string, string>} */
  const values = { net: where.net, place: '', transition: '', [where.kind]: where.id, from: String(to - 3600e3), to: String(to) };
  return template.replace(/\{(net|place|transition|from|to)\}/g, (_, key) => encodeURIComponent(values[key]));
}
