// SPDX-License-Identifier: Apache-2.0
// BullMQ 6 and 5, Bull, and node-resque, which keeps its jobs as Resque does, for the tests:
// node engine.js LIBRARY PORT.
//
// It reads commands from standard input, and answers each with lines and "ok":
//
//     add QUEUE NAME [SPEC]   adds a job; {"delay": milliseconds, "attempts": number, "backoff": milliseconds}
//     work QUEUE...           starts a process with a worker of each queue
//     kill                    kills the workers
//     pause QUEUE             pauses a queue
//     repeat QUEUE NAME       adds a job every hour
//     family QUEUE NAME       adds a job that waits for a child
//     fill QUEUE NAME COUNT   adds many jobs
//     report                  at QUEUE PLACE ID SINCE of each job, by the library's API
//
// A job whose name begins with "hold" never ends, one with "fail" throws an error, others end.
'use strict';
const { spawn } = require('node:child_process');
const crypto = require('node:crypto');
const readline = require('node:readline');

const [, , library, port, ...works] = process.argv;
const connection = { host: '127.0.0.1', port: Number(port) };

async function act(name) {
  if (name.startsWith('hold')) await new Promise(() => {});
  if (name.startsWith('fail')) throw new Error('out of paper');
}

const bullmq = (version) => ({
  open: (name) => new (require(version).Queue)(name, { connection }),
  add: (queue, name, spec) => queue.add(name, {}, spec),
  async work(name) {
    const options = { connection, concurrency: 5, lockDuration: 5000, stalledInterval: 5000, metrics: { maxDataPoints: 60 } };
    await new (require(version).Worker)(name, (job) => act(job.name), options).waitUntilReady();
  },
  repeat: (queue, name) => queue.upsertJobScheduler('hourly', { every: 3600000 }, { name }),
  async family(queue, name) {
    const flow = new (require(version).FlowProducer)({ connection });
    await flow.add({ name, queueName: queue.name, children: [{ name: 'child', queueName: 'children' }] });
    await flow.close();
  },
  states: { waiting: 'waiting', prioritized: 'waiting', paused: 'waiting', active: 'running', delayed: 'delayed', failed: 'failed', 'waiting-children': 'waiting-children' },
});

const bull = {
  open: (name) => new (require('bull'))(name, { redis: connection, settings: { lockDuration: 5000, stalledInterval: 5000 } }),
  add: (queue, name, spec) => queue.add(name, {}, spec),
  repeat: (queue, name) => queue.add(name, {}, { repeat: { every: 3600000 } }),
  async work(name) {
    const queue = bull.open(name);
    queue.process('*', 5, (job) => act(job.name));
    await queue.isReady();
  },
  states: { waiting: 'waiting', paused: 'waiting', active: 'running', delayed: 'delayed', failed: 'failed' },
};

/** digest is the id of a job of Resque, which has none. */
const digest = (job) => crypto.createHash('sha256').update(JSON.stringify(job)).digest('hex').slice(0, 12);
const jobs = Object.fromEntries(['hold', 'fail', 'send'].map((name) => [name, { perform: () => act(name) }]));

const resque = {
  open(name) {
    const queue = new (require('node-resque').Queue)({ connection }, jobs);
    const ready = queue.connect();
    return { name, queue, ready, close: () => queue.end() };
  },
  async add({ name, queue, ready }, job, spec) {
    await ready;
    if (spec.delay) await queue.enqueueIn(spec.delay, name, job);
    else await queue.enqueue(name, job);
  },
  async work(name) {
    const worker = new (require('node-resque').Worker)({ connection, queues: [name], timeout: 100 }, jobs);
    worker.on('error', () => {});
    await worker.connect();
    worker.start();
  },
  async report(queues) {
    const out = [];
    const { queue, ready } = queues[0];
    await ready;
    for (const name of await queue.queues()) {
      for (const job of await queue.queued(name, 0, -1)) out.push(`at ${name} waiting ${digest(job)} 0`);
    }
    for (const work of Object.values(await queue.allWorkingOn())) {
      if (work.payload) out.push(`at ${work.queue} running ${digest(work.payload)} ${Date.parse(work.run_at)}`);
    }
    for (const job of await queue.failed(0, -1)) out.push(`at all-queues failed ${digest(job.payload)} ${Date.parse(job.failed_at)}`);
    for (const job of Object.values(await queue.allDelayed()).flat()) out.push(`at all-queues delayed ${digest(job)} 0`);
    return out.join('\n');
  },
};

const lib = { bullmq: () => bullmq('bullmq'), bullmq5: () => bullmq('bullmq5'), bull: () => bull, resque: () => resque }[library]();

/** since returns when a job came to where it is, in milliseconds. */
function since(job, state) {
  if (state === 'failed') return job.finishedOn;
  if (job.processedOn) return job.processedOn;
  return job.timestamp + (state === 'delayed' ? 0 : job.opts.delay ?? 0);
}

class Engine {
  queues = {};
  workers = [];

  queue(name) {
    this.queues[name] ??= lib.open(name);
    return this.queues[name];
  }

  async add(queue, name, spec = '{}') {
    await lib.add(this.queue(queue), name, JSON.parse(spec));
  }

  async fill(queue, name, count) {
    const jobs = Array.from({ length: 1000 }, () => ({ name, data: {} }));
    for (let n = 0; n < Number(count); n += jobs.length) await this.queue(queue).addBulk(jobs);
  }

  async work(...names) {
    const child = spawn(process.execPath, [__filename, library, port, ...names], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.workers.push(child);
    await new Promise((resolve) => child.stdout.once('data', resolve));
  }

  async kill() {
    for (const w of this.workers.splice(0)) {
      const ended = new Promise((resolve) => w.once('exit', resolve));
      w.kill('SIGKILL');
      await ended;
    }
  }

  async pause(queue) {
    await this.queue(queue).pause();
  }

  async repeat(queue, name) {
    await lib.repeat(this.queue(queue), name);
  }

  async family(queue, name) {
    this.queue('children');
    await lib.family(this.queue(queue), name);
  }

  async report() {
    if (lib.report) return lib.report(Object.values(this.queues));
    const out = [];
    for (const [name, queue] of Object.entries(this.queues)) {
      for (const [state, place] of Object.entries(lib.states)) {
        for (const job of await queue.getJobs([state])) out.push(`at ${name} ${place} ${job.id} ${since(job, state)}`);
      }
    }
    return [...new Set(out)].join('\n');
  }

  async end() {
    await this.kill();
    for (const q of Object.values(this.queues)) await q.close();
  }
}

async function main() {
  if (works.length > 0) {
    for (const name of works) await lib.work(name);
    process.stdout.write('ready\n');
    process.stdin.resume().on('end', () => process.exit()); // the engine has ended
    return;
  }
  const engine = new Engine();
  process.stdout.write('ok\n');
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const [command, ...args] = line.split(' ');
    try {
      const answer = await engine[command](...args);
      process.stdout.write(`${answer ? `${answer}\n` : ''}ok\n`);
    } catch (e) {
      process.stdout.write(`error ${String(e.stack).replaceAll('\n', ' ')}\n`);
    }
  }
  await engine.end();
}

main();
