// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pnagent/pnagent/e2e/kit"
)

// circleRegions has each transition wait a little, so that the logs are not all
// that the machine does.
const circleRegions = `nets:
  ring:
    transitions: {t1: {delay: 10ms}, t2: {delay: 10ms}, t3: {delay: 10ms}}
    regions: {one: [t1], two: [t2], three: [t3]}
`

// circle never ends.
func circle() played { return played{kit.CircleNet, circleRegions} }

// A process that hung does not get its region back when it continues: the one that took
// over keeps it, in the same epoch. On a machine with other load the one that took over may
// seem to hang, too, so that yet another take-over begins a new epoch; then the process
// that owns the region is paused in its turn.
//
//promise:owner pause
func TestARegionIsTakenOverFromAProcessThatHangs(t *testing.T) {
	t.Parallel()
	js := startJetStream(t, nil)
	f := newFleet(t, func() string { return js.url }, circle(), 5, 0)
	rest := f.start("rest", "two", "three")
	first := f.start("first", "one")
	f.plays("one", "first")
	second := f.start("second", "one")
	f.agrees("one")
	for tries := 1; ; tries++ {
		hangs, other := first, "second"
		if f.plays("one", "").Owner == "second" {
			hangs, other = second, "first"
		}
		hangs.Pause(t)
		at := f.plays("one", other)
		hangs.Resume(t)
		f.agrees("one") // the one that hung follows again
		now := f.plays("one", "")
		if now.Epoch == at.Epoch && now.Owner == at.Owner {
			break
		}
		if now.Epoch <= at.Epoch || tries == maxTakeOvers {
			t.Fatalf("%+v after %+v; want the same owner in the same epoch", now, at)
		}
		t.Logf("%+v after %+v: another take-over", now, at)
	}
	f.conserves(rest, first, second)
}

// maxTakeOvers is how often a test tries to have one that nothing disturbs.
const maxTakeOvers = 8

//promise:durable kill
//promise:owner kill
func TestALeaderKilledAtAnyPointLosesNothing(t *testing.T) {
	t.Parallel()
	js := startJetStream(t, nil)
	f := newFleet(t, func() string { return js.url }, circle(), 5, 0)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	w := f.witnessed()
	alive := []*kit.Process{f.start("p0"), f.start("p1")}
	for n := range kills() {
		f.follows()
		i := r.IntN(2)
		wait := time.NewTimer(time.Duration(r.IntN(300)) * time.Millisecond)
		<-wait.C
		alive[i].Kill(t)
		alive[i] = f.start(fmt.Sprintf("p%d", n+2))
		f.goesOn()
	}
	f.follows() // the last one that began, too: before it listens to signals, SIGTERM kills it
	f.conserves(alive...)
	w.judge(t, f)
}
