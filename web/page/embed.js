// SPDX-License-Identifier: Apache-2.0
// The page for frames of other pages: the drawing of one net, or the alarms. It shows and
// explains, and does nothing else: it has no button, no form, and no module that acts.
import { hash } from './address.js';
import { BpmnStage } from './bpmn.js';
import { byId, el, name, say, syncRows } from './dom.js';
import { matches } from './filter.js';
import { age, label, plural, visible, when } from './format.js';
import { lookThere } from './look.js';
import { Model } from './model.js';
import { about, signOf, subject, tally, urgency, words } from './problem.js';
import { Stage } from './stage.js';
import { Theme } from './theme.js';
import { Tip } from './tip.js';

/** The most alarms that are listed. */
const most = 200;

const query = new URLSearchParams(location.search);
if (!location.hash) history.replaceState(null, '', '#' + query);
const chosen = query.get('theme');
const theme = new Theme(chosen === 'dark' || chosen === 'light' ? chosen : '');
const alarms = query.has('alarms');
const model = new Model(true);
const canvas = /** @type {HTMLCanvasElement} */ (byId('net'));
const stage = new Stage(model, canvas, theme);
lookThere(model, stage);
const bpmn = new BpmnStage(model, byId('bpmn'), theme);
new Tip(model, { get now() { return model.bpmn ? bpmn : stage; } });

// The pages around it scroll, and nothing here is selected or moved.
for (const type of ['pointerdown', 'mousedown', 'click', 'dblclick', 'wheel', 'touchstart', 'touchmove', 'keydown']) {
  byId('stage').addEventListener(type, (event) => /** @type {Element} */ (event.target).closest('a') === null && event.stopPropagation(), { capture: true, passive: true });
}

/** What the reader must know about what is shown. */
function note() {
  const { where, net, overview, live, trouble, moment } = model;
  if (trouble) return trouble;
  if (!moment && overview && where.net && !net && !alarms) return overview.nets.length ? `This sidecar has no net “${visible(where.net)}”.` : 'The sidecar has received no net yet.';
  if (!live.up && live.received) return `The data shown is ${age((Date.now() - live.received) / 1000)} old.`;
  if (overview?.nats && !overview.nats.connected) return 'The sidecar has no connection to NATS. The data shown is not current.';
  if (alarms) return '';
  if (moment) return moment.asking ? `Asking for ${when(moment.asked)} …` : model.lacks || `The data shown is of ${when(moment.at)}.`;
  if (net && net.sources_up === 0) return 'No source is up: the numbers are those of the last messages.';
  const hottest = model.hottest();
  const place = model.scene?.nodes[hottest];
  return place ? `oldest ${age(model.shown?.oldestAge(hottest, model.now()))} in ${label(place)}` : '';
}

function show() {
  const { where, net, live, scene } = model;
  if (where.table) model.address.go({ table: false }, true); // there is none here
  const called = alarms ? 'Alarms' : net ? label(net) : visible(where.net || 'pnagent');
  say(byId('net-name'), called);
  document.title = `${called.slice(0, 80)} – pnagent`;
  say(byId('note'), note());
  say(byId('link'), live.up ? 'live' : live.received ? 'reconnecting' : 'connecting');
  byId('link').className = live.up ? 'link up' : 'link down';
  document.documentElement.classList.toggle('outdated', !live.up && live.received > 0);
  byId('whole').setAttribute('href', './' + hash(where));
  byId('stage').classList.toggle('as-bpmn', model.bpmn || alarms);
  byId('bpmn').hidden = !model.bpmn || alarms;
  byId('alarms').hidden = !alarms;
  const sum = scene && net ? `${called}: ${plural(net.tokens, 'token')}, ${byId('note').textContent}, ${tally(net)}` : called;
  for (const drawing of [canvas, byId('bpmn')]) drawing.setAttribute('aria-label', visible(sum));
  if (alarms) list();
}

function list() {
  const { overview, where } = model;
  const all = (overview?.alarms ?? []).filter((a) => matches(a, where.filter)).sort(urgency(''));
  const rest = all.length - most + (overview?.alarms_left_out ?? 0);
  const rows = [...all.slice(0, most), ...(rest > 0 || !all.length ? [null] : [])];
  syncRows(byId('alarms'), rows, (a) => (a ? `${a.index} ${a.since}` : 'more'), (a) => (a ? row(a) : el('li', { class: 'quiet more' })), (li, a) => {
    if (!a) return say(li, rest > 0 ? `and ${rest} more` : 'No alarm is active.');
    const [sign, kind, says] = signOf(a);
    const parts = li.querySelectorAll('.mark, .title, .age, .text');
    say(parts[0], sign);
    parts[0].className = 'mark ' + kind;
    parts[0].setAttribute('aria-label', says);
    say(parts[1].firstElementChild, subject(a));
    say(parts[2], age((model.now() - Date.parse(a.since)) / 1000));
    const notes = [a.acknowledged && 'acknowledged', a.silenced_until && 'silenced', a.follows && `follows from lost source ${a.follows}`, a.unknown && `unknown: ${a.unknown}`, about(a) && (a.net_name || a.net)];
    say(parts[3], [words(a), ...notes.filter(Boolean)].join(' · '));
  });
}

/** @param {import('./model.js').Alarm} a */
function row(a) {
  const kind = a.place ? 'place' : a.transition ? 'transition' : '';
  const to = hash({ ...model.where, net: a.net ?? '', kind, id: a.place ?? a.transition ?? '', at: 0, around: '', filter: {} });
  return el('li', null, el('a', { class: 'row alarm', href: './' + to, target: '_blank', rel: 'noopener' },
    el('span', { class: 'mark', role: 'img' }), el('span', { class: 'title' }, name('')), el('span', { class: 'age num' }), el('span', { class: 'text' })));
}

addEventListener('hashchange', show);
model.on('address overview drawing frame link', show);
setInterval(show, 1000);
model.start();
