// SPDX-License-Identifier: Apache-2.0

import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { connect, headers } from '@nats-io/transport-node'
import { LimitError, Recorder } from './recorder.js'
import { token } from './wire.js'

const longest = 30_000 // milliseconds: of an interval that a collector wishes
const kept = 180_000 // milliseconds for which a wish counts
const mostWishes = 100 // collectors

/** The interval of snapshots in milliseconds: that of the process, or the longest that a collector wishes. */
export class Pace {
  #own
  #clock
  #wishes = new Map()

  constructor (own, clock = () => performance.now()) {
    this.#own = own
    this.#clock = clock
  }

  /** Takes the payload of a hello that has one. Others than wishes are ignored. */
  wish (text) {
    let collector, interval
    try {
      ({ collector, interval } = JSON.parse(text))
    } catch {
      return
    }
    if (typeof collector !== 'string' || !(interval >= 0 && interval <= longest * 1000)) return
    if (this.#wishes.has(collector) || this.#wishes.size < mostWishes) this.#wishes.set(collector, { interval: interval / 1000, at: this.#clock() })
  }

  /** Returns the interval from now on. */
  interval () {
    const since = this.#clock() - kept
    for (const [collector, { at }] of this.#wishes) if (at <= since) this.#wishes.delete(collector)
    return Math.max(this.#own, ...[...this.#wishes.values()].map(w => w.interval))
  }
}

/**
 * A process that runs nets, under a name that is unique and stays the same over restarts. It connects in
 * the background, and again if the connection breaks. Nothing waits in memory meanwhile: each snapshot
 * holds everything.
 */
export class Source {
  #options
  #prefix
  #pace
  #interval
  #log
  #recorders = []
  #connection
  #connected = false
  #timer
  #started = false
  #closed = false
  #stop
  #end = new Promise(resolve => { this.#stop = resolve })

  /** options are interval in milliseconds, prefix, log(text), and those of connect of @nats-io/transport-node. */
  constructor (name, servers = 'nats://127.0.0.1:4222', { interval = 1000, prefix = 'petrinet.v1', log = console.warn, ...options } = {}) {
    const size = Buffer.byteLength(name)
    if (size < 1 || size > 255 || /[\x00-\x1f\x7f]/.test(name)) throw new Error('the name of a source has 1 to 255 bytes, and no control characters')
    this.name = name
    this.epoch = Date.now() * 1000
    this.#options = { servers, name, maxReconnectAttempts: -1, reconnectTimeWait: 1000, ...options }
    this.#prefix = prefix
    this.#pace = new Pace(interval)
    this.#interval = interval
    this.#log = log
  }

  /** Adds a net before start, and returns what records it. */
  add (net, options) {
    if (this.#started) throw new Error('the source runs already')
    const recorder = new Recorder(net, options)
    this.#recorders.push(recorder)
    return recorder
  }

  /** Begins to publish. The promise is fulfilled once it is connected; do not wait for it if the server may be away. */
  async start () {
    this.#started = true
    let connection
    while (!connection && !this.#closed) {
      try {
        connection = await connect(this.#options)
      } catch (err) {
        this.#log(`pnagent: NATS: ${err.message}; trying again`)
        await Promise.race([sleep(1000), this.#end])
      }
    }
    if (this.#closed) return connection?.close()
    this.#connection = connection
    this.#connected = true
    this.#watch(connection)
    this.#subscribe(connection)
    this.#publishNow(connection)
  }

  /** Publishes a last snapshot, so that the tokens of this process leave the sums now, and ends. */
  async close () {
    this.#closed = true
    this.#stop()
    clearTimeout(this.#timer)
    const connection = this.#connection
    if (!connection) return
    if (this.#connected) {
      this.#send(connection, 'bye')
      await connection.flush()
    }
    await connection.close()
  }

  async #watch (connection) {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect') this.#connected = false
      if (type === 'reconnect') this.#connected = true
      if (type === 'disconnect' || type === 'reconnect') this.#log(`pnagent: NATS: ${type}`)
    }
  }

  #publishNow (connection) {
    if (this.#closed) return
    clearTimeout(this.#timer)
    const before = this.#interval
    this.#interval = this.#pace.interval()
    try {
      if (this.#connected) this.#send(connection, 'snapshot')
    } catch (err) { // the next snapshot has everything
      this.#log(`pnagent: cannot publish as ${this.name}: ${err.message}`)
    }
    // A fleet that was asked for rarer messages does not publish all at once.
    const delay = before === this.#interval ? this.#interval : this.#interval * Math.random()
    this.#timer = setTimeout(() => this.#publishNow(connection), delay)
  }

  #send (connection, kind) {
    for (const recorder of this.#recorders) {
      try {
        const messages = recorder.snapshots(this.name, this.epoch, Math.floor(this.#interval * 1000), connection.info.max_payload, kind === 'bye')
        for (const message of messages) connection.publish(this.#subject(kind, recorder.net.id, this.name), message)
      } catch (err) {
        if (!(err instanceof LimitError)) throw err
        this.#log(`pnagent: net ${recorder.net.id} is not published: ${err.message}`)
      }
    }
  }

  #subscribe (connection) {
    const on = (subject, take) => connection.subscribe(subject, { callback: (err, message) => err ? this.#log(`pnagent: ${subject}: ${err.message}`) : take(message) })
    on(`${this.#prefix}.hello`, message => message.data.length ? this.#pace.wish(message.string()) : this.#publishNow(connection))
    for (const { net } of this.#recorders) {
      on(this.#subject('full', net.id, this.name), () => this.#publishNow(connection))
      on(this.#subject('notice', net.id, this.name), message => this.#log(`pnagent: a collector refuses messages of this source: ${message.string().slice(0, 1000)}`))
      on(this.#subject('net', net.id, net.digest), message => this.#answer(connection, message, net.pnml))
    }
  }

  #answer (connection, message, pnml) {
    if (pnml.length <= connection.info.max_payload) {
      message.respond(pnml)
      return
    }
    const packed = headers()
    packed.set('Content-Encoding', 'gzip')
    message.respond(gzipSync(pnml), { headers: packed })
  }

  #subject (kind, ...names) { return [this.#prefix, kind, ...names.map(token)].join('.') }
}
