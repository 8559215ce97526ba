// SPDX-License-Identifier: Apache-2.0

package diagram

import (
	"cmp"
	"slices"
	"time"

	"github.com/pnagent/pnagent/stats"
)

// Why is one thing that a token waits for.
type Why struct {
	Node   string // whose transition waits; "" for the node of the token
	Text   string
	Reason stats.Reason
	Until  int64  // see stats.Wait
	Count  uint32 // of ReasonMissing: how many tasks before it have not ended
}

// Due makes a Why of something that has a time, or none if until is 0: it waits for
// that time, and afterwards for its turn.
func Due(w Why, until, now int64) Why {
	switch {
	case until == 0:
		w.Reason = stats.ReasonEnabled
	case until <= now:
		w.Reason, w.Until, w.Text = stats.ReasonEnabled, until, w.Text+", due since "+clock(until)
	default:
		w.Reason, w.Until = stats.ReasonDelayed, until
	}
	return w
}

// Held adds to a Why what has the token, such as a worker, and until when its lock lasts; "" and 0 if that
// is not known. What runs under a lock that has ended has no worker that is alive. The name of a worker or
// a host is always shown: it is not that of a person.
func Held(w Why, holder string, until, now int64) Why {
	w.Until = cmp.Or(until, w.Until)
	switch {
	case until > now:
		w.Text += ", held by " + cmp.Or(holder, "its worker") + " until " + clock(until)
	case until > 0:
		w.Text += ", the lock of " + cmp.Or(holder, "its worker") + " ended at " + clock(until)
		w.Reason = stats.ReasonNoWorker
	case holder != "":
		w.Text += ", held by " + holder
	}
	w.Text = stats.Clip(w.Text, stats.MaxWhat)
	return w
}

func clock(at int64) string { return time.UnixMicro(at).UTC().Format(time.RFC3339) }

// waits returns what a token at a node waits for, strongest reason first. Of a
// transition that does not take from the token's place nothing is said. join reports
// whether the node waits for several flows.
func (n *Process) waits(node string, whys []Why, join bool) []stats.Wait {
	var out []stats.Wait
	for _, w := range whys {
		i := n.FindTransition(cmp.Or(w.Node, node))
		if i < 0 || w.Node != node && w.Node != "" && !n.HasArc(node+in, w.Node) {
			continue
		}
		at := slices.IndexFunc(out, func(o stats.Wait) bool { return o.Transition == int32(i) })
		one := stats.Wait{Transition: int32(i), Reason: w.Reason, Place: stats.NoPlace, Until: w.Until, What: w.Text}
		if w.Reason == stats.ReasonMissing {
			one.Place, one.Count = int32(n.at(node)), w.Count
		}
		switch {
		case at < 0:
			out = append(out, one)
		case strength(w.Reason) > strength(out[at].Reason):
			one.What = stats.Clip(one.What+"; "+out[at].What, stats.MaxWhat)
			out[at] = one
		default:
			out[at].What = stats.Clip(out[at].What+"; "+w.Text, stats.MaxWhat)
		}
	}
	if i := n.FindTransition(node); i >= 0 && len(out) == 0 {
		one := stats.Wait{Transition: int32(i), Reason: stats.ReasonUnknown, Place: stats.NoPlace}
		if join {
			one.Reason, one.Place = stats.ReasonMissing, int32(n.placeOf(node))
		}
		out = append(out, one)
	}
	return out
}

// strength orders the reasons of which one row names the strongest.
func strength(r stats.Reason) int {
	return slices.Index([]stats.Reason{stats.ReasonUnknown, stats.ReasonEnabled, stats.ReasonManual, stats.ReasonMissing, stats.ReasonDelayed, stats.ReasonRunning, stats.ReasonNoWorker, stats.ReasonIncident}, r)
}
