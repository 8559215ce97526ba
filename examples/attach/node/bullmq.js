// SPDX-License-Identifier: Apache-2.0

/**
 * Reports what happens to the jobs of a BullMQ queue: one line of JSON for each event, by
 * HTTP to "pnagent attach lines --http ADDR jobs.pnml". It runs in a process of its own and
 * reads what BullMQ keeps in Redis, so neither producers nor workers change.
 *
 *   node bullmq.js QUEUE http://127.0.0.1:9799/events [REDIS-HOST REDIS-PORT]
 *
 * When this program or the adapter starts, it sends the jobs that are in the queue, and since
 * when they are where they are. What cannot be sent is sent again, so no event is lost while
 * the adapter restarts.
 */
const { Queue, QueueEvents } = require('bullmq');

const [name, url, host = '127.0.0.1', port = '6379'] = process.argv.slice(2);
const connection = { host, port: Number(port) };
const queue = new Queue(name, { connection });
const stateURL = new URL(`state?net=jobs&prefix=${encodeURIComponent(`${name} `)}`, url);

/** What BullMQ calls the lists of open jobs, and what it calls the state of a job in its events. */
const lists = { wait: 'waiting', paused: 'waiting', prioritized: 'waiting', delayed: 'delayed', active: 'active', failed: 'failed' };
const sorted = ['prioritized', 'delayed', 'failed'];

let states = new Map(); // where each open job is, as of the last event that was read
let lines = []; // those that wait, with the ids of their events
let known = '0-0'; // the last event before the state that was read last
let started = null; // of the adapter that got this state
let sending = false;

/** Whether an event is later than another one, by their ids. */
function later(a, b) {
  const [ams, an] = a.split('-').map(Number);
  const [bms, bn] = b.split('-').map(Number);
  return ams > bms || (ams === bms && an > bn);
}

/** A job moves to a state. The time is in the id of the event. */
function moves(job, to, id, before) {
  if (!later(id, known)) return;
  const from = states.get(job) ?? before ?? 'new';
  if (to === 'completed' || to === 'removed') states.delete(job);
  else states.set(job, to);
  const line = { net: 'jobs', instance: `${name} ${job}`, time: Number(id.split('-')[0]) };
  if (to === 'completed' || to === 'removed') line.end = true;
  if (to !== 'removed') line.transition = `${from}-${to}`;
  lines.push({ id, job, to, text: `${JSON.stringify(line)}\n` });
  send();
}

/** Reads the state of all open jobs at one moment, and the last event before it. */
async function read() {
  const client = await queue.client;
  const all = client.multi().xrevrange(queue.toKey('events'), '+', '-', 'COUNT', 1);
  for (const list of Object.keys(lists)) all[sorted.includes(list) ? 'zrange' : 'lrange'](queue.toKey(list), 0, -1);
  const [[, last], ...found] = await all.exec();
  known = last.length > 0 ? last[0][0] : '0-0';
  states = new Map();
  Object.values(lists).forEach((state, i) => found[i][1].forEach((job) => { if (!job.startsWith('0:')) states.set(job, state); }));
  const jobs = [...states];
  for (const { id, job, to } of lines.filter((l) => later(l.id, known))) { // events that were read meanwhile
    if (to === 'completed' || to === 'removed') states.delete(job);
    else states.set(job, to);
  }
  const text = [];
  for (let i = 0; i < jobs.length; i += 1000) {
    const some = jobs.slice(i, i + 1000);
    const times = client.pipeline();
    for (const [job] of some) times.hmget(queue.toKey(job), 'timestamp', 'processedOn', 'finishedOn');
    (await times.exec()).forEach(([, [timestamp, processed, finished]], k) => {
      const [job, place] = some[k];
      const since = (place === 'failed' && finished) || (place !== 'delayed' && processed) || timestamp;
      text.push(`${JSON.stringify({ net: 'jobs', instance: `${name} ${job}`, place, time: Number(since ?? Date.now()) })}\n`);
    });
  }
  return text.join('');
}

/** Posts lines, and returns when the adapter was started; null if it does not take them. */
function post(to, body) {
  return fetch(to, { method: 'POST', body }).then((r) => (r.ok ? r.headers.get('pnagent-started') : null), () => null);
}

/** Posts all lines of events that a condition selects, and returns what post does. */
async function postLines(which) {
  for (;;) {
    const some = lines.filter(which).slice(0, 1000);
    const adapter = await post(url, some.map((l) => l.text).join(''));
    if (adapter === null) return null;
    lines = lines.filter((l) => !some.includes(l));
    if (!lines.some(which)) return adapter;
  }
}

/** Sends all lines that wait, and the state before if the adapter does not have it; again after a second if it does not take them. */
async function send() {
  if (sending) return;
  sending = true;
  for (let done = false; !done;) {
    const adapter = await postLines(() => true);
    done = adapter !== null && adapter === started;
    if (adapter !== null && !done) {
      const state = await read().catch((err) => { console.error(err.message); return null; });
      const sent = state !== null && await postLines((l) => !later(l.id, known)) !== null && await post(stateURL, state);
      if (sent) started = adapter;
    }
    if (!done) await new Promise((again) => { setTimeout(again, adapter !== null && started === adapter ? 0 : 1000); });
  }
  sending = false;
}

(async () => {
  await read();
  const events = new QueueEvents(name, { connection, lastEventId: known });
  for (const to of ['waiting', 'delayed', 'active', 'completed', 'failed', 'removed']) {
    events.on(to, ({ jobId, prev }, id) => moves(jobId, to, id, prev));
  }
  events.on('error', (err) => console.error(err.message));
  await events.waitUntilReady();
  await send();
  setInterval(send, 5000); // an adapter that was started again gets the state
  console.error('ready');
})();
