// SPDX-License-Identifier: Apache-2.0

// Package textnet reads and writes nets in text formats of other tools: [ReadTina] and [WriteTina]
// the .net format of the Tina toolbox, [ReadLoLA] the format of the model checker LoLA.
// [WriteDOT] writes a graph for Graphviz.
//
// A reader returns one net that passes [petri.Net.Validate], and warnings for what it ignored. Every
// fault is a [petri.Fault] with line and column. A writer returns what the format cannot
// carry, and refuses a net whose token game it cannot carry.
//
// Invariant: ReadTina returns the same net for what WriteTina wrote, without what WriteTina
// returned. Parallel arcs of a kind become one.
package textnet
