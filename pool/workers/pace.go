// SPDX-License-Identifier: Apache-2.0

package workers

// pace says how much to take at once, so that a lock and a look at the clock
// are shared by much short work, and long work is taken piece by piece.
type pace struct {
	n     int
	since int64 // when the last n were taken
}

const (
	turnTime = 50 // µs that a turn may last if its work lasts as long as that of the last
	most     = 64 // pieces
)

// next returns how much to take now. It at most doubles from turn to turn.
func (p *pace) next(now int64) int {
	took := max(now-p.since, 1)
	p.n = max(min(int(int64(p.n)*turnTime/took), 2*p.n, most), 1)
	p.since = now
	return p.n
}
