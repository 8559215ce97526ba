// SPDX-License-Identifier: Apache-2.0

// What the package writes, without a server. The Go test e2e/clients runs it with a sidecar.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { LimitError, Net, Reason, Recorder } from '../src/index.js'
import { Pace } from '../src/source.js'
import { Ladder, Place } from '../src/tokens.js'
import { differences, token, varint } from '../src/wire.js'

const testdata = new URL('../../testdata/', import.meta.url)

const orders = () => new Net('orders', 'Orders').place('inbox', 'In <box>').transition('ship').place('shipped')
  .arc('inbox', 'ship').arc('ship', 'shipped', 2)

// The same in all languages: testdata/orders.hex is what it writes.
function scenario () {
  let at = 1_800_000_000_000
  const recorder = new Recorder(orders(), { clock: () => at })
  for (let i = 0; i < 7; i++) recorder.inject('inbox', `order-${i}`, { at: 1_799_999_000_000 + 100_000 * i })
  recorder.inject('inbox', 'größe 7', { tokens: 2 })
  at += 30_000
  recorder.fire('ship', 'order-0')
  recorder.fire('ship', 'order-1')
  recorder.eject('shipped', 'order-0')
  recorder.fail('ship')
  recorder.retry('ship')
  recorder.cancel('ship')
  recorder.wait('inbox', 'order-2', 'ship', Reason.INCIDENT, { what: 'printer is out of paper', until: 1_800_000_060_000 })
  at += 1000
  return recorder
}

test('the messages are those of testdata', () => {
  const recorder = scenario()
  const all = [...recorder.snapshots('shop 1', 1_799_999_999_000_000, 1_000_000, 1 << 20), ...recorder.snapshots('shop 1', 1_799_999_999_000_000, 1_000_000, 400, true)]
  assert.equal(all.map(m => m.toString('hex') + '\n').join(''), readFileSync(new URL('orders.hex', testdata), 'utf8'))
  assert.equal(recorder.net.pnml.toString(), readFileSync(new URL('orders.pnml', testdata), 'utf8'))
})

test('a net that is read is the net that was written', () => {
  const net = Net.read(new URL('orders.pnml', testdata))
  assert.deepEqual([[...net.places.keys()], [...net.transitions.keys()]], [['inbox', 'shipped'], ['ship']])
  assert.deepEqual([net.inputs.get('ship').get('inbox'), net.outputs.get('ship').get('shipped')], [1, 2])
  assert.equal(net.digest, orders().digest)
  const other = Net.parse("<p:pnml xmlns:p='x'><p:net id='n'><!-- <place id='no'/> --><p:place id=\"a&gt;/b\"/><p:transition id='t'></p:transition>" +
    "<p:arc source='a&#62;/b' target='t'/></p:net></p:pnml>")
  assert.deepEqual([[...other.places.keys()], other.inputs.get('t').get('a>/b')], [['a>/b'], 1])
})

test('a net is checked', () => {
  for (const wrong of [n => n.place('inbox'), n => n.place(''), n => n.arc('inbox', 'shipped'), n => [n.pnml, n.place('x')]]) assert.throws(() => wrong(orders()))
})

test('nothing changes where tokens are missing', () => {
  const recorder = new Recorder(orders())
  recorder.inject('inbox', 'a')
  for (const wrong of [() => recorder.fire('ship', 'b'), () => recorder.eject('inbox', 'a', { tokens: 2 }), () => recorder.wait('shipped', 'a', 'ship', Reason.DEAD)]) assert.throws(wrong, /expected/)
  assert.deepEqual([recorder.tokens('inbox'), recorder.tokens('shipped')], [1, 0])
})

test('tokens are bounded', () => {
  const recorder = new Recorder(orders(), { maxTokens: 2 })
  recorder.inject('inbox', 'a', { tokens: 2 })
  for (const more of [() => recorder.inject('inbox', 'b'), () => recorder.fire('ship', 'a')]) assert.throws(more, LimitError)
  recorder.eject('inbox', 'a')
  recorder.fire('ship', 'a')
  assert.equal(recorder.tokens('shipped'), 2)
})

test('what left is forgotten', () => {
  const place = new Place()
  place.put({ instance: 'stays', injected: 1 }, 1)
  for (let i = 0; i < 10_000; i++) {
    place.put({ instance: String(i), injected: 2 }, 2)
    place.take(String(i), 3)
  }
  assert.ok(place.queued < 100 && place.of.size === 1)
})

test('a ladder counts every token while its slots widen', () => {
  const ladder = new Ladder()
  const times = Array.from({ length: 2000 }, (_, i) => 1_800_000_000_000_000 + 7_000_003 * i)
  times.forEach((t, i) => {
    ladder.cut(t)
    ladder.add(t, 1)
    if (i >= 50) ladder.add(times[i - 50], -1)
  })
  assert.equal(ladder.cut(times.at(-1)).reduce((sum, [, n]) => sum + n, 0), 50)
})

test('the longest wish of a collector is followed for three minutes', () => {
  let now = 0
  const pace = new Pace(1000, () => now)
  for (const text of ['', '{', '[]', '{"collector":"a"}', '{"collector":"a","interval":31000000}']) pace.wish(text)
  assert.equal(pace.interval(), 1000)
  pace.wish('{"collector":"a","interval":5000000}')
  pace.wish('{"collector":"b","interval":9000000}')
  assert.equal(pace.interval(), 9000)
  pace.wish('{"collector":"b","interval":0}')
  assert.equal(pace.interval(), 5000)
  now = 181_000
  assert.equal(pace.interval(), 1000)
})

test('subject tokens and numbers', () => {
  assert.deepEqual(['größe 7', '', 'a-_Z9.'].map(token), ['gr=C3=B6=C3=9Fe=207', '=', 'a-_Z9=2E'])
  const bytes = []
  varint(bytes, 300)
  varint(bytes, 2n ** 64n - 1n)
  assert.deepEqual(bytes, [0xac, 2, ...Array(9).fill(0xff), 1])
  assert.deepEqual(differences([5, 3, 9]), [5, -2, 6])
})
