// SPDX-License-Identifier: Apache-2.0
// Numbers, ages and times as people read them. What is not known is a dash,
// never 0.

export const unknown = '–';
/** The most characters of a text that are looked at where it is shortened. */
const longest = 2000;

/**
 * @param {number|null|undefined} n
 * @returns {string} 0 to 9999 in full, above with k, M, G
 */
export function count(n) {
  if (n == null) return unknown;
  for (const [size, letter] of /** @type {[number, string][]} */ ([[1e9, 'G'], [1e6, 'M'], [1e4, 'k']])) {
    if (n >= size) return digits(n / (letter === 'k' ? 1e3 : size)) + letter;
  }
  return String(Math.round(n));
}

/** @param {number} n */
function digits(n) {
  return n >= 100 ? n.toFixed(0) : n >= 10 ? n.toFixed(1).replace(/\.0$/, '') : n.toFixed(2).replace(/\.?0+$/, '');
}

/**
 * @param {number|null|undefined} seconds
 * @returns {string} such as 0.4 s, 12 s, 3 min 20 s, 2 h 05 min, 3 d 4 h
 */
export function age(seconds) {
  if (seconds == null) return unknown;
  const s = Math.max(0, seconds);
  if (s < 1) return s === 0 ? '0 s' : s < 0.01 ? `${digits(s * 1000)} ms` : `${s.toFixed(s < 0.1 ? 2 : 1)} s`;
  if (s < 60) return `${Math.floor(s)} s`;
  const whole = Math.floor(s);
  if (s < 3600) return `${Math.floor(whole / 60)} min ${pad(whole % 60)} s`;
  if (s < 86400) return `${Math.floor(whole / 3600)} h ${pad(Math.floor(whole / 60) % 60)} min`;
  return `${Math.floor(whole / 86400)} d ${Math.floor(whole / 3600) % 24} h`;
}

/**
 * A limit in seconds without units that are zero.
 * @param {number|null|undefined} seconds
 * @returns {string} such as 20 s, 10 min, 1 h 30 min
 */
export function span(seconds) {
  return age(seconds).replace(/ 0?0 (s|min|h)$/, '');
}

/**
 * An age without what is small, such as 12 s, 42 min.
 * @param {number|null|undefined} seconds
 */
export function shortAge(seconds) {
  if (seconds == null) return unknown;
  const s = Math.floor(Math.max(0, seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86400) return `${Math.floor(s / 3600)} h`;
  return `${Math.floor(s / 86400)} d`;
}

/**
 * @param {number|null|undefined} perSecond
 * @returns {string} such as 12/s; slower than one in ten seconds as a number a minute or an hour
 */
export function rate(perSecond) {
  if (perSecond == null) return unknown;
  if (perSecond <= 0) return '0/s';
  if (perSecond >= 1e4) return count(perSecond) + '/s';
  if (perSecond >= 0.1) return (perSecond >= 100 ? perSecond.toFixed(0) : digits(perSecond)) + '/s';
  if (perSecond * 60 >= 0.1) return digits(perSecond * 60) + '/min';
  return digits(perSecond * 3600) + '/h';
}

/** @param {number} n */
function pad(n) {
  return String(n).padStart(2, '0');
}

/**
 * Time of day where the reader is.
 * @param {number} ms since the Unix epoch
 */
export function clock(ms) {
  const d = new Date(ms);
  return `${pad(d.getHours())}:${pad(d.getMinutes())}:${pad(d.getSeconds())}`;
}

const months = Object.freeze(['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']);

/**
 * The day where the reader is.
 * @param {number} ms since the Unix epoch
 * @returns {string} such as 3 Mar
 */
export function day(ms) {
  const d = new Date(ms);
  return `${d.getDate()} ${months[d.getMonth()]}`;
}

/**
 * A time of the past, with its day if that is not today.
 * @param {number} ms since the Unix epoch
 */
export function when(ms) {
  return day(ms) === day(Date.now()) ? clock(ms) : `${day(ms)} ${clock(ms)}`;
}

/**
 * A difference with its sign, which a screen reader says.
 * @param {number} n
 * @param {(n: number) => string} [say]
 * @returns {string} such as +3, −2, 0
 */
export function signed(n, say = count) {
  return n === 0 ? '0' : `${n > 0 ? '+' : '−'}${say(Math.abs(n))}`;
}

/** @typedef {{kind: string, name: string}} Called what an element of a BPMN file is called there */

/**
 * @param {{id: string, name?: string, called?: Called}} node
 * @returns {string} what people call it, such as user task Approve the request, else the name, else the id
 */
export function label(node) {
  return node.called ? visible(`${node.called.kind} ${node.called.name}`) : title(node);
}

/**
 * @param {{id: string, name?: string, called?: Called}} node
 * @returns {string} its name, for where the kind stands beside it
 */
export function title(node) {
  return visible(node.called?.name || node.name || node.id);
}

/**
 * @param {number|null|undefined} n of tokens
 * @param {{called?: Called}} node where they are
 */
export function waiting(n, node) {
  return node.called ? `${count(n)} waiting` : plural(n, 'token');
}

/** Controls, line separators and what changes the direction of text: see internal/plaintext. */
const hostile = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * A text in which each character that a reader cannot see, and that could
 * change what stands beside it, is an escape such as \\u202e.
 * @param {string} text
 */
export function visible(text) {
  return text.replace(hostile, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
}

/**
 * A text on one line, of which a long one loses its middle: names often differ at their end.
 * @param {string} text
 * @param {number} length in characters, with the ellipsis
 */
export function short(text, length) {
  const points = Array.from(text.slice(0, 4 * longest).replace(/\s+/g, ' '));
  if (points.length <= length) return points.join('');
  const end = Math.floor((length - 1) / 2);
  return points.slice(0, length - 1 - end).join('').trimEnd() + '…' + points.slice(points.length - end).join('').trimStart();
}

/** How many characters of a name the two rows of a list have room for. */
export const twoRows = 48;

/**
 * The title of a name in a list: its id, and before it the name if a part of that is left out.
 * @param {string} text
 * @param {string} id
 */
export function full(text, id) {
  return visible(Array.from(text).length > twoRows && text !== id ? `${text} (${id})` : id);
}

/**
 * A text in at most two lines, broken between words where that is possible.
 * @param {string} text
 * @param {number} width characters a line
 * @returns {string[]}
 */
export function twoLines(text, width) {
  const line = short(text, longest);
  if (Array.from(line).length <= width) return [line];
  const at = line.lastIndexOf(' ', width);
  return at <= 0 ? [short(line, width)] : [line.slice(0, at), short(line.slice(at + 1), width)];
}

/**
 * @param {number|null|undefined} n
 * @param {string} one
 * @param {string} [many]
 */
export function plural(n, one, many) {
  return `${count(n)} ${n === 1 ? one : many ?? one + 's'}`;
}
