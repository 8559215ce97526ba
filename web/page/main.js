// SPDX-License-Identifier: Apache-2.0
// Puts the page together.
import { Banners } from './banners.js';
import { BpmnStage } from './bpmn.js';
import { heatLegend } from './chart.js';
import { byId, el, say, syncRows } from './dom.js';
import { count } from './format.js';
import { HeatScale } from './heat.js';
import { Headline } from './headline.js';
import { Help } from './help.js';
import { hint } from './hint.js';
import { Home } from './home.js';
import { Instances } from './instances.js';
import { shortcuts, walk } from './keys.js';
import { Lists } from './lists.js';
import { lookThere } from './look.js';
import { Minimap } from './minimap.js';
import { Model } from './model.js';
import { Panel } from './panel.js';
import { Player } from './player.js';
import { Search } from './search.js';
import { Share } from './share.js';
import { SightBar } from './sightbar.js';
import { Stage } from './stage.js';
import { Tables } from './tables.js';
import { Theme } from './theme.js';
import { Timeline } from './timeline.js';
import { Tip } from './tip.js';
import { Views } from './views.js';

const theme = new Theme();
const model = new Model();
const canvas = /** @type {HTMLCanvasElement} */ (byId('net'));
const stage = new Stage(model, canvas, theme);
const bpmn = new BpmnStage(model, byId('bpmn'), theme);
const views = new Views(model, stage, bpmn);
const help = new Help();
const player = new Player(model);
const timeline = new Timeline(model, byId('timeline'), player);
const share = new Share(model, stage, bpmn);
const lists = byId('lists');
new Lists(model, lists);
new Panel(model, byId('panel'), theme);
new Tables(model, byId('tables'), theme);
new Tip(model, views);
new Banners(model);
new Headline(model);
new Home(model);
new Minimap(model, stage, theme);
lookThere(model, stage);
const sightBar = new SightBar(model, stage);

const search = new Search(model, (match) => {
  if (match.kind === 'net') return model.openNet(match.id);
  if (match.net && match.kind !== 'data') return model.address.go({ net: match.net, kind: match.kind, id: match.id, around: '', look: '', view: '' });
  if (match.kind === 'data') return new Instances(model, new HeatScale(theme.now), '', match.id).open();
  const node = match.kind === 'instance' ? -1 : model.scene?.find(match.kind, match.id) ?? -1;
  if (node >= 0 && model.bpmn) bpmn.point(node);
  else if (node >= 0) stage.jump(node);
  model.select(match.kind, match.id);
}, () => views.now.focus());

/** @param {boolean} open */
function showLists(open) {
  lists.classList.toggle('open', open);
  byId('menu').setAttribute('aria-expanded', String(open));
}

function hottest() {
  const place = model.scene?.nodes[model.hottest()];
  if (!place) return;
  views.now.point(model.hottest());
  model.select('place', place.id);
}

/** Esc: the nearest thing that can be closed. */
function back() {
  if (lists.classList.contains('open')) showLists(false);
  else if (model.where.kind) model.select('', '');
  else if (model.where.around) sightBar.leave();
  else if (model.where.at) model.travel(0);
  if (document.activeElement === document.body) views.now.focus();
}

function toggleTable() {
  model.address.go({ table: !model.where.table });
  if (model.where.table) byId('stage').focus();
  else views.now.focus();
}

for (const [root, view] of /** @type {const} */ ([[canvas, stage], [byId('bpmn'), bpmn]])) walk(root, view, (text) => say(byId('said'), text));
shortcuts({
  '/': () => search.open(), '+': () => views.now.zoom(1.3), '=': () => views.now.zoom(1.3), '-': () => views.now.zoom(1 / 1.3), '0': () => views.now.fit(),
  t: toggleTable, b: () => views.toggle(), d: () => theme.toggle(), l: () => model.travel(0), h: hottest, s: () => share.open(), '?': () => help.toggle(), Escape: back,
  a: () => model.goHome(),
  i: () => model.where.net && new Instances(model, new HeatScale(theme.now), '').open(),
  q: () => sightBar.collapse(), n: () => sightBar.toggle(model.bpmn ? bpmn.node : stage.cursor), '<': () => sightBar.step(-1), '>': () => sightBar.step(1),
  '[': () => timeline.step(-1), ']': () => timeline.step(1), '{': () => timeline.leap(-1), '}': () => timeline.leap(1),
  p: () => player.toggle(), c: () => timeline.toggleCompare(),
});
byId('zoom-in').addEventListener('click', () => views.now.zoom(1.3));
byId('zoom-out').addEventListener('click', () => views.now.zoom(1 / 1.3));
byId('zoom-fit').addEventListener('click', () => views.now.fit());
byId('as-table').addEventListener('click', toggleTable);
byId('theme').addEventListener('click', () => theme.toggle());
byId('share-open').addEventListener('click', () => share.open());
byId('to-home').addEventListener('click', () => model.goHome());
byId('help-open').addEventListener('click', () => help.toggle());
byId('menu').addEventListener('click', () => showLists(!lists.classList.contains('open')));
lists.addEventListener('click', (event) => /** @type {Element} */ (event.target).closest('button') && showLists(false));
byId('skip').addEventListener('click', (event) => {
  event.preventDefault();
  views.now.focus();
});

const worth = el('span', { class: 'worth' });
function legend() {
  byId('legend').replaceChildren(heatLegend(new HeatScale(theme.now)), worth);
}
theme.addEventListener('change', legend);
legend();
model.on('frame address drawing link', () => {
  const worths = views.now.moving ? views.now.flow.worths : [];
  syncRows(worth, worths, String, (w) => el('span', { class: 'dot d' + Math.min(3, Math.round(Math.log10(w))) }), (row, w) => {
    const unit = w === worths[0] ? ' firings' : '';
    say(row, w === 1 ? 'a firing' : count(w) + unit);
  });
  byId('as-table').setAttribute('aria-pressed', String(model.where.table));
});
hint();
model.start();
