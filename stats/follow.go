// SPDX-License-Identifier: Apache-2.0

package stats

// MaxStays is how many stays a Recorder keeps between two calls of TakeStays.
const MaxStays = 1 << 14

// StayKind says what a Stay is.
type StayKind uint8

// The kinds of stays.
const (
	StayInPlace StayKind = iota // of a token, from its injection until it left
	StayWork                    // of the work of a transition, from its start until its end
	StayRun                     // of an instance, from its begin until it finished
	StayFailed                  // the same, until it failed
)

// Stay is a time that an instance that is followed spent somewhere. Times are in microseconds
// since the Unix epoch.
type Stay struct {
	Kind     StayKind
	Node     int   // a place, or a transition of work; 0 of a run
	Instance int   // by the number of the owner
	Begun    int64 // when the run of the instance began, which names it: an instance that has ended may begin again
	From, To int64
}

// follower keeps the stays of some instances.
type follower struct {
	runs  []followedRun // by instance
	stays []Stay
	lost  uint64
}

// followedRun is the run of an instance; zero of one that is not followed.
type followedRun struct {
	begun int64
	first int64 // begun, or when its first token came if that was before it was followed
}

// Follow makes the recorder keep the stays of the instances that are chosen, of those below n.
// One that was there before counts as begun now.
func (r *Recorder) Follow(n int, chosen func(instance int) bool, now int64) {
	f := &follower{runs: make([]followedRun, n)}
	for i := range n {
		if chosen(i) {
			f.runs[i] = followedRun{now, now}
		}
	}
	r.followed = f
}

// Began notes that an instance begins at now, or begins again. The owner counts it.
func (r *Recorder) Began(instance int, now int64) {
	if f := r.followed; f != nil && f.runs[instance].begun != 0 {
		f.runs[instance] = followedRun{now, now}
	}
}

// Ended notes that an instance finished or failed at now. The owner counts it.
func (r *Recorder) Ended(instance int, failed bool, now int64) {
	kind := StayRun
	if failed {
		kind = StayFailed
	}
	if f := r.followed; f != nil && f.runs[instance].begun != 0 {
		run := f.runs[instance]
		f.add(Stay{Kind: kind, Instance: instance, Begun: run.begun, From: run.first, To: now})
	}
}

// TakeStays appends the stays since the last call, and returns how many did not fit since then.
func (r *Recorder) TakeStays(to []Stay) (_ []Stay, lost uint64) {
	f := r.followed
	if f == nil {
		return to, 0
	}
	to, lost = append(to, f.stays...), f.lost
	f.stays, f.lost = f.stays[:0], 0
	return to, lost
}

// stay keeps a time that was spent, unless it is 0.
func (f *follower) stay(kind StayKind, node, instance int, from, to int64) {
	run := &f.runs[instance]
	if run.begun == 0 || from >= to {
		return
	}
	run.first = min(run.first, from)
	f.add(Stay{Kind: kind, Node: node, Instance: instance, Begun: run.begun, From: from, To: to})
}

func (f *follower) add(s Stay) {
	if len(f.stays) == MaxStays {
		f.lost++
		return
	}
	f.stays = append(f.stays, s)
}
