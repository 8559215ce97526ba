// SPDX-License-Identifier: Apache-2.0

const stuck = 5 // tokens of a place that a snapshot lists
const slotWidth = 125_000 // microseconds
const bounds = Array.from({ length: 100 }, (_, i) => 2 ** ((i - 39) / 2)) // of the buckets of schema 1, in seconds

/** How many tokens were injected when, in slots that widen with age. */
export class Ladder {
  #at = 0
  slots = new Map()

  #slot (unit) {
    let width = 1
    while (unit < Math.max(0, Math.floor((this.#at - 16 * width) / (2 * width)) * 2 * width)) width *= 2
    return Math.floor(unit / width) * width
  }

  /** Adds tokens, or takes them away if n is negative. */
  add (injected, n) {
    const slot = this.#slot(Math.floor(injected / slotWidth))
    const left = (this.slots.get(slot) ?? 0) + n
    if (left > 0) this.slots.set(slot, left)
    else this.slots.delete(slot)
  }

  /** Returns the slots at a time, which is not before the last one. */
  cut (now) {
    const before = this.slots
    this.slots = new Map()
    this.#at = Math.max(this.#at, Math.floor(now / slotWidth))
    for (const [start, n] of before) {
      const slot = this.#slot(start)
      this.slots.set(slot, (this.slots.get(slot) ?? 0) + n)
    }
    return [...this.slots].sort((a, b) => a[0] - b[0])
  }
}

/** The tokens of a place. Memory is that of its tokens. Times are microseconds since the Unix epoch. */
export class Place {
  tokens = 0
  arrivals = 0
  departures = 0
  lastInjection = 0
  seconds = 0 // the sum of the injection times of the tokens: seconds, and the microseconds beyond them
  micros = 0
  ages = new Ladder()
  of = new Map() // of each instance, oldest first
  dwell = new Map()
  dwellZero = 0
  dwellSum = 0n
  #queue = [] // oldest first, with some that are gone

  /** Adds a token that was injected now or earlier. */
  put (token, now) {
    this.tokens++
    this.arrivals++
    this.lastInjection = Math.max(this.lastInjection, now)
    this.#sum(token.injected, 1)
    this.ages.add(token.injected, 1)
    const own = this.of.get(token.instance) ?? []
    this.of.set(token.instance, own)
    for (const queue of [this.#queue, own]) {
      let i = queue.length
      while (i > 0 && queue[i - 1].injected > token.injected) i--
      queue.splice(i, 0, token)
    }
  }

  /** Removes the oldest token of an instance, which has one. */
  take (instance, now) {
    const own = this.of.get(instance)
    const token = own.shift()
    if (!own.length) this.of.delete(instance)
    token.gone = true
    this.tokens--
    this.departures++
    this.#sum(token.injected, -1)
    this.ages.add(token.injected, -1)
    const stay = Math.max(0, now - token.injected)
    this.dwellSum += BigInt(stay)
    if (stay < 1) {
      this.dwellZero++
    } else {
      const found = bounds.findIndex(b => stay / 1e6 <= b)
      const bucket = (found < 0 ? bounds.length - 1 : found) - 39
      this.dwell.set(bucket, (this.dwell.get(bucket) ?? 0) + 1)
    }
    if (this.#queue.length > 2 * this.tokens + 64) this.#queue = this.#queue.filter(t => !t.gone)
  }

  #sum (injected, sign) {
    this.seconds += sign * Math.floor(injected / 1e6)
    this.micros += sign * (injected % 1e6)
  }

  /** Returns the oldest tokens, oldest first. */
  oldest () {
    let gone = 0
    while (gone < this.#queue.length && this.#queue[gone].gone) gone++
    this.#queue.splice(0, gone)
    const found = []
    for (const t of this.#queue) {
      if (found.length === stuck) break
      if (!t.gone) found.push(t)
    }
    return found
  }

  /** Returns how many tokens wait in the list, those that are gone included. */
  get queued () { return this.#queue.length }
}
