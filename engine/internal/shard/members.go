// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Members are the numbers of the instances that a shard holds: First,
// First+Stride, … , Count of them; or, if Numbers is not nil, those, which rise.
type Members struct {
	First, Stride, Count int
	Numbers              []int32
}

// MembersOf returns the members with Count set.
func MembersOf(first, stride, count int, numbers []int32) Members {
	if numbers != nil {
		count = len(numbers)
	}
	return Members{first, stride, count, numbers}
}

func (m *Members) check() error {
	if m.Numbers == nil {
		if m.First < 0 || m.Stride < 1 || m.Count < 0 || m.Count > math.MaxInt32 || m.First > math.MaxInt32 || m.Stride > math.MaxInt32 {
			return fmt.Errorf("%d instances from %d in steps of %d; expected no negative number and a step", m.Count, m.First, m.Stride)
		}
		return nil
	}
	last := int32(-1)
	for _, n := range m.Numbers {
		if n <= last {
			return fmt.Errorf("instance %d after %d; expected rising numbers from 0", n, last)
		}
		last = n
	}
	return nil
}

// Size returns how many instances there are.
func (m *Members) Size() int { return m.Count }

// Number returns the number of the i-th instance.
func (m *Members) Number(i int) int {
	if m.Numbers == nil {
		return m.First + i*m.Stride
	}
	return int(m.Numbers[i])
}

// Index returns which of the instances has a number, or ErrNoInstance.
func (m *Members) Index(number int) (int, error) {
	if i := m.from(number); i < m.Count && m.Number(i) == number {
		return i, nil
	}
	return 0, fmt.Errorf("instance %d: %w", number, ErrNoInstance)
}

// from returns the first instance whose number is not below another.
func (m *Members) from(number int) int {
	if m.Numbers != nil {
		i, _ := slices.BinarySearchFunc(m.Numbers, number, func(n int32, want int) int { return cmp.Compare(int(n), want) })
		return i
	}
	if number <= m.First {
		return 0
	}
	return (number-m.First-1)/m.Stride + 1
}
