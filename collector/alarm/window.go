// SPDX-License-Identifier: Apache-2.0

package alarm

// windowSteps is the number of steps in which a window moves.
const windowSteps = 10

// sample is two counters at one moment.
type sample struct {
	at                int64
	firings, failures uint64
}

// window counts firings and failures over a sliding window. It keeps the counters at the
// beginning of each step, so it covers the window and up to a tenth more. It counts
// nothing from before the first sample.
type window struct {
	ring  [windowSteps + 2]sample
	n     int   // samples ever taken
	since int64 // of the counters
}

func (w *window) newest() *sample { return &w.ring[(w.n-1)%len(w.ring)] }

// count adds a sample, and returns the increase over the last length microseconds and
// the time that it really covers: at least length. Counters that restarted or fell begin
// a new window.
func (w *window) count(length int64, now sample, since int64) (firings, failures uint64, over int64) {
	if w.n > 0 {
		last := w.newest()
		if since != w.since || now.firings < last.firings || now.failures < last.failures || now.at < last.at {
			w.n = 0
		}
	}
	if w.n == 0 || now.at-w.newest().at >= length/windowSteps {
		w.ring[w.n%len(w.ring)], w.since = now, since
		w.n++
	}
	base := w.newest()
	for i := w.n - 1; i >= max(0, w.n-len(w.ring)); i-- {
		base = &w.ring[i%len(w.ring)]
		if now.at-base.at >= length {
			break
		}
	}
	return now.firings - base.firings, now.failures - base.failures, max(length, now.at-base.at)
}

// spans reports whether the samples cover a time.
func (w *window) spans(length, now int64) bool {
	return w.n > 0 && now-w.ring[max(0, w.n-len(w.ring))%len(w.ring)].at >= length
}
