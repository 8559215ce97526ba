// SPDX-License-Identifier: Apache-2.0
// Puts the page together.
import { Banners } from './banners.js';
import { heatLegend } from './chart.js';
import { byId, el, say, syncRows } from './dom.js';
import { age, count, label, plural, rate } from './format.js';
import { HeatScale } from './heat.js';
import { Headline } from './headline.js';
import { Help } from './help.js';
import { shortcuts, walk } from './keys.js';
import { Lists } from './lists.js';
import { Model } from './model.js';
import { Panel } from './panel.js';
import { Search } from './search.js';
import { Stage } from './stage.js';
import { Tables } from './tables.js';
import { Theme } from './theme.js';
import { Timeline } from './timeline.js';
import { Tip } from './tip.js';

const theme = new Theme();
const model = new Model();
const canvas = /** @type {HTMLCanvasElement} */ (byId('net'));
const stage = new Stage(model, canvas, theme);
const help = new Help();
const timeline = new Timeline(model, byId('timeline'));
const lists = byId('lists');
new Lists(model, lists);
new Panel(model, byId('panel'), theme);
new Tables(model, byId('tables'), theme);
new Tip(model, stage);
new Banners(model);
new Headline(model);

const search = new Search(model, (match) => {
  if (match.kind === 'net') return model.openNet(match.id);
  if (match.kind !== 'instance' && model.scene) stage.point(model.scene.find(match.kind, match.id));
  model.select(match.kind, match.id);
});

/** @param {number} node */
function describe(node) {
  const { scene, shown } = model;
  const n = scene?.nodes[node];
  if (!scene || !n) return '';
  if (n.kind === 'place') {
    const old = n.final ? 'finished' : `oldest ${age(shown?.oldestAge(node, model.now()))}`;
    return `place ${label(n)}: ${plural(shown?.places[node]?.tokens, 'token')}, ${old}`;
  }
  const row = shown?.transitions[scene.row(node)] ?? {};
  return `transition ${label(n)}: ${rate(row.rate)}, blocked ${count(row.blocked)}`;
}

/** @param {boolean} open */
function showLists(open) {
  lists.classList.toggle('open', open);
  byId('menu').setAttribute('aria-expanded', String(open));
}

function hottest() {
  const place = model.scene?.nodes[model.hottest()];
  if (!place) return;
  stage.point(model.hottest());
  model.select('place', place.id);
}

/** Esc: the nearest thing that can be closed. */
function back() {
  if (lists.classList.contains('open')) showLists(false);
  else if (model.where.kind) model.select('', '');
  else if (model.where.at) model.travel(0);
  canvas.focus();
}

function toggleTable() {
  model.address.go({ table: !model.where.table });
  (model.where.table ? byId('stage') : canvas).focus();
}

walk(model, stage, (text) => say(byId('said'), text), describe);
shortcuts({
  '/': () => search.open(), '+': () => stage.zoom(1.3), '=': () => stage.zoom(1.3), '-': () => stage.zoom(1 / 1.3), '0': () => stage.fit(),
  t: toggleTable, d: () => theme.toggle(), l: () => model.travel(0), h: hottest, '?': () => help.toggle(), Escape: back,
  '[': () => timeline.step(-1), ']': () => timeline.step(1),
});
byId('zoom-in').addEventListener('click', () => stage.zoom(1.3));
byId('zoom-out').addEventListener('click', () => stage.zoom(1 / 1.3));
byId('zoom-fit').addEventListener('click', () => stage.fit());
byId('as-table').addEventListener('click', toggleTable);
byId('theme').addEventListener('click', () => theme.toggle());
byId('help-open').addEventListener('click', () => help.toggle());
byId('menu').addEventListener('click', () => showLists(!lists.classList.contains('open')));
lists.addEventListener('click', (event) => /** @type {Element} */ (event.target).closest('button') && showLists(false));
byId('skip').addEventListener('click', (event) => {
  event.preventDefault();
  canvas.focus();
});

const worth = el('span', { class: 'worth' });
function legend() {
  byId('legend').replaceChildren(heatLegend(new HeatScale(theme.now)), worth);
}
theme.addEventListener('change', legend);
legend();
model.on('frame address drawing link', () => {
  const worths = stage.moving ? stage.flow.worths : [];
  syncRows(worth, worths, String, (w) => el('span', { class: 'dot d' + Math.min(3, Math.round(Math.log10(w))) }), (row, w) => {
    const unit = w === worths[0] ? ' firings' : '';
    say(row, w === 1 ? 'a firing' : count(w) + unit);
  });
  byId('as-table').setAttribute('aria-pressed', String(model.where.table));
});
model.start();
