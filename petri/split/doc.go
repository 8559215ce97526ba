// SPDX-License-Identifier: Apache-2.0

// Package split divides a net into parts that different processes can run without
// locks between them.
//
// There are two divisions, which can be combined. [Split] divides the net into
// regions: a place belongs to the region of the transitions that test it or take from
// it. So every conflict is inside a region, and only output arcs lead from one region
// into another. The tokens that a firing puts into another region are [Crossing]
// values for the region that owns the place. [Partition] divides the instances: each
// belongs, with the whole net, to one of a number of partitions.
//
// Invariant: the package is pure. It reads no clock, no file and no random source.
package split
