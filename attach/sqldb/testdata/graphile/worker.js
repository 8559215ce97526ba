// SPDX-License-Identifier: Apache-2.0
// Makes the tables of Graphile Worker, and adds jobs that no worker takes.
const { makeWorkerUtils } = require('graphile-worker');

(async () => {
  const utils = await makeWorkerUtils({ connectionString: process.argv[2] });
  await utils.migrate();
  await utils.addJob('mail', { to: 'a' });
  await utils.addJob('mail', { to: 'b' });
  await utils.addJob('bill', {}, { runAt: new Date(Date.now() + 3600000) });
  await utils.release();
})();
