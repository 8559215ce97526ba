// SPDX-License-Identifier: Apache-2.0
// What engines for the tests that are written in JavaScript share.
'use strict';
const { spawn } = require('node:child_process');
const readline = require('node:readline');

// serve reads commands from standard input, each the name of a method of the engine and its
// arguments, and answers each with the lines that the method returns, and "ok". It kills the
// engine's workers and ends with the input, also while a command runs.
exports.serve = async (engine) => {
  process.stdout.write('ok\n');
  const input = readline.createInterface({ input: process.stdin });
  input.once('close', () => exports.kill(engine.workers).then(process.exit));
  for await (const line of input) {
    const [command, ...args] = line.split(' ');
    try {
      const out = (await engine[command](...args)) || [];
      process.stdout.write([...out, 'ok'].join('\n') + '\n');
    } catch (e) {
      process.stdout.write(`error ${e.stack.replaceAll('\n', ' ')}\n`);
    }
  }
};

// work starts a worker in a process of its own, and waits until it prints something.
exports.work = async (workers, file, ...args) => {
  const child = spawn(process.execPath, [file, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  workers.push(child);
  await new Promise((resolve) => child.stdout.once('data', resolve));
};

// kill kills workers.
exports.kill = async (workers) => {
  for (const w of workers.splice(0)) {
    if (w.exitCode !== null || w.signalCode !== null) continue; // it has ended
    const ended = new Promise((resolve) => w.once('exit', resolve));
    w.kill('SIGKILL');
    await ended;
  }
};
