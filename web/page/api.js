// SPDX-License-Identifier: Apache-2.0
// Questions to the server. Every one may be given up with a signal.

/** An answer that is not the one asked for. */
export class ApiError extends Error {
  /**
   * @param {number} status of HTTP
   * @param {string} text
   */
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

/**
 * @param {string} what overview, drawing, place, transition, instance, history
 * @param {Record<string, string>} [query]
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function ask(what, query, signal) {
  return read(await fetch(address(what, query), { signal, headers: { Accept: 'application/json' } }));
}

/**
 * @param {string} what
 * @param {Record<string, string>} query
 * @returns {Promise<string>} a text that is not JSON
 */
export async function text(what, query) {
  const answer = await fetch(address(what, query));
  return answer.ok ? answer.text() : read(answer);
}

/** @typedef {{blob: Blob, name: string, lacks: string}} Download lacks: why rows may lack, '' if none does */

/**
 * A file, with the name that the server gives it.
 * @param {string} what
 * @param {Record<string, string>} query
 * @returns {Promise<Download>}
 */
export async function download(what, query) {
  const answer = await fetch(address(what, query));
  if (!answer.ok) return read(answer);
  const [, plain, encoded] = /filename(?:="?([^";]+)|\*=utf-8''([^;]+))/i.exec(answer.headers.get('Content-Disposition') ?? '') ?? [];
  return { blob: await answer.blob(), name: plain ?? decodeURIComponent(encoded ?? what), lacks: answer.headers.get('Pnagent-Incomplete') ?? '' };
}

/**
 * Asks the server to change something.
 * @param {string} what
 * @param {object} change
 * @returns {Promise<any>}
 */
export async function post(what, change) {
  const headers = { Accept: 'application/json', 'Content-Type': 'application/json' };
  return read(await fetch(address(what), { method: 'POST', headers, body: JSON.stringify(change) }));
}

/**
 * The document of an answer.
 * @param {Response} answer
 */
async function read(answer) {
  if (answer.ok) return answer.json();
  let text = answer.statusText;
  try {
    text = (await answer.json()).error ?? text;
  } catch {
    // An error that is not ours has no text of ours.
  }
  throw new ApiError(answer.status, text);
}

/**
 * @param {string} what
 * @param {Record<string, string>} [query]
 */
export function address(what, query) {
  const parameters = new URLSearchParams(query).toString();
  return `api/v1/${what}${parameters && '?' + parameters}`;
}
