// SPDX-License-Identifier: Apache-2.0
import { Address } from './address.js';
import { ask } from './api.js';
import { Clock } from './clock.js';
import { when } from './format.js';
import { Frame } from './frame.js';
import { Live } from './live.js';
import { Moments, unasked } from './moments.js';
import { urgency } from './problem.js';
import { Scene } from './scene.js';
import { arranged } from './sight.js';

/**
 * @typedef {{id: string, name?: string, tokens?: number, firings?: number, instances?: {deadlocked: number},
 *   oldest_age_seconds?: number, oldest_place?: string, oldest_name?: string, oldest_called?: import('./format.js').Called, kind?: string, rate?: number, sources_up: number, sources_stale: number, alarms: number, alarms_following?: number, alarms_unknown?: number, drawing: string}} NetSummary
 * @typedef {{name: string, net: string, state: string, last_heard_age_seconds?: number, gaps?: number, region?: string,
 *   reason?: string, fence?: number, position?: number, standbys?: number, lag?: number, below?: boolean, refused_requests?: Record<string, number>}} SourceSummary
 * @typedef {{connected: boolean, since: string, server?: string, reason?: string, disconnects?: number}} Connection
 * @typedef {{line: string, does: string, fill: {word: string, means: string}[]}} CommandLine
 * @typedef {{servers: string, prefix: string, commands: CommandLine[]}} Connect
 * @typedef {{connect?: Connect, share?: string, above?: {prefix: string, source: string}, duty?: {on: boolean, others: number}}} Sidecar
 * @typedef {{reason: string, sources: number, net: string, source: string, text: string}} Refused
 * @typedef {{sources: number, worst: {net: string, name: string, ahead_seconds: number}[]}} Skewed
 * @typedef {{index: number, alarm: string, severity: string, net?: string, place?: string, transition?: string, source?: string, region?: string, raised?: string, since: string, text: string,
 *   name?: string, called?: import('./format.js').Called, net_name?: string, affected: number, after_seconds?: number, above?: number, window_seconds?: number, runs?: number, rate?: number, outdated?: boolean, unknown?: string, lost?: string, follows?: string, for_reason?: string, last_fired?: string, reason?: string, instance?: string, why?: string,
 *   acknowledged?: {by: string, at: string, comment?: string}, silenced_until?: string, changed?: string}} Alarm
 *   changed: new or gone since the moment shown, where that is compared with now
 * @typedef {{id: string, from: string, until: string, pending?: boolean, cron?: string, zone?: string, by: string, comment?: string, alarm?: string, net?: string, place?: string, transition?: string, source?: string, for_reason?: string}} Silence
 * @typedef {{at: string, generation: number, history?: import('./moments.js').Kept, archive?: boolean, nets: NetSummary[], sources: SourceSummary[],
 *   alarms: Alarm[], silences: Silence[], silences_left_out?: number, actions: boolean, acts?: boolean, links?: {runbooks: Record<string, string>, grafana?: string}, nats?: Connection, up_nats?: Connection, agentx?: Connection, deaf: boolean, sources_left_out?: number, alarms_left_out?: number,
 *   sidecar?: Sidecar, refused?: Refused[], skewed?: Skewed, interval_asked_seconds?: number}} Overview
 */

/** A drawing that did not come is asked for again after so long, ms. */
const retry = 2000;
/** From more elements on, the reader has to ask for the BPMN file: they take about a millisecond each. */
const mostDrawn = 2000;

/**
 * The state of the page. What is shown is of one moment: overview, shown, net and now()
 * are all of it, and change together. Its parts listen to:
 *   address   the reader went somewhere
 *   overview  nets, sources or alarms changed
 *   drawing   another net is drawn, or the same was defined again
 *   frame     the numbers shown changed
 *   link      the server was lost or found, or a moment is asked for
 *   acted     a request to an engine was done
 *   hover     cursor, hover or camera of the drawing moved
 *   sight     another part of the drawing is shown
 */
export class Model extends EventTarget {
  /** @param {boolean} [always] a net is shown, also if the address names none */
  constructor(always = false) {
    super();
    this.always = always;
    this.address = new Address();
    this.live = new Live();
    this.clock = new Clock();
    /** @type {Overview|null} what the server sent last; see overview */ this.latest = null;
    /** When it came, ms by this page's clock. */ this.latestAt = 0;
    this.moments = new Moments();
    /** @type {import('./moments.js').Moment|null} what is shown, null for now */ this.moment = null;
    /** @type {AbortController|null} the moment that is asked for */ this.asked = null;
    /** How many times faster than it was the past is played, 0 for not at all. */ this.playing = 0;
    /** @type {Scene|null} */ this.scene = null;
    /** @type {Frame|null} the numbers of now */ this.current = null;
    /** @type {string[]} places that hold tokens of the instance selected */ this.traced = [];
    /** Why the drawing cannot be shown. */ this.trouble = '';
    /** Whether the numbers of the net are not current, see states.js. */ this.outdated = false;
    /** The instance that no source has. */ this.unfound = '';
    /** Why the BPMN file of the net cannot be drawn. */ this.bpmnTrouble = '';
    /** @type {import('./scene.js').Drawing|null} the drawing of the whole net */ this.whole = null;
    /** The surroundings that are laid out apart. */ this.apart = '';
    /** Whether the screen is higher than wide; large nets are laid out for that. */
    this.upright = matchMedia('(orientation: portrait)');
    /** Whether a net was shown: the reader who leaves it wants to see all nets, also if it is the only one. */ this.opened = false;
    /** The hash of the drawing that is being fetched. */ this.drawingAsked = '';
  }

  /** Begins to follow what the address says. */
  start() {
    this.address.addEventListener('change', (event) => this.#moved(/** @type {CustomEvent} */ (event).detail));
    this.live.addEventListener('overview', (event) => this.#overview(/** @type {CustomEvent} */ (event).detail));
    this.live.addEventListener('frame', (event) => this.#frame(/** @type {CustomEvent} */ (event).detail));
    this.live.addEventListener('diff', (event) => this.#diff(/** @type {CustomEvent} */ (event).detail));
    this.live.addEventListener('up', () => { this.clock.reset(); this.#again(); this.#tell('link'); });
    this.live.addEventListener('down', () => this.#tell('link'));
    this.upright.addEventListener('change', () => this.whole && this.#draw(this.whole.hash, true));
    addEventListener('pagehide', () => this.live.rest());
    addEventListener('pageshow', (event) => event.persisted && this.live.open(this.live.net));
    this.live.open(this.where.net);
    this.#travel();
  }

  get where() {
    return this.address.where;
  }

  /** The time of what is shown, ms since the Unix epoch; 0 for now. */
  get at() {
    return this.moment?.at ?? 0;
  }

  /** @returns {Overview|null} nets, sources and alarms as they are shown */
  get overview() {
    return this.moment ? this.moment.overview : this.latest;
  }

  /** @returns {Frame|null} the numbers that are shown */
  get shown() {
    return this.moment ? this.#drawn(this.moment.frame) : this.current;
  }

  /** @returns {string} what is not kept of the moment that is shown, in words */
  get lacks() {
    const { moment } = this;
    if (!moment?.frame || moment.lacks || this.#drawn(moment.frame) || !this.scene) return moment?.lacks ?? '';
    return `This net had another definition at ${when(moment.at)}, so its numbers cannot be shown on this drawing.`;
  }

  /** Whether what differs from now is shown too. */
  get comparing() {
    return this.where.compare && this.moment !== null && !this.moment.asking;
  }

  /** Whether a moment is asked for. */
  get asking() {
    return this.asked !== null;
  }

  /** Whether the server takes requests about alarms; the past cannot be changed. */
  get actions() {
    return !this.moment && Boolean(this.latest?.actions);
  }

  /** The time for which ages are shown, ms by the server's clock. */
  now() {
    return this.at || this.clock.now();
  }

  /** For how long the ages of the overview have grown since, s. */
  passed() {
    return this.moment ? 0 : (Date.now() - this.latestAt) / 1000;
  }

  /** @returns {NetSummary|undefined} the net that the reader is at */
  get net() {
    return this.overview?.nets.find((n) => n.id === this.where.net);
  }

  /**
   * @param {string} types separated by spaces
   * @param {() => void} listener
   */
  on(types, listener) {
    for (const type of types.split(' ')) this.addEventListener(type, listener);
  }

  /**
   * @param {''|'place'|'transition'|'instance'} kind
   * @param {string} id
   */
  select(kind, id) {
    this.address.go({ kind, id: kind ? id : '' });
  }

  /** Shows all nets. */
  goHome() {
    this.address.go({ net: '', kind: '', id: '', around: '', look: '', table: false, view: '' });
  }

  /** @param {string} net */
  openNet(net) {
    this.address.go({ net, kind: '', id: '', around: '', look: '', ...(this.where.view === 'bpmn' ? { view: '' } : {}) });
  }

  /**
   * Shows the surroundings of a node, in the net.
   * @param {number} node -1 for none
   * @param {number} steps
   */
  lookAround(node, steps) {
    const n = this.scene?.nodes[node];
    if (n) this.address.go({ around: `${n.kind} ${n.id}`, steps, ...(this.bpmn ? { view: 'net' } : {}) });
  }

  /**
   * @param {number} at ms since the Unix epoch, 0 for now
   * @param {boolean} [sliding] leaves no step to come back to
   */
  travel(at, sliding) {
    this.address.go({ at }, sliding);
  }

  /**
   * Marks the places of an instance.
   * @param {string[]} places ids
   */
  trace(places) {
    if (places.join('\n') === this.traced.join('\n')) return;
    this.traced = places;
    this.#tell('hover');
    this.#tell('frame');
  }

  /** @returns {number} the node of the drawing that is selected, -1 for none */
  selected() {
    const { kind, id } = this.where;
    return this.scene && (kind === 'place' || kind === 'transition') ? this.scene.find(kind, id) : -1;
  }

  /** @returns {number} the place whose oldest token is oldest, calm places left out; -1 for none */
  hottest() {
    return this.shown && this.scene ? this.shown.byAge(this.scene.nodes)[0] ?? -1 : -1;
  }

  /** @returns {number} the node that a small screen shows first: what is selected, or else the one with the oldest token; -1 for none */
  get foremost() {
    return this.selected() >= 0 ? this.selected() : this.hottest();
  }

  /** Whether the reader sees the BPMN file of the net. */
  get bpmn() {
    const { view } = this.where;
    return Boolean(this.scene?.model?.digest) && !this.bpmnTrouble && (view === 'bpmn' || (!view && !this.large));
  }

  /** Whether drawing the BPMN file of the net would block the page for seconds. */
  get large() {
    return (this.scene?.model?.elements.length ?? 0) > mostDrawn;
  }

  /**
   * Shows the net, because its BPMN file cannot be drawn.
   * @param {string} why
   */
  noBpmn(why) {
    this.bpmnTrouble = why;
    this.#tell('address');
    this.#tell('frame');
  }

  /** @param {string} type */
  #tell(type) {
    if (type === 'frame' || type === 'drawing') this.scene?.rest(this.shown?.resting ?? this.current?.resting ?? []);
    this.dispatchEvent(new Event(type));
  }

  /** @param {import('./address.js').Where} before */
  #moved(before) {
    if (before.net !== this.where.net) {
      this.opened = true;
      this.scene = this.whole = this.current = null;
      this.drawingAsked = this.trouble = this.bpmnTrouble = this.apart = '';
      this.#follow();
      this.#tell('drawing');
    }
    if (before.at !== this.where.at || before.net !== this.where.net) this.#travel();
    this.#arrange();
    this.#tell('address');
    this.#tell('frame');
  }

  /** Lays out the surroundings that the address asks for, or the whole net again. */
  async #arrange() {
    const { net, around, steps } = this.where;
    const apart = around && `${steps} ${around}`;
    const whole = this.whole;
    if (!whole || apart === this.apart) return;
    this.apart = apart;
    /** @type {import('./scene.js').Drawing} */ let drawing = whole;
    if (around) {
      const [kind, ...id] = around.split(' ');
      if (!this.scene || this.scene.find(/** @type {'place'|'transition'} */ (kind), id.join(' ')) < 0) return;
      try {
        drawing = arranged(whole, await ask('drawing', { net, [kind]: id.join(' '), steps: String(steps), ...this.#shape() }));
      } catch {
        return; // they are shown where the whole net has them
      }
    }
    if (apart !== this.apart || whole !== this.whole) return;
    this.scene = new Scene(drawing);
    this.#tell('drawing');
  }

  /** Follows the net of the address if the server has it. Its first drawing does not wait for its numbers. */
  #follow() {
    const net = this.latest?.nets.find((n) => n.id === this.where.net);
    if ((net?.id ?? '') !== this.live.net) this.live.open(net?.id ?? '');
    if (net && !this.scene) this.#draw(net.drawing);
  }

  /** @param {Overview} overview */
  #overview(overview) {
    this.latest = overview;
    this.latestAt = Date.now();
    if (overview.generation) this.clock.observe(Date.parse(overview.at)); // before the first View there is no time
    if (this.moment?.asking && !this.asked) this.#travel();
    if (!this.where.net && overview.nets.length && (this.always || (overview.nets.length === 1 && !this.opened))) {
      this.address.go({ net: neediest(overview).id }, true);
    }
    this.#follow();
    this.#tell('overview');
  }

  /** @param {import('./frame.js').FrameMessage} message */
  #frame(message) {
    if (message.net !== this.where.net) return;
    this.current = new Frame(message);
    this.clock.observe(this.current.at);
    this.#draw(message.drawing);
    if (!this.moment || this.comparing) this.#tell('frame');
  }

  /** @param {import('./frame.js').DiffMessage} message */
  #diff(message) {
    if (!this.current) return;
    this.#draw(this.current.drawing);
    this.current.apply(message);
    this.clock.observe(this.current.at);
    if (!this.moment || this.comparing) this.#tell('frame');
  }

  /**
   * Fetches the drawing if it is not the one at hand.
   * @param {string} hash
   * @param {boolean} [again] in any case
   */
  async #draw(hash, again) {
    if (!again && (this.scene?.hash === hash || this.drawingAsked === hash)) return;
    this.drawingAsked = hash;
    const net = this.where.net;
    try {
      const drawing = await ask('drawing', { net, ...this.#shape() });
      if (net !== this.where.net) return;
      this.whole = drawing;
      this.apart = '';
      this.scene = new Scene(drawing);
      this.trouble = this.bpmnTrouble = '';
      this.#arrange();
      this.#tell('drawing');
      this.#tell('address');
      this.#tell('frame');
    } catch (error) {
      this.#fail(`Cannot load the drawing of this net: ${text(error)}.`);
    } finally {
      setTimeout(() => this.drawingAsked === hash && (this.drawingAsked = ''), retry);
    }
  }

  /** @returns {Record<string, string>} what shape a large drawing is asked for */
  #shape() {
    return this.upright.matches ? { upright: '' } : {};
  }

  /**
   * The numbers, if they are of the net as it is drawn.
   * @param {Frame|null} frame
   */
  #drawn(frame) {
    return frame && (!this.scene || frame.drawing === this.scene.hash) ? frame : null;
  }

  /**
   * Goes to the moment that the address asks for. What is shown stays until all of that
   * moment is there; of another net nothing is shown till then.
   */
  async #travel() {
    const { net, at } = this.where;
    this.asked?.abort();
    this.asked = null;
    if (!at) this.moment = null;
    if (!at || (this.moment?.asked === at && this.moment.net === net && !this.moment.asking)) return;
    if (!this.latest || this.moment?.asking || (this.moment && this.moment.net !== net)) this.moment = unasked(net, at, this.moment);
    if (!this.latest) return; // what is kept is not known yet
    const asked = (this.asked = new AbortController());
    try {
      const moment = await this.moments.ask(net, at, this.latest?.history, asked.signal);
      if (asked === this.asked) this.show(moment);
    } catch (error) {
      if (!asked.signal.aborted) throw error;
    }
  }

  /** Asks once more for a moment that was not available. */
  #again() {
    if (!this.moment?.failed) return;
    this.moment = { ...this.moment, asking: true };
    this.#travel();
  }

  /**
   * Shows a moment of the past, all of it at once.
   * @param {import('./moments.js').Moment} moment
   */
  show(moment) {
    this.asked?.abort();
    this.asked = null;
    this.moment = moment;
    this.#tell('overview');
    this.#tell('frame');
  }

  /** @param {string} trouble */
  #fail(trouble) {
    this.trouble = trouble;
    this.#tell('link');
  }
}

/** @param {unknown} error */
function text(error) {
  return error instanceof Error ? error.message : String(error);
}

/**
 * The net to look at first: with the most urgent alarm, else with the oldest token.
 * @param {Overview} overview
 */
function neediest({ nets, alarms }) {
  const urgent = [...alarms].sort(urgency('')).find((a) => nets.some((n) => n.id === a.net));
  return nets.find((n) => n.id === urgent?.net) ?? [...nets].sort((a, b) => (b.oldest_age_seconds ?? 0) - (a.oldest_age_seconds ?? 0))[0];
}
