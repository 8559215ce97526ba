// SPDX-License-Identifier: Apache-2.0

// Five orders came in SECONDS ago; two were shipped, and three are stuck because the printer has no paper.
//
//     node orders.js nats://127.0.0.1:4222 examples/attach/orders.pnml shop-node [SECONDS]
import { Net, Reason, Source } from 'pnagent'

const [url, file, name, seconds = '0'] = process.argv.slice(2)
const source = new Source(name, url)
const orders = source.add(Net.read(file))
for (let i = 0; i < 5; i++) orders.inject('inbox', `order-${i}`, { at: Date.now() - 1000 * seconds })
for (let i = 0; i < 2; i++) orders.fire('ship', `order-${i}`)
for (let i = 2; i < 5; i++) orders.wait('inbox', `order-${i}`, 'ship', Reason.INCIDENT, { what: 'the printer has no paper' })
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => source.close())
await source.start()
