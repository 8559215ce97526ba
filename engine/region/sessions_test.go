// SPDX-License-Identifier: Apache-2.0

package region

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/telemetry"
)

// sessions is a member whose log cannot be opened. Each session fails with the
// next of these reasons; the last one repeats.
type sessions struct {
	m      *Member
	r      *replica
	logged strings.Builder
	began  time.Time

	mu sync.Mutex
	at []int // milliseconds
}

func newSessions(t *testing.T, reasons ...error) *sessions {
	s := &sessions{m: memberOf(t, "m1"), began: time.Now()}
	s.r = s.m.replicas[0]
	s.m.cfg.Log = textLog(&s.logged)
	s.r.order.Store(&[]string{"m1"})
	s.m.cfg.Open = func(_ context.Context, _ string, _ bool, keep func() uint64) (Log, error) {
		if keep == nil { // the log is opened to publish the part
			return nil, errors.New("not shown")
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.at = append(s.at, int(time.Since(s.began).Milliseconds()))
		return nil, fmt.Errorf("session %d: %w", len(s.at), reasons[min(len(s.at), len(reasons))-1])
	}
	return s
}

func (s *sessions) tries() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.at)
}

// Opening a log is retried at growing intervals. Only errors that a retry
// cannot change end the process: at once, or after several sessions in a row.
func TestWhenASessionIsTriedAgain(t *testing.T) {
	away := errors.New("away")
	for name, c := range map[string]struct {
		reasons []error
		tries   []int // in 8 s
		ends    error
		stopped string // the reason that is published
	}{
		"a server is away":               {[]error{away}, []int{0, 100, 300, 700, 1500, 3100, 5100, 7100}, nil, ""},
		"a log is damaged":               {[]error{engine.ErrJournal}, []int{0, 100, 300, 700, 1500}, engine.ErrJournal, ""},
		"a log is damaged after a fault": {[]error{away, engine.ErrJournal}, []int{0, 100, 300, 700, 1500, 3100}, engine.ErrJournal, ""},
		"a log that can never be used":   {[]error{ErrUnusable}, []int{0}, ErrUnusable, ""},
		"another version's log":          {[]error{engine.ErrConfig}, []int{0}, engine.ErrConfig, ""},
		"no connection":                  {[]error{nats.ErrConnectionClosed}, []int{0}, nats.ErrConnectionClosed, ""},
		"done":                           {[]error{errDone}, []int{0}, nil, ""},
		"commits are lost":               {[]error{engine.ErrRewritten}, []int{0, 100, 300, 700, 1500, 3100, 5100, 7100}, nil, "it has lost commits"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSessions(t, c.reasons...)
				ctx, stop := context.WithTimeout(t.Context(), 8*time.Second)
				defer stop()
				err := s.r.run(ctx)
				if !errors.Is(err, c.ends) || err != nil && !strings.HasPrefix(err.Error(), `part "one": opening the log: session`) {
					t.Errorf("the member ends with %v; want %v", err, c.ends)
				}
				if d := cmp.Diff(c.tries, s.tries()); d != "" {
					t.Errorf("sessions at, in ms (-want +got):\n%s", d)
				}
				if got := s.r.status(); got.Role != Away || (c.stopped == "") != (got.Stopped == "") || !strings.Contains(got.Stopped, c.stopped) {
					t.Errorf("the member publishes %+v; want the role away and %q", got, c.stopped)
				}
				if n := strings.Count(s.logged.String(), "followed again"); n != min(len(c.tries)-1, 1) {
					t.Errorf("%d lines report that the part is followed again; want one\n%s", n, &s.logged)
				}
			})
		})
	}
}

func TestAMemberThatFollowedNothingForLongFollowsAtOnceWhenItIsWanted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSessions(t, errors.New("away"))
		ctx, stop := context.WithTimeout(t.Context(), 14*time.Second)
		defer stop()
		go func() {
			for at, order := range map[int][]string{1000: {"m2"}, 12_010: {"m1"}} {
				time.AfterFunc(time.Duration(at)*time.Millisecond, func() { s.r.rank(order) })
			}
		}()
		if err := s.r.run(ctx); err != nil {
			t.Fatal(err)
		}
		// At the fifth attempt, at 1.5 s, other members follow the part.
		if got := s.tries(); len(got) < 5 || !slices.Equal(got[:4], []int{0, 100, 300, 700}) || got[4] != 12_010 || got[5] != got[4]+100 {
			t.Errorf("sessions at %d ms; want 4, and those from 12.01 s on", got)
		}
		if n := strings.Count(s.logged.String(), "level="); n != 2 || strings.Contains(s.logged.String(), errAway.Error()) {
			t.Errorf("the member logs\n%swant two warnings 10 s apart, and none that other members follow the part", &s.logged)
		}
	})
}

// still is a log in a file that is followed. The next commits come through
// next.
type still struct {
	Log
	file  journal.Log
	other atomic.Pointer[entries] // the content that replaces its own
	next  chan journal.Commit
	over  error // the error with which it ends
}

func (l *still) Read(ctx context.Context, from uint64) iter.Seq2[journal.Commit, error] {
	if other := l.other.Load(); other != nil {
		return other.Read(ctx, from)
	}
	return l.file.Read(ctx, from)
}

func (l *still) Follow(ctx context.Context, _ uint64, each func(journal.Commit) error) error {
	for {
		select {
		case c, ok := <-l.next:
			if !ok {
				return l.over
			}
			if err := each(c); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// follows runs a replica of part one that follows the log of "old", and returns
// its result.
func follows(t *testing.T, change func(m *Member, l *still, e *engine.Engine)) (e *engine.Engine, err error) {
	t.Helper()
	m := memberOf(t, "m1")
	r := m.replicas[0]
	m.cfg.Standbys = 1
	r.order.Store(&[]string{"old", "m1"})
	file, _, err := journal.Open(t.TempDir(), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	cfg := m.cfg.Engine
	cfg.Journal, cfg.Part, cfg.Source = file, &m.cfg.Parts[0].Part, "old"
	old, err := engine.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := old.Lead(t.Context()); err != nil {
		t.Fatal(err)
	}
	cfg.Source = "m1"
	if e, err = engine.New(cfg); err != nil {
		t.Fatal(err)
	}
	l := &still{file: file, next: make(chan journal.Commit)}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ticker := time.NewTicker(beatEvery)
	defer ticker.Stop()
	beats := make(chan struct{})
	go func() { // beats of this member arrive, and of "old" for half a second
		defer close(beats)
		for began := time.Now(); ; {
			m.roster.receive(offer("m1", "one"), time.Now())
			if time.Since(began) < 500*time.Millisecond {
				m.roster.receive(&Beat{Source: "old", Parts: []BeatPart{{Part: "one", Role: Owner, Epoch: 1}}}, time.Now())
			}
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	}()
	var reader sync.WaitGroup
	go change(m, l, old)
	err = r.follow(ctx, l, e, &reader)
	reader.Wait()
	stop()
	<-beats
	return e, err
}

func TestHowFollowingEnds(t *testing.T) {
	away := errors.New("away")
	idle := func(*Member, *still, *engine.Engine) {}
	for name, c := range map[string]struct {
		change func(m *Member, l *still, old *engine.Engine)
		err    error // nil if m1 owns the part
		after  time.Duration
	}{
		"the owner is silent":                             {idle, nil, 650 * time.Millisecond},
		"the owner is silent, and the log is another one": {func(_ *Member, l *still, _ *engine.Engine) { l.other.Store(&entries{kept: chained(60)}) }, engine.ErrRewritten, 650 * time.Millisecond},
		"the owner is silent, and commits are lost":       {func(_ *Member, l *still, _ *engine.Engine) { l.other.Store(&entries{kept: chained(1)}) }, engine.ErrRewritten, 650 * time.Millisecond},
		"the owner is silent, and the log too":            {func(_ *Member, l *still, _ *engine.Engine) { l.other.Store(&entries{fails: away}) }, away, 650 * time.Millisecond},
		"another one follows it": {func(m *Member, _ *still, _ *engine.Engine) {
			time.Sleep(105 * time.Millisecond)
			m.replicas[0].rank([]string{"old", "m2", "m1"})
		}, errAway, 105 * time.Millisecond},
		"the log ends": {func(_ *Member, l *still, _ *engine.Engine) {
			time.Sleep(105 * time.Millisecond)
			l.over = away
			close(l.next)
		}, away, 105 * time.Millisecond},
		"a commit is missing": {func(_ *Member, l *still, _ *engine.Engine) {
			l.next <- journal.Commit{Sequence: 9, Payload: chained(2)[1]}
		}, engine.ErrReplay, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				e, err := follows(t, c.change)
				if !errors.Is(err, c.err) || c.err == nil && err != nil {
					t.Errorf("%v; want %v", err, c.err)
				}
				if took := time.Since(began); took < c.after || took > c.after+c.after/20 {
					t.Errorf("took %v; want about %v", took, c.after)
				}
				want := "old"
				if c.err == nil {
					want = "m1"
				}
				if s := e.Standing(); s.Owner != want {
					t.Errorf("%q owns the part; want %q", s.Owner, want)
				}
			})
		})
	}
}

// An owner whose beats are lost counts as alive as long as it writes.
//
//promise:owner messages
func TestAnOwnerThatWritesIsNotSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, wrote := time.Now(), time.Duration(0)
		e, err := follows(t, func(_ *Member, l *still, old *engine.Engine) { // its last beat comes before 500 ms
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- old.Run(ctx) }()
			next := uint64(3)
			for range 9 {
				time.Sleep(101 * time.Millisecond)
				if err := old.Inject(ctx, "relay", 0, "a", 1); err != nil {
					t.Error(err)
				}
				synctest.Wait() // it has fired t1, too
				for c, err := range l.file.Read(ctx, next) {
					if err != nil {
						t.Error(err)
					}
					l.next <- c
					next, wrote = c.Sequence+1, time.Since(began)
				}
			}
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
		took := time.Since(began)
		if s := e.Standing(); err != nil || s.Owner != "m1" || wrote < 900*time.Millisecond || took < wrote+200*time.Millisecond || took > wrote+400*time.Millisecond {
			t.Errorf("after %v, and the last commit after %v: %+v, %v; want m1 to own the part 200 to 400 ms after the last commit", took, wrote, s, err)
		}
	})
}

// The heir of a released part owns it from the release on.
func TestAnHeirOwnsThePartAsSoonAsItIsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		e, err := follows(t, func(_ *Member, l *still, old *engine.Engine) {
			time.Sleep(103 * time.Millisecond)
			if err := old.Release(t.Context(), "m1"); err != nil {
				t.Error(err)
			}
			for c, err := range l.file.Read(t.Context(), 3) {
				if err != nil {
					t.Error(err)
				}
				l.next <- c
				break // the next commit is m1's
			}
		})
		if s := e.Standing(); err != nil || s.Owner != "m1" || s.Epoch != 2 || time.Since(began) != 103*time.Millisecond {
			t.Errorf("after %v: %+v, %v; want m1 to own the part in epoch 2 after 103 ms", time.Since(began), s, err)
		}
	})
}

// What an owner does with the part when it stops playing, by the reason.
func TestHowAnOwnerReleasesAPart(t *testing.T) {
	for name, c := range map[string]struct {
		cause    error
		ended    bool // the process ends
		err      error
		released bool
		heir     string
		reports  bool
	}{
		"the firings are done":         {nil, false, errDone, true, "", true},
		"the process ends":             {context.Canceled, true, context.Canceled, true, "", true},
		"it is for another member":     {handOver{"m2"}, false, handOver{"m2"}, true, "m2", false},
		"both":                         {handOver{"m2"}, true, handOver{"m2"}, true, "m2", true},
		"another one owns it":          {errDeposed, false, errDeposed, false, "", false},
		"it receives nothing":          {errCutOff, false, errCutOff, false, "", false},
		"the log upstream is not read": {errors.New("away"), false, nil, false, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newReader(t)
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				if c.ended {
					stop()
				}
				err := x.r.release(ctx, x.e, c.cause)
				if err == nil || c.err != nil && !errors.Is(err, c.err) {
					t.Errorf("%v; want %v", err, c.err)
				}
				if s := x.e.Standing(); s.Released != c.released || s.Heir != c.heir {
					t.Errorf("%+v; want released: %t, for %q", s, c.released, c.heir)
				}
				if (x.r.report != nil) != c.reports {
					t.Errorf("report %+v; want a report: %t", x.r.report, c.reports)
				}
			})
		})
	}
}

// An engine that does not return its report keeps the part: otherwise its
// counts would be lost.
func TestAnOwnerWithoutAReportDoesNotReleaseThePart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memberOf(t, "m1")
		e, began := owned(t, m, 1, "m1"), time.Now() // the engine does not run
		if err := m.replicas[1].release(t.Context(), e, nil); !errors.Is(err, context.DeadlineExceeded) || e.Standing().Released || time.Since(began) != releaseWithin {
			t.Errorf("after %v: %v, %+v; want no report in %v, and the part as it was", time.Since(began), err, e.Standing(), releaseWithin)
		}
	})
}

// watched runs watchOthers for an owner of part one, in epoch 3 and at commit
// 10,000, while m2 publishes how far it has read.
func watched(t *testing.T, says func(m *Member, after time.Duration)) (took time.Duration, err error) {
	m := memberOf(t, "m1")
	m.cfg.Balance = true
	r := m.replicas[0]
	r.order.Store(&[]string{"m2", "m1"})
	r.sure = engine.Standing{Position: 10_000}
	ctx, stop := context.WithTimeout(t.Context(), 100*time.Second)
	defer stop()
	began, done := time.Now(), make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			says(m, time.Since(began))
			time.Sleep(beatEvery)
		}
	}()
	time.Sleep(time.Millisecond) // the first beats have arrived
	err = r.watchOthers(ctx, nil, 3)
	took = time.Since(began)
	stop()
	<-done
	return took, err
}

func TestWhenAnOwnerStops(t *testing.T) {
	standby := func(position uint64) func(*Member, time.Duration) {
		return func(m *Member, _ time.Duration) {
			m.roster.receive(offer("m1", "one"), time.Now())
			m.roster.receive(&Beat{Source: "m2", Parts: []BeatPart{{Part: "one", Role: Standby, Position: position}}}, time.Now())
		}
	}
	for name, c := range map[string]struct {
		says  func(*Member, time.Duration)
		err   error
		after time.Duration // about
	}{
		"m2 is as far":              {standby(10_000), handOver{"m2"}, time.Second},
		"m2 is close enough":        {standby(9000), handOver{"m2"}, time.Second},
		"m2 is 1001 commits behind": {standby(8999), handOver{"m2"}, 2 * time.Second},
		"m2 is 5000 commits behind": {standby(5000), handOver{"m2"}, 4 * time.Second},
		"m2 is all commits behind":  {standby(0), handOver{"m2"}, 5 * time.Second},
		"m2 is there now and then": {func(m *Member, after time.Duration) { // it goes away whenever it has been ready for a while
			m.roster.receive(offer("m1", "one"), time.Now())
			role := Standby
			if after%(1500*time.Millisecond) < 60*time.Millisecond {
				role = Away
			}
			m.roster.receive(&Beat{Source: "m2", Parts: []BeatPart{{Part: "one", Role: role, Position: 5000}}}, time.Now())
		}, nil, 100 * time.Second},
		"another one owns it in a higher epoch": {func(m *Member, after time.Duration) {
			m.roster.receive(offer("m1", "one"), time.Now())
			epoch := uint64(3) // this owner's epoch
			if after >= 3*time.Second {
				epoch = 4
			}
			m.roster.receive(&Beat{Source: "m3", Parts: []BeatPart{{Part: "one", Role: Owner, Epoch: epoch}}}, time.Now())
		}, errDeposed, 3 * time.Second},
		"its own beats do not arrive": {func(m *Member, after time.Duration) {
			if after < 2*time.Second {
				m.roster.receive(offer("m1", "one"), time.Now())
			}
		}, errCutOff, 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				took, err := watched(t, c.says)
				if !errors.Is(err, c.err) || c.err == nil && err != nil {
					t.Errorf("%v; want %v", err, c.err)
				}
				if took < c.after-100*time.Millisecond || took > c.after+100*time.Millisecond || c.err == errDeposed && took != c.after { //nolint:errorlint // c.err is that value
					t.Errorf("after %v; want %v, and to be deposed by the beat itself", took, c.after)
				}
			})
		})
	}
}

func TestAMemberWithoutAConnectionEndsWithAnError(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		m := memberOf(t, "m1")
		m.cfg.Conn = natstest.Connect(t, natstest.Run(t))
		m.cfg.Conn.Close()
		if _, err := Survey(t.Context(), m.cfg.Conn, telemetry.Subjects{}, "relay"); !errors.Is(err, nats.ErrConnectionClosed) {
			t.Errorf("a survey ends with %v; want a closed connection", err)
		}
		if err := m.Run(t.Context()); !errors.Is(err, nats.ErrConnectionClosed) || !strings.Contains(err.Error(), `members of net "relay"`) {
			t.Errorf("a member ends with %v; want the error that it receives no beats", err)
		}
	})
}
