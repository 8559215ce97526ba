// SPDX-License-Identifier: Apache-2.0

import { Place } from './tokens.js'
import { Message, differences } from './wire.js'

/** There would be more tokens than the recorder keeps, or a snapshot does not fit into a message. */
export class LimitError extends Error {}

/** Why a token does not move, as on the wire. */
export const Reason = Object.freeze({
  ENABLED: 1, RUNNING: 2, DELAYED: 3, GUARDED: 4, MISSING: 5, INHIBITED: 6, MANUAL: 7, DEAD: 8, INCIDENT: 9, NOWORKER: 10
})

/** The tokens and counters of one net. Times are milliseconds since the Unix epoch, as of Date.now(). */
export class Recorder {
  #max
  #clock
  #last = 0
  #seq = 0
  #held = 0
  #places
  #transitions

  constructor (net, { maxTokens = 1_000_000, clock = Date.now } = {}) {
    this.net = net
    this.#max = maxTokens
    this.#clock = clock
    this.#places = Array.from(net.places, () => new Place())
    this.#transitions = Array.from(net.transitions, () => ({ firings: 0, failures: 0, retries: 0, cancels: 0, lastFiring: 0 }))
    net.pnml // eslint-disable-line no-unused-expressions -- from here on it stays as it is
  }

  /** Puts tokens into a place, now or at an earlier time. */
  inject (place, instance = '', { tokens = 1, at } = {}) {
    const row = this.#place(place)
    const now = this.#now()
    this.#room(tokens)
    this.#put(row, instance, tokens, at === undefined ? now : Math.min(now, Math.floor(at * 1000)), now)
  }

  /** Takes the oldest tokens of an instance from a place. */
  eject (place, instance = '', { tokens = 1 } = {}) {
    this.#has(place, instance, tokens)
    this.#take(place, instance, tokens, this.#now())
  }

  /** Fires a transition: takes and puts the tokens of its arcs. */
  fire (transition, instance = '') {
    const row = this.#transition(transition)
    const [inputs, outputs, now] = [this.net.inputs.get(transition), this.net.outputs.get(transition), this.#now()]
    for (const [place, n] of inputs) this.#has(place, instance, n)
    this.#room(total(outputs) - total(inputs))
    for (const [place, n] of inputs) this.#take(place, instance, n, now)
    for (const [place, n] of outputs) this.#put(this.#place(place), instance, n, now, now)
    row.firings++
    row.lastFiring = now
  }

  /** Counts a run of a transition that failed. */
  fail (transition) { this.#transition(transition).failures++ }

  /** Counts a run that is tried again. */
  retry (transition) { this.#transition(transition).retries++ }

  /** Counts a run that was given up. */
  cancel (transition) { this.#transition(transition).cancels++ }

  /** Says why the tokens of an instance wait in a place, until they leave it or this is called again. */
  wait (place, instance, transition, reason, { what = '', until = 0 } = {}) {
    if (Buffer.byteLength(what) > 200) throw new RangeError('what has more than 200 bytes')
    this.#transition(transition)
    this.#has(place, instance, 1)
    const why = { transition: this.net.transitions.get(transition), reason, until: Math.floor(until * 1000), what }
    for (const token of this.#place(place).of.get(instance)) token.wait = why
  }

  /** Returns how many tokens a place has. */
  tokens (place) { return this.#place(place).tokens }

  /** Returns the messages of a snapshot, of at most limit bytes each. Source calls this. */
  snapshots (source, epoch, interval, limit, bye = false) {
    const now = this.#now()
    const out = []
    const write = (places, transitions) => {
      const full = places.length === this.#places.length && transitions.length === this.#transitions.length
      const head = new Message().text(1, source).number(2, epoch).number(3, this.#seq + 1).number(4, now).number(5, interval)
      head.text(6, this.net.id).text(7, this.net.digest).number(10, full)
      if (places.length) head.message(11, this.#writePlaces(places, full, now))
      if (transitions.length) head.message(12, this.#writeTransitions(transitions, full))
      const text = head.number(15, bye).finish()
      if (text.length <= limit) {
        this.#seq++
        out.push(text)
      } else if (places.length + transitions.length < 2) {
        throw new LimitError(`one row of net "${this.net.id}" does not fit into a message of ${limit} bytes`)
      } else {
        const [p, t] = [Math.ceil(places.length / 2), Math.floor(transitions.length / 2)]
        write(places.slice(0, p), transitions.slice(0, t))
        write(places.slice(p), transitions.slice(t))
      }
    }
    write([...this.#places.keys()], [...this.#transitions.keys()])
    return out
  }

  #writePlaces (rows, full, now) {
    const places = rows.map(i => this.#places[i])
    const column = of => places.map(of)
    const oldest = column(p => p.oldest())
    const slots = column(p => p.ages.cut(now))
    const buckets = column(p => [...p.dwell].sort((a, b) => a[0] - b[0]))
    const first = pairs => pairs.flatMap(row => differences(row.map(([key]) => key)))
    const counts = pairs => pairs.flatMap(row => row.map(([, n]) => n))
    const m = new Message().numbers(1, full ? [] : rows)
    m.numbers(2, column(p => p.tokens)).numbers(3, column(p => p.arrivals)).numbers(4, column(p => p.departures))
    m.numbers(5, column(p => p.of.size)).numbers(6, oldest.map(o => o[0]?.injected ?? 0)).numbers(7, column(p => p.lastInjection))
    m.numbers(8, column(p => p.seconds + Math.floor(p.micros / 1e6))).numbers(9, column(p => p.micros % 1e6))
    m.message(10, new Message().numbers(1, slots.map(s => s.length)).signed(2, first(slots)).numbers(3, counts(slots)))
    const dwell = new Message().signed(1, column(() => 1)).numbers(2, column(p => p.dwellZero)).numbers(3, column(p => BigInt.asUintN(64, p.dwellSum)))
    m.message(11, dwell.numbers(4, buckets.map(b => b.length)).signed(5, first(buckets)).numbers(6, counts(buckets)))
    rows.forEach((row, i) => {
      if (!oldest[i].length) return
      const tokens = new Message().number(1, row)
      for (const token of oldest[i]) tokens.message(2, written(token))
      m.message(12, tokens)
    })
    return m
  }

  #writeTransitions (rows, full) {
    const column = name => rows.map(i => this.#transitions[i][name])
    return new Message().numbers(1, full ? [] : rows).numbers(2, column('firings')).numbers(3, column('failures')).numbers(4, column('retries'))
      .numbers(5, column('cancels')).numbers(10, column('lastFiring'))
  }

  #now () {
    this.#last = Math.max(this.#last, Math.floor(this.#clock() * 1000)) // a clock that is set back does not change it
    return this.#last
  }

  #place (id) { return this.#row(this.#places, this.net.places, 'place', id) }

  #transition (id) { return this.#row(this.#transitions, this.net.transitions, 'transition', id) }

  #row (rows, numbers, kind, id) {
    if (!numbers.has(id)) throw new Error(`net "${this.net.id}" has no ${kind} "${id}"`)
    return rows[numbers.get(id)]
  }

  #room (tokens) {
    if (this.#held + tokens > this.#max) throw new LimitError(`more than ${this.#max} tokens in net "${this.net.id}"`)
  }

  #has (place, instance, tokens) {
    const has = this.#place(place).of.get(instance)?.length ?? 0
    if (has < tokens) throw new Error(`instance "${instance}" has ${has} tokens in place "${place}"; expected ${tokens}`)
  }

  #put (place, instance, tokens, injected, now) {
    if (Buffer.byteLength(instance) > 255) throw new RangeError('the name of an instance has more than 255 bytes')
    this.#held += tokens
    for (let i = 0; i < tokens; i++) place.put({ instance, injected, wait: null, gone: false }, now)
  }

  #take (place, instance, tokens, now) {
    this.#held -= tokens
    for (let i = 0; i < tokens; i++) this.#place(place).take(instance, now)
  }
}

const total = arcs => [...arcs.values()].reduce((sum, n) => sum + n, 0)

function written (token) {
  const m = new Message().text(1, token.instance).number(2, token.injected)
  if (token.wait) {
    const { transition, reason, until, what } = token.wait
    m.message(3, new Message().number(1, transition).number(2, reason).number(5, until).text(6, what))
  }
  return m
}
