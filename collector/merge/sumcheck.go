// SPDX-License-Identifier: Apache-2.0

package merge

// sumCheck is how often sums are compared with what their sources add up to, in
// microseconds, and of how many rows of sources at most.
var sumCheck = struct {
	every int64
	rows  int
}{minute, 20_000}

// checkSums compares a sample of the sums with what the sources add up to, each row in its
// turn, until each was compared after the last change of the net. View.SumDifferences counts what
// differs: a fault of this program.
func (m *Merger) checkSums(now int64) {
	if now-m.checkedAt < sumCheck.every && now >= m.checkedAt {
		return
	}
	m.checkedAt = now
	nets := m.inOrder()
	left := sumCheck.rows
	for range nets {
		n := nets[m.checkedNets%len(nets)]
		places, transitions := n.union.sizes()
		for each := 1 + len(n.contributors()); n.checked < places+transitions && n.unchecked > 0; left -= each {
			if left <= 0 {
				return
			}
			m.sumDifferences += uint64(n.checkRow(n.checked, places))
			n.checked, n.unchecked = n.checked+1, n.unchecked-1
		}
		if n.checked >= places+transitions {
			n.checked = 0
		}
		m.checkedNets++
	}
}

// checkRow compares the sum of a row, places first, and returns whether it differs: 1 or 0.
func (n *net) checkRow(row, places int) (differs int) {
	if row < places {
		differs = n.live.Check([]int32{int32(row)}, nil, n.contributions)
	} else {
		differs = n.live.Check(nil, []int32{int32(row - places)}, n.contributions)
	}
	n.changed = n.changed || differs > 0
	return differs
}
