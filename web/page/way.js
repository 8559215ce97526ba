// SPDX-License-Identifier: Apache-2.0

/** @typedef {{points: [number, number][], lengths: number[], length: number}} Way with the length up to each point */

/**
 * A way with the length up to each of its points.
 * @param {[number, number][]} points
 * @returns {Way}
 */
export function measured(points) {
  const lengths = [0];
  for (let i = 1; i < points.length; i++) lengths.push(lengths[i - 1] + Math.hypot(points[i][0] - points[i - 1][0], points[i][1] - points[i - 1][1]));
  return { points, lengths, length: lengths[lengths.length - 1] };
}

/**
 * The point of an arc at a distance from its start.
 * @param {Way} arc
 * @param {number} distance
 * @returns {[number, number]}
 */
export function along(arc, distance) {
  const { points, lengths } = arc;
  let i = 1;
  while (i < lengths.length - 1 && lengths[i] < distance) i++;
  const share = Math.max(0, Math.min(1, (distance - lengths[i - 1]) / Math.max(1e-9, lengths[i] - lengths[i - 1])));
  const [ax, ay] = points[i - 1];
  const [bx, by] = points[i];
  return [ax + (bx - ax) * share, ay + (by - ay) * share];
}
