// SPDX-License-Identifier: Apache-2.0

package colour

// stream is SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
// Generators, 2014). Each decision begins one of its own, from what it depends
// on, so that nothing has to be kept.
type stream struct{ state uint64 }

func (s *stream) Uint64() uint64 {
	s.state += 0x9e3779b97f4a7c15
	z := s.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// begin returns the stream of one decision of an instance.
func (s *Shard) begin(i int, a, b uint64) stream {
	r := stream{s.seed}
	for _, v := range [...]uint64{uint64(s.Number(i)), a, b} {
		r.state = r.Uint64() ^ v*0x9e3779b97f4a7c15
	}
	return r
}

// below returns a number from 0 to n-1.
func (s *stream) below(n int) int {
	return int(uint64(uint32(s.Uint64()>>32)) * uint64(n) >> 32)
}

// delay draws how long a clock of a transition runs that started at a time.
func (s *Shard) dueOf(i, t int, since int64) int64 {
	r := &s.rules[t]
	if r.Due != nil {
		return r.Due(since)
	}
	s.random = s.begin(i, uint64(t)+1, uint64(since))
	return since + r.Mode.Delay.Draw(s.delays)
}
