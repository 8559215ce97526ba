// SPDX-License-Identifier: Apache-2.0

// Package split says which part of a net's work belongs together, so that each
// part can be played by another process and nothing is ever locked across them.
//
// There are two ways to cut, and they go together. [Split] cuts the net into
// regions: a place belongs to the region of the transitions that test or take
// from it, so every conflict is inside a region and only output arcs lead from
// one into another. The tokens that a firing puts into another region leave as
// [Crossing] values, for the region that owns the place to take in.
// [Partition] cuts the instances: each belongs, with all of the net, to one of
// a number of partitions.
//
// The package is pure: it reads no clock, no file and no random source.
package split
