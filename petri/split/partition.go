// SPDX-License-Identifier: Apache-2.0

package split

import "math/bits"

// Partition returns the partition, from 0, of the instance with a number. It is the
// upper half of the product of the number of partitions and a hash: one step of SplitMix64 from the number as its
// state (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators,
// 2014; the constants are 0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9 and
// 0x94d049bb133111eb). It never changes, because stored data depends on it.
func Partition(instance, of int) int {
	z := uint64(instance) + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	hi, _ := bits.Mul64(z^z>>31, uint64(of))
	return int(hi)
}

// Numbers returns the instances from 0 to instances-1 of a partition, in ascending
// order.
func Numbers(instances, part, of int) []int32 {
	out := make([]int32, 0, instances/of+instances/(8*of)+16)
	for i := range instances {
		if Partition(i, of) == part {
			out = append(out, int32(i))
		}
	}
	return out
}
