// SPDX-License-Identifier: Apache-2.0

/**
 * Reports what happens to the jobs of a BullMQ queue: one line of JSON for each event, by
 * HTTP to "pnagent attach lines --http ADDR jobs.pnml". It runs in a process of its own and
 * reads the events that BullMQ keeps in Redis, so neither producers nor workers change.
 *
 *   node bullmq.js QUEUE http://127.0.0.1:9799/events [REDIS-HOST REDIS-PORT]
 *
 * What cannot be sent is sent again, so no event is lost while the adapter restarts. Where
 * a job was when this program starts is unknown until its next event.
 */
const { QueueEvents } = require('bullmq');

const [queue, url, host = '127.0.0.1', port = '6379'] = process.argv.slice(2);
const events = new QueueEvents(queue, { connection: { host, port: Number(port) } });

/** Where each open job is. */
const states = new Map();
const lines = [];
let sending = false;

/** A job moves to a state. The time is in the id of the event. */
function moves(job, to, id, before) {
  const from = states.get(job) ?? before ?? 'new';
  if (to === 'completed' || to === 'removed') states.delete(job);
  else states.set(job, to);
  const line = { net: 'jobs', instance: `${queue} ${job}`, time: Number(id.split('-')[0]) };
  if (to === 'completed' || to === 'removed') line.end = true;
  if (to !== 'removed') line.transition = `${from}-${to}`;
  lines.push(`${JSON.stringify(line)}\n`);
  send();
}

/** Sends all lines that wait, again after a second if the adapter does not take them. */
async function send() {
  if (sending) return;
  sending = true;
  while (lines.length > 0) {
    const some = lines.slice(0, 1000);
    const ok = await fetch(url, { method: 'POST', body: some.join('') }).then((r) => r.ok, () => false);
    if (ok) lines.splice(0, some.length);
    else await new Promise((again) => { setTimeout(again, 1000); });
  }
  sending = false;
}

for (const to of ['waiting', 'delayed', 'active', 'completed', 'failed', 'removed']) {
  events.on(to, ({ jobId, prev }, id) => moves(jobId, to, id, prev));
}
events.on('error', (err) => console.error(err.message));
events.waitUntilReady().then(() => console.error('ready'));
