// SPDX-License-Identifier: Apache-2.0

// Writes protobuf: as much of it as a Snapshot needs. See telemetry/README.md of pnagent.

/** Returns the subject token of a name. */
export function token (name) {
  const plain = /[A-Za-z0-9_-]/
  let out = ''
  for (const b of Buffer.from(name)) {
    const c = String.fromCharCode(b)
    out += b < 0x80 && plain.test(c) ? c : '=' + b.toString(16).toUpperCase().padStart(2, '0')
  }
  return out || '='
}

/** Appends a number to bytes: a BigInt, or a Number up to 2^53. */
export function varint (bytes, value) {
  if (typeof value === 'bigint') {
    for (; value > 0x7fn; value >>= 7n) bytes.push(Number(value & 0x7fn) | 0x80)
    bytes.push(Number(value))
    return
  }
  for (; value > 0x7f; value = Math.floor(value / 128)) bytes.push(value % 128 | 0x80)
  bytes.push(value)
}

/** A message that is written field by field, with ascending tags. */
export class Message {
  #out = []

  /** Writes an integer or bool; 0 is left out. */
  number (tag, value) {
    if (value) {
      varint(this.#out, tag * 8)
      varint(this.#out, Number(value))
    }
    return this
  }

  /** Writes a string; an empty one is left out. */
  text (tag, value) { return value ? this.#bytes(tag, Buffer.from(value)) : this }

  /** Writes a message, also an empty one. */
  message (tag, value) { return this.#bytes(tag, value.#out) }

  /** Writes a packed column; one without rows is left out. */
  numbers (tag, values) {
    const packed = []
    for (const v of values) varint(packed, v)
    return packed.length ? this.#bytes(tag, packed) : this
  }

  /** Writes a packed column of sint64. */
  signed (tag, values) { return this.numbers(tag, values.map(v => v >= 0 ? 2 * v : -2 * v - 1)) }

  #bytes (tag, bytes) {
    varint(this.#out, tag * 8 + 2)
    varint(this.#out, bytes.length)
    for (const b of bytes) this.#out.push(b)
    return this
  }

  finish () { return Buffer.from(this.#out) }
}

/** Returns the first value, and then how much each is above the one before it. */
export const differences = values => values.map((v, i) => i ? v - values[i - 1] : v)
