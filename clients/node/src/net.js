// SPDX-License-Identifier: Apache-2.0

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

const type = 'http://www.pnml.org/version-2009/grammar/ptnet'
const space = 'http://www.pnml.org/version-2009/grammar/pnml'

/** A net of places, transitions and arcs. Rows are in the order in which they are added. */
export class Net {
  #elements = []
  #name
  #text

  constructor (id, name = '') {
    this.id = id
    this.#name = name
    this.places = new Map()
    this.transitions = new Map()
    this.inputs = new Map()
    this.outputs = new Map()
  }

  /** Reads the first net of a PNML file, which is published byte for byte. */
  static read (path) { return Net.parse(readFileSync(path)) }

  /** Reads the first net of a PNML text. Reference nodes are not supported. */
  static parse (pnml) {
    const bytes = Buffer.from(pnml)
    const all = bytes.toString().replace(/<!--[^]*?-->/g, '')
    const found = /<(?:[\w.-]+:)?net\b([^>]*)>([^]*?)<\/(?:[\w.-]+:)?net\s*>/.exec(all)
    if (!found) throw new Error('no <net> in the PNML')
    const net = new Net(attribute(found[1], 'id'))
    if (/<(?:[\w.-]+:)?reference(?:Place|Transition)\b/.test(found[2])) throw new Error('reference nodes are not supported; write the net without pages')
    const arcs = []
    for (const [, kind, attributes, closed, body] of found[2].matchAll(/<(?:[\w.-]+:)?(place|transition|arc)\b((?:[^>"'/]|"[^"]*"|'[^']*'|\/(?!>))*)(?:(\/)>|>([^]*?)<\/(?:[\w.-]+:)?\1\s*>)/g)) {
      if (kind === 'place') net.place(attribute(attributes, 'id'))
      if (kind === 'transition') net.transition(attribute(attributes, 'id'))
      if (kind !== 'arc') continue
      const weight = closed ? null : /<(?:[\w.-]+:)?inscription\b[^]*?<(?:[\w.-]+:)?text\s*>\s*(\d+)\s*</.exec(body)
      arcs.push([attribute(attributes, 'source'), attribute(attributes, 'target'), weight ? Number(weight[1]) : 1])
    }
    for (const [source, target, weight] of arcs) net.arc(source, target, weight)
    net.#text = bytes
    return net
  }

  /** Adds a place. */
  place (id, name = '') {
    this.#add(this.places, 'place', id, name)
    return this
  }

  /** Adds a transition. */
  transition (id, name = '') {
    this.#add(this.transitions, 'transition', id, name)
    this.inputs.set(id, new Map())
    this.outputs.set(id, new Map())
    return this
  }

  /** Adds an arc between a place and a transition. The transition takes or puts weight tokens. */
  arc (source, target, weight = 1) {
    let row, place
    if (this.places.has(source) && this.transitions.has(target)) {
      [row, place] = [this.inputs.get(target), source]
    } else if (this.transitions.has(source) && this.places.has(target)) {
      [row, place] = [this.outputs.get(source), target]
    } else {
      throw new Error(`an arc from "${source}" to "${target}"; expected a place and a transition`)
    }
    this.#append(`<arc id="a${this.#elements.length}" source="${escaped(source)}" target="${escaped(target)}"><inscription><text>${weight}</text></inscription></arc>`)
    row.set(place, (row.get(place) ?? 0) + weight)
    return this
  }

  #add (rows, kind, id, name) {
    if (!id || this.places.has(id) || this.transitions.has(id)) throw new Error(`the id "${id}" of a ${kind} is empty or taken`)
    this.#append(`<${kind} id="${escaped(id)}">${named(name)}</${kind}>`)
    rows.set(id, rows.size)
  }

  #append (element) {
    if (this.#text) throw new Error('the net is published already, or was read from a file')
    this.#elements.push(element)
  }

  /** The definition, which does not change any more. */
  get pnml () {
    this.#text ??= Buffer.from(`<pnml xmlns="${space}"><net id="${escaped(this.id)}" type="${type}">${named(this.#name)}<page id="page">\n` +
      `${this.#elements.join('\n')}\n</page></net></pnml>\n`)
    return this.#text
  }

  /** The digest by which messages name the definition. */
  get digest () { return createHash('sha256').update(this.pnml).digest('hex').slice(0, 32) }
}

const named = name => name ? `<name><text>${escaped(name)}</text></name>` : ''
const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\n': '&#10;', '\r': '&#13;', '\t': '&#9;' }
const escaped = text => text.replace(/[&<>"\n\r\t]/g, c => entities[c])

// attribute returns the value of an attribute; '' if there is none.
function attribute (text, name) {
  const found = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`).exec(text)
  const raw = found?.[1] ?? found?.[2] ?? ''
  return raw.replace(/&(?:#x([0-9a-fA-F]+)|#(\d+)|(amp|lt|gt|quot|apos));/g, (_, hex, decimal, word) =>
    word ? { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }[word] : String.fromCodePoint(hex ? parseInt(hex, 16) : Number(decimal)))
}
