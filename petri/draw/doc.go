// SPDX-License-Identifier: Apache-2.0

// Package draw makes pictures of nets.
//
// [Net] lays out a net as a [Drawing]: the position and size of each node, and the
// points of each arc. If the source has a usable position for every node, the
// drawing keeps them, and spreads them if nodes would overlap. Otherwise it is
// layered from left to right, after Sugiyama, Tagawa and Toda (1981): arcs that
// close a cycle are reversed, nodes are assigned to columns, arcs that are longer
// than one column get lanes through the columns between, each column is ordered to
// have few crossings, and the rows are those of Brandes and Köpf (2001), which keep
// long arcs straight. Unconnected parts are laid out one by one and packed.
//
// A part of many nodes gets about the ratio of width to height that the caller asks
// for: its columns are limited in height, long arcs with a common end share their
// lanes, and the columns are folded into strips that lead to the right and to the left
// in turn. docs/design/drawing.md compares the results.
//
// [Boxes] lays out the boxes and lines of other diagrams in the same layers, with lines that
// are level or upright, and without strips.
//
// [Drawing.SVG] writes a self-contained picture, which is readable on light and dark
// ground and has a title for every node. An [Overlay] adds the current state:
// tokens, heat, rates.
//
// A place is a circle with its label below, a transition a box with its label
// inside. Arcs begin and end on borders, so that a caller draws them without further
// geometry.
//
// Invariants: the package is pure, and the same net gives the same bytes. Its cost
// is bounded: large parts get fewer sweeps over their columns and fewer trials of
// shapes, the longest of too many long arcs are straight lines behind the nodes, and
// the lines of a large net do not bend around nodes.
package draw
