// SPDX-License-Identifier: Apache-2.0
// The tables of n8n and what writes them in n8n, for the tests: node engine.js ADDRESS.
//
// It reads commands from standard input, and answers each with lines and "ok":
//
//     new WORKFLOW [RETRIED]   adds an execution of a workflow, also as the retry of the one of another workflow
//     run WORKFLOW             a worker begins it
//     wait WORKFLOW SECONDS    it waits for a time; without SECONDS, for a call
//     end WORKFLOW STATUS
//     crash                    what n8n finds running when it starts has crashed
//     cancel WORKFLOW          an operator stops it
//     report                   the executions by n8n's repository, as other engines report their instances
//
// The migrations and the repositories are n8n's. What differs is that no node of a workflow runs.
'use strict';
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const commands = require('../commands.js');

const library = (name) => require(path.join(process.env.NODE_PATH, name));
const never = new Date('3000-01-01T00:00:00.000Z'); // WAIT_INDEFINITELY of n8n-workflow

class Engine {
  executions = {}; // by workflow
  workers = [];

  async start(address) {
    process.env.N8N_USER_FOLDER = fs.mkdtempSync(path.join(os.tmpdir(), 'n8n-')); // for a key that n8n makes
    process.once('exit', () => fs.rmSync(process.env.N8N_USER_FOLDER, { recursive: true }));
    library('reflect-metadata');
    const { Container } = library('@n8n/di');
    const url = new URL(address);
    const { database } = Container.get(library('@n8n/config').GlobalConfig);
    database.type = 'postgresdb';
    Object.assign(database.postgresdb, { host: url.hostname, port: Number(url.port), user: url.username, password: '', database: url.pathname.slice(1) });
    const db = library('@n8n/db');
    const connection = Container.get(db.DbConnection);
    await connection.init();
    await connection.migrate();
    this.stored = Container.get(db.ExecutionRepository);
    this.workflows = Container.get(db.WorkflowRepository);
  }

  async new(workflow, retried) {
    const nodes = { nodes: [], connections: {} };
    const row = { id: workflow, name: `name of ${workflow}`, active: true, versionId: '00000000-0000-4000-8000-000000000000', ...nodes };
    if (!(await this.workflows.existsBy({ id: workflow }))) await this.workflows.insert(row);
    this.executions[workflow] = await this.stored.createNewExecution({
      data: { resultData: { runData: {} } }, workflowData: { id: workflow, name: row.name, ...nodes }, workflowId: workflow,
      finished: false, mode: retried ? 'retry' : 'trigger', status: 'new', retryOf: retried && this.executions[retried],
    });
  }

  async run(workflow) {
    await this.stored.setRunning(this.executions[workflow]);
  }

  async wait(workflow, seconds) {
    const waitTill = seconds ? new Date(Date.now() + 1000 * seconds) : never;
    await this.stored.updateExistingExecution(this.executions[workflow], { status: 'waiting', waitTill, stoppedAt: new Date() });
  }

  async end(workflow, status) {
    await this.stored.updateExistingExecution(this.executions[workflow], { status, finished: status === 'success', waitTill: null, stoppedAt: new Date() });
  }

  async crash() {
    await this.stored.markAsCrashed(await this.stored.getInProgressExecutionIds(100));
  }

  async cancel(workflow) {
    const id = this.executions[workflow];
    await this.stored.stopDuringRun(await this.stored.findSingleExecution(id, { includeData: true, unflattenData: true }));
  }

  async report() {
    const out = [];
    const counts = {};
    for (const e of await this.stored.findMultipleExecutions({ withDeleted: true })) {
      const open = ['new', 'running', 'waiting'].includes(e.status);
      const count = (counts[e.workflowId] ??= [0, 0, 0]);
      if (e.workflowId !== 'idle') count[0]++; // it was there before the adapter
      if (!open) count[1]++;
      if (e.status === 'success') count[2]++;
      if (open) out.push(`at ${e.workflowId} ${e.id} execution ${+new Date(e.createdAt)}`);
      if (e.status === 'waiting') out.push(`job ${e.workflowId} ${e.id} ${e.workflowId} wait ${+new Date(e.waitTill)}`);
      out.push(`state ${e.workflowId} ${e.id} ${e.status}`);
    }
    for (const [workflow, [created, ended, succeeded]] of Object.entries(counts)) {
      out.push(`count ${workflow} execution ${created} ${ended} ${succeeded}`, `count ${workflow} instances ${created} ${succeeded} ${ended - succeeded}`);
    }
    return out;
  }
}

async function main() {
  const engine = new Engine();
  for (const level of ['log', 'info', 'warn']) console[level] = () => {}; // migrations are logged
  await engine.start(process.argv[2]);
  await commands.serve(engine);
}

main();
