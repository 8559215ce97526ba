// SPDX-License-Identifier: Apache-2.0
// node check.cjs DIRECTORY DASHBOARD...: what Grafana would not take, or draw
// otherwise than it is meant, one finding a line. The packages are installed in
// the directory.

'use strict';

const fs = require('fs');
const Module = require('module');
const path = require('path');

const [root, ...files] = process.argv.slice(2);
const need = Module.createRequire(path.join(root, 'package.json'));

// The packages are for browsers. What they want of one is not used here.
globalThis.window = globalThis;
globalThis.addEventListener = () => {};
globalThis.navigator ??= { language: 'en', languages: ['en'] };
console.log = console.info = () => {}; // a package advertises itself
const load = Module._load;
Module._load = (name, ...rest) => (/^react-use(\/|$)/.test(name) ? {} : load(name, ...rest));

async function main() {
  const dashboards = Object.fromEntries(files.map((f) => [path.basename(f), JSON.parse(fs.readFileSync(f, 'utf8'))]));
  for (const version of ['10', '12']) {
    const wrong = [...await require('./frames.cjs').check(need('data' + version), dashboards), ...require('./types.cjs').check(need, root, version, dashboards)];
    for (const w of wrong) process.stdout.write(`Grafana ${version}: ${w}\n`);
  }
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
