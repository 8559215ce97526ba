// SPDX-License-Identifier: Apache-2.0

/** A net of places, transitions and arcs. Rows are in the order in which they are added. */
export class Net {
  constructor(id: string, name?: string)
  /** Reads the first net of a PNML file, which is published byte for byte. */
  static read(path: string): Net
  /** Reads the first net of a PNML text. Reference nodes are not supported. */
  static parse(pnml: Uint8Array | string): Net
  readonly id: string
  readonly places: ReadonlyMap<string, number>
  readonly transitions: ReadonlyMap<string, number>
  readonly inputs: ReadonlyMap<string, ReadonlyMap<string, number>>
  readonly outputs: ReadonlyMap<string, ReadonlyMap<string, number>>
  place(id: string, name?: string): this
  transition(id: string, name?: string): this
  /** Adds an arc between a place and a transition, in either direction. */
  arc(source: string, target: string, weight?: number): this
  readonly pnml: Uint8Array
  readonly digest: string
}

/** There would be more tokens than the recorder keeps, or a snapshot does not fit into a message. */
export class LimitError extends Error {}

/** Why a token does not move. */
export const Reason: Readonly<{
  ENABLED: 1, RUNNING: 2, DELAYED: 3, GUARDED: 4, MISSING: 5, INHIBITED: 6, MANUAL: 7, DEAD: 8, INCIDENT: 9, NOWORKER: 10
}>
export type Reason = (typeof Reason)[keyof typeof Reason]

export interface RecorderOptions {
  /** Most tokens of the net that are kept: 1,000,000 unless given. */
  maxTokens?: number
  /** Milliseconds since the Unix epoch: Date.now unless given. */
  clock?: () => number
}

/** The tokens and counters of one net. Times are milliseconds since the Unix epoch, as of Date.now(). */
export class Recorder {
  constructor(net: Net, options?: RecorderOptions)
  readonly net: Net
  /** Puts tokens into a place, now or at an earlier time. */
  inject(place: string, instance?: string, options?: { tokens?: number, at?: number }): void
  /** Takes the oldest tokens of an instance from a place. */
  eject(place: string, instance?: string, options?: { tokens?: number }): void
  /** Fires a transition: takes and puts the tokens of its arcs. */
  fire(transition: string, instance?: string): void
  fail(transition: string): void
  retry(transition: string): void
  cancel(transition: string): void
  /** Says why the tokens of an instance wait in a place, until they leave it or this is called again. */
  wait(place: string, instance: string, transition: string, reason: Reason, options?: { what?: string, until?: number }): void
  tokens(place: string): number
  snapshots(source: string, epoch: number, interval: number, limit: number, bye?: boolean): Uint8Array[]
}

export interface SourceOptions {
  /** Milliseconds between snapshots: 1000 unless given. */
  interval?: number
  prefix?: string
  log?: (text: string) => void
  /** Options of connect of @nats-io/transport-node, such as authenticator and tls. */
  [option: string]: unknown
}

/** A process that runs nets, under a name that is unique and stays the same over restarts. */
export class Source {
  constructor(name: string, servers?: string | string[], options?: SourceOptions)
  readonly name: string
  readonly epoch: number
  /** Adds a net before start, and returns what records it. */
  add(net: Net, options?: RecorderOptions): Recorder
  /** Begins to publish. The promise is fulfilled once it is connected. */
  start(): Promise<void>
  /** Publishes a last snapshot, so that the tokens of this process leave the sums now, and ends. */
  close(): Promise<void>
}
