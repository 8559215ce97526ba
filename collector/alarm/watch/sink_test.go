// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/alarm/alarmtest"
)

// A sink that is not ready for a while, such as AgentX without snmpd, gets every
// notification in order, and one that stays away is counted.
func TestNotificationsWaitForASinkThatIsAway(t *testing.T) {
	for away, want := range map[time.Duration]alarm.Failures{45 * time.Second: {}, 8 * time.Minute: {}, time.Hour: {alarm.NotReady: 6}} {
		t.Run(away.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const alarms = 3
				w := &world{net: alarmtest.Wide("n", alarms, time.Now().UnixMicro())}
				raised := time.Now().Add(10 * time.Minute) // by the default rules
				var sink recorder
				ready, tries := make(chan struct{}), 0
				time.AfterFunc(time.Until(raised.Add(away)), func() { close(ready) })
				send := func(ctx context.Context, n alarm.Notification) error {
					tries++
					if since := time.Since(raised); since > -time.Second && since < away {
						return &NotReadyError{Err: errors.New("no session"), Ready: ready}
					}
					return sink.record(ctx, n)
				}
				watcher := New(Config{Views: w.view.Subscribe(), Sinks: []Sink{{Name: "away", Send: send, Keep: KeepUnsent}}})
				w.then, w.from = alarmtest.Moved(w.net, 0), raised.Add(5*time.Second)
				w.run(t, watcher, 45*time.Minute)
				if got := watcher.Counters().Sinks[0]; got.Failed != want || got.Sent != 2*alarms-want[alarm.NotReady] {
					t.Errorf("%+v, want %v failed", got, want)
				}
				if most := 2*alarms + 1; tries > most { // each notification, and the first one again
					t.Errorf("%d tries, want at most %d", tries, most)
				}
				var came []string
				for _, n := range sink.got {
					came = append(came, fmt.Sprint(n.Alarm.Subject, n.Raise))
				}
				if want == (alarm.Failures{}) {
					if diff := cmp.Diff([]string{"p0true", "p1true", "p2true", "p0false", "p1false", "p2false"}, came); diff != "" {
						t.Errorf("expected in order (-), came (+):\n%s", diff)
					}
				}
			})
		})
	}
}

// reasoned is the error of a sink with a queue of its own.
type reasoned struct{ reason string }

func (e reasoned) Error() string  { return "no: " + e.reason }
func (e reasoned) Reason() string { return e.reason }

// A notification that a sink keeps is confirmed once the sink reports it, and counted by the
// reason that the sink has. What the end of the process interrupts is not confirmed: the next
// one sends it.
func TestASinkReportsLaterWhatBecameOfANotification(t *testing.T) {
	var done []func(error)
	watcher := New(Config{Sinks: []Sink{{Name: "later", Deliver: func(_ alarm.Notification, d func(error)) { done = append(done, d) }}}})
	view := alarmtest.ViewOf(alarmtest.Wide("n", 7, t0))
	watcher.work(view, t0+601e6)
	waits := func() []uint32 { return indicesIn(alarm.Raising, watcher.core.Saved()) }
	if len(done) != 7 || len(waits()) != 7 {
		t.Fatalf("%d are delivered, %d are raising", len(done), len(waits()))
	}
	for i, err := range []error{nil, reasoned{"unanswered"}, reasoned{"queue_full"}, reasoned{"network"}, reasoned{"refused"}, errors.New("too large"), reasoned{"stopped"}} {
		done[i](err)
	}
	watcher.work(nil, t0+602e6)
	last := watcher.State().Active[6].Index
	if got := waits(); !slices.Equal(got, []uint32{last}) {
		t.Errorf("%v are raising, want %d", got, last)
	}
	want := alarm.SinkCounters{Name: "later", Sent: 1, Failed: alarm.Failures{alarm.Unanswered: 1, alarm.QueueFull: 1, alarm.Network: 1, alarm.Refused: 2, alarm.Stopped: 1}}
	if diff := cmp.Diff(want, watcher.Counters().Sinks[0]); diff != "" {
		t.Error(diff)
	}
}
