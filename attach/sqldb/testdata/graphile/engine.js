// SPDX-License-Identifier: Apache-2.0
// Graphile Worker, for the tests: node engine.js ADDRESS.
//
// It reads commands from standard input, and answers each with lines and "ok":
//
//     add TASK [SPEC]        adds the job of a task, with the JSON of addJob's options
//     reschedule TASK SPEC   sets what rescheduleJobs sets
//     fail TASK              fails the job permanently
//     work TASK...           starts a worker of tasks in a process of its own, and waits until it has no more to do
//     kill                   kills the workers
//     report                 the jobs by the view graphile_worker.jobs, as other engines report their instances
//
// A task that begins with "hold" never ends, one that begins with "fail" throws an error, others end.
'use strict';
const { EventEmitter } = require('node:events');
const path = require('node:path');
const commands = require('../commands.js');

const library = (name, file) => import(path.join(process.env.NODE_PATH, name, file));
const [, , address, ...worker] = process.argv;

async function work(tasks) {
  const { run, Logger } = await library('graphile-worker', 'dist/index.js');
  const list = {};
  for (const task of tasks) {
    list[task] = async () => {
      if (task.startsWith('hold')) await new Promise(() => {});
      if (task.startsWith('fail')) throw new Error('out of\npaper');
    };
  }
  const events = new EventEmitter().on('resetLocked:success', () => process.stdout.write('unlocked\n'));
  const quick = { pollInterval: 100, minResetLockedInterval: 50, maxResetLockedInterval: 100 }; // milliseconds
  const logger = new Logger(() => () => {});
  await run({ ...quick, events, connectionString: address, taskList: list, concurrency: 4, noHandleSignals: true, logger });
}

class Engine {
  jobs = {};
  workers = [];

  async start() {
    const { makeWorkerUtils } = await library('graphile-worker', 'dist/index.js');
    this.utils = await makeWorkerUtils({ connectionString: address });
    await this.utils.migrate();
  }

  async add(task, spec = '{}') {
    const options = JSON.parse(spec);
    if (options.in) options.runAt = new Date(Date.now() + options.in);
    delete options.in;
    this.jobs[task] = await this.utils.addJob(task, {}, options);
  }

  async reschedule(task, spec) {
    await this.utils.rescheduleJobs([this.jobs[task].id], JSON.parse(spec));
  }

  async fail(task) {
    await this.utils.permanentlyFailJobs([this.jobs[task].id], 'by hand');
  }

  async work(...tasks) {
    await commands.work(this.workers, __filename, address, ...tasks); // it has unlocked what expired
    for (;;) {
      const jobs = (await this.rows()).filter((j) => tasks.includes(j.task_identifier));
      const waits = (j) => !j.locked_at && j.run_at <= j.now && j.attempts < j.max_attempts;
      const ends = (j) => j.locked_at && !j.task_identifier.startsWith('hold');
      if (!jobs.some((j) => waits(j) || ends(j))) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async kill() {
    await commands.kill(this.workers);
  }

  async rows() {
    return (await this.utils.withPgClient((c) => c.query('SELECT *, now() AS now FROM graphile_worker.jobs'))).rows;
  }

  // A job has its place since it was due; if a try of it has ended, since it was added.
  async report() {
    const out = [];
    for (const j of await this.rows()) {
      const added = this.jobs[j.task_identifier];
      const due = Math.max(added.created_at, added.run_at);
      const tried = j.attempts > 1 || (j.attempts === 1 && !j.locked_at);
      if (tried || due <= j.now) out.push(`at ${j.task_identifier} ${j.id} job ${tried ? +added.created_at : due}`);
      out.push(`job ${j.task_identifier} ${j.id} ${j.task_identifier} run ${+j.run_at}`);
      if (j.locked_at) out.push(`job ${j.task_identifier} ${j.id} ${j.task_identifier}-locked lock ${+j.locked_at}`);
    }
    return out;
  }
}

async function main() {
  const engine = new Engine();
  await engine.start();
  await commands.serve(engine);
}

if (worker.length > 0) {
  process.stdin.on('end', () => process.exit()).resume(); // with the process that started it
  work(worker);
} else {
  main();
}
