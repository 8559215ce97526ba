// SPDX-License-Identifier: Apache-2.0

// Package draw makes pictures of nets.
//
// [Net] turns a net into a [Drawing]: where each node is, how large, and which
// way each arc goes. Where the source gives every node a usable position, that
// is where the nodes are, spread further apart if they would overlap. Otherwise
// the drawing is layered, from left to right, in the way of Sugiyama, Tagawa and
// Toda (1981): arcs that close a cycle are turned round, nodes are put into
// columns, arcs that are longer than one column get a lane through those
// between, each column is ordered so that few arcs cross, and the rows are
// those of Brandes and Köpf (2001), which keep long arcs straight. Parts that are not
// joined are laid out one by one and packed.
//
// [Drawing.SVG] writes a picture that needs nothing else: readable on light and
// dark ground, with a title for every node. An [Overlay] says what is to be seen
// on it now: tokens, heat, rates.
//
// A circle is a place, with its label below; a box is a transition, with its
// label inside. Arcs begin and end on borders, so whoever has a Drawing needs no
// geometry to draw it.
//
// What it costs is bounded: large parts get fewer sweeps over their columns,
// the longest of too many long arcs go straight, behind the nodes, and lines of a
// large net are not bent round nodes. The package is pure, and the same net gives
// the same bytes.
package draw

//go:generate go test -count=1 -run ^TestThePicturesOfTheDocumentationAreCurrent$ . -update
