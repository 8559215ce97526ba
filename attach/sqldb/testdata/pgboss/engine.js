// SPDX-License-Identifier: Apache-2.0
// pg-boss, for the tests: node engine.js ADDRESS.
//
// It reads commands from standard input, and answers each with lines and "ok":
//
//     queue QUEUE SPEC       makes a queue, with the JSON of createQueue's options
//     send QUEUE [SPEC]      sends a job to a queue, with the JSON of send's options, and prints its id
//     flow FIRST SECOND      sends a job to each of two queues, of which the second depends on the first
//     work QUEUE...          starts a worker of queues in a process of its own
//     kill                   kills the workers
//     schedule QUEUE CRON    has jobs sent to a queue, and prints when the next is due
//     supervise              fails the jobs whose time has run out
//     cancel, retry QUEUE    cancels or retries the last job of a queue
//     report                 the jobs by findJobs, as other engines report their instances
//
// A job of a queue that begins with "hold" never ends, one of a queue that begins with "fail"
// throws an error, others end.
'use strict';
const path = require('node:path');
const commands = require('../commands.js');

const [, , address, ...queues] = process.argv;

async function connect() {
  const { PgBoss } = await import(path.join(process.env.NODE_PATH, 'pg-boss', 'dist/index.js'));
  const boss = new PgBoss({ connectionString: address, supervise: false, schedule: false, instanceHeartbeatSeconds: 1 });
  boss.on('error', (e) => process.stderr.write(`${e}\n`));
  return boss.start();
}

async function work() {
  const boss = await connect();
  for (const queue of queues) {
    await boss.work(queue, { pollingIntervalSeconds: 0.5 }, async () => {
      if (queue.startsWith('hold')) await new Promise(() => {});
      if (queue.startsWith('fail')) throw new Error('no route to Ann');
    });
  }
  process.stdout.write('works\n');
}

class Engine {
  last = {}; // the id of the last job of a queue
  again = {}; // how many jobs of a queue were retried after their end
  workers = [];

  async start() {
    this.boss = await connect();
  }

  async queue(name, spec) {
    await this.boss.createQueue(name, JSON.parse(spec));
  }

  async send(name, spec = '{}') {
    if (!(await this.boss.getQueue(name))) await this.boss.createQueue(name);
    this.last[name] = await this.boss.send(name, {}, JSON.parse(spec));
    return [this.last[name]];
  }

  async flow(first, second) {
    for (const name of [first, second]) await this.boss.createQueue(name, { retryLimit: 0, heartbeatSeconds: 10 });
    Object.assign(this.last, await this.boss.flow([{ ref: first, name: first }, { ref: second, name: second, dependsOn: [first] }]));
  }

  async schedule(name, ...cron) {
    await this.boss.createQueue(name);
    await this.boss.schedule(name, cron.join(' '));
    return [String(+this.boss.previewSchedule(cron.join(' '))[0])];
  }

  async work(...names) {
    await commands.work(this.workers, __filename, address, ...names);
  }

  async kill() {
    await commands.kill(this.workers);
  }

  async supervise() {
    await this.boss.supervise();
  }

  async cancel(name) {
    await this.boss.cancel(name, this.last[name]);
  }

  async retry(name) {
    await this.boss.retry(name, this.last[name]);
    this.again[name] = (this.again[name] || 0) + 1;
  }

  async report() {
    const out = [];
    const now = Date.now();
    for (const { name } of await this.boss.getQueues()) {
      const jobs = await this.boss.findJobs(name);
      for (const j of jobs) {
        const tried = j.state === 'retry' || j.retryCount > 0;
        const came = tried ? j.createdOn : Math.max(j.createdOn, j.startAfter);
        const open = ['created', 'retry', 'active'].includes(j.state);
        out.push(`state ${name} ${j.id} ${j.state}`);
        if (open && (tried || came <= now)) out.push(`at ${name} ${j.id} job ${+came}`);
        if (open) out.push(`job ${name} ${j.id} ${name} due ${+j.startAfter}`);
      }
      if (name === 'idle') continue; // it was sent before
      const fired = jobs.filter((j) => j.state === 'completed').length;
      const failed = jobs.filter((j) => ['cancelled', 'failed'].includes(j.state)).length + (this.again[name] || 0);
      out.push(`count ${name} job ${jobs.length} ${fired + failed} ${fired}`, `count ${name} instances ${jobs.length} ${fired} ${failed}`);
    }
    return out;
  }
}

async function main() {
  const engine = new Engine();
  await engine.start();
  await commands.serve(engine);
}

if (queues.length > 0) {
  process.stdin.on('end', () => process.exit()).resume(); // with the process that started it
  work();
} else {
  main();
}
