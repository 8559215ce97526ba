// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/busytest"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// hostileNet is a net of one transition and a number of places, as a client that is no
// engine defines it.
func hostileNet(id, name string, places int) (text []byte, digest string) {
	var b strings.Builder
	fmt.Fprintf(&b, `<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id=%q type="http://www.pnml.org/version-2009/grammar/ptnet">`+
		`<name><text>%s</text></name><page id="g">`, id, name)
	for i := range places {
		fmt.Fprintf(&b, `<place id="x%d"><name><text>%s</text></name></place>`, i, name)
	}
	b.WriteString(`<transition id="xt"/></page></net></pnml>`)
	return []byte(b.String()), telemetry.Digest([]byte(b.String()))
}

// hostileRows is a full snapshot of such a net.
func hostileRows(net, digest, source string, seq uint64, places int) *telemetry.Snapshot {
	return &telemetry.Snapshot{Source: source, Epoch: 1, Seq: seq, SentAt: time.Now().UnixMicro(), Interval: time.Second, Net: net, Digest: digest, Full: true,
		Rows: stats.Rows{Columns: stats.ColTokens | stats.ColFirings, Places: make([]stats.Place, places), Transitions: make([]stats.Transition, 1)}}
}

// flushed returns when the server has received what a client has published.
func flushed(t *testing.T, nc *nats.Conn, watched ...*kit.Process) moment {
	t.Helper()
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	return now(watched...)
}

// moment is a time, and how long processes have waited for a processor since then.
type moment struct {
	time.Time
	waited func() time.Duration
}

// now is the present moment of this process, and of those that have to do something in time.
func now(watched ...*kit.Process) moment {
	var pids []int
	for _, p := range watched {
		pids = append(pids, p.Cmd.Process.Pid)
	}
	return moment{time.Now(), busytest.Since(pids...)}
}

// at is a moment after which nothing is known of processors.
func at(when time.Time) moment { return moment{when, func() time.Duration { return 0 }} }

// took is how long it took until a time, without what was waited for a processor.
func (m moment) took(there time.Time) time.Duration { return max(0, there.Sub(m.Time)-m.waited()) }

// answerDefinition answers requests for a definition.
func answerDefinition(t *testing.T, nc *nats.Conn, net, digest string, text []byte) {
	t.Helper()
	sub, err := nc.Subscribe(telemetry.Subjects{}.Definition(net, digest), func(m *nats.Msg) { _ = m.Respond(text) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sub.Unsubscribe() })
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
}

// Messages with unknown digests, of which no client sends the definition or a client
// is asked in vain, do not keep a net from being shown.
func TestUnknownDigestsDoNotShutOutANet(t *testing.T) {
	t.Parallel()
	a := attack(t)
	sub, err := a.nc.SubscribeSync("petrinet.v1.net.unknown.*") // it never answers
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	for i := range 1500 {
		net := fmt.Sprint("net-", i)
		if i%2 == 0 {
			net = "unknown"
		}
		s := hostileRows(net, telemetry.Digest(fmt.Append(nil, i)), fmt.Sprint("stranger-", i), 1, 1)
		if err := a.nc.PublishMsg(packed(t, s)); err != nil {
			t.Fatal(err)
		}
	}
	ended := flushed(t, a.nc, a.side.Process)
	kit.Until(t, "questions are refused", func() error {
		if a.rejected(t)["too_many_definitions"] == 0 {
			return errors.New("none is")
		}
		return nil
	})
	admits(t, a.side, a.nc.ConnectedUrl(), 20*time.Second, ended)
	a.side.Alarmed(t, "PnagentMessagesRejected", "pnagent_messages_rejected_total")
	a.stillWorks(t)
}

// Nets whose source is gone make room for others, leave every face after
// --forget-nets-after, and keep their numbers.
func TestNetsThatNoSourceRunsLeave(t *testing.T) {
	t.Parallel()
	url, dir := kit.StartNATS(t), t.TempDir()
	const gone, leave = time.Second, 4 * time.Second
	side := kit.Serve(t, url, "--mib-dir", dir, "--forget-after", gone.String(), "--forget-nets-after", leave.String())
	nc := kit.Connect(t, url)
	const nets = 1100
	for i := range nets {
		net := fmt.Sprint("filler-", i)
		text, digest := hostileNet(net, net, 1)
		answerDefinition(t, nc, net, digest, text)
		if err := nc.PublishMsg(packed(t, hostileRows(net, digest, "stranger-"+fmt.Sprint(i), 1, 1))); err != nil {
			t.Fatal(err)
		}
	}
	ended := flushed(t, nc, side.Process)
	kit.Until(t, "nets of the stranger are shown", func() error {
		if n := len(side.View(t).Nets); n < 10 {
			return fmt.Errorf("%d nets", n)
		}
		return nil
	})
	side.Alarmed(t, "PnagentMessagesRejected", "pnagent_messages_rejected_total")
	admits(t, side, url, gone, ended)
	v := side.UntilView(t, "only that net is shown", func(v kit.View) error {
		if n := len(v.Nets); n != 1 {
			return fmt.Errorf("%d nets", n)
		}
		return nil
	})
	within(t, "the nets of the stranger leave", gone+leave, ended, v.At.Time())
	lock, err := os.ReadFile(filepath.Join(dir, "oids.lock"))
	if err != nil || !strings.Contains(string(lock), "filler-") {
		t.Errorf("got a lock of %d bytes, %v; want one with the numbers of the nets that left", len(lock), err)
	}
}

// A net that --net-allow excludes is never shown, and its messages are counted.
func TestANetThatIsNotAllowedIsNotShown(t *testing.T) {
	t.Parallel()
	url := kit.StartNATS(t)
	side := kit.Serve(t, url, "--mib-dir", "", "--net-allow", "order-*")
	nc := kit.Connect(t, url)
	text, digest := hostileNet("other", "other", 1)
	answerDefinition(t, nc, "other", digest, text)
	kit.RunEngine(t, url, "shop-1", shop(t)...)
	kit.Until(t, "the allowed net is shown, and messages of the other are counted", func() error {
		if err := nc.PublishMsg(packed(t, hostileRows("other", digest, "stranger", 1, 1))); err != nil {
			return err
		}
		if v := side.View(t); v.Traffic.Rejected["net_not_allowed"] == 0 {
			return errors.New("none is counted")
		}
		return side.Shows(t, shopNet)
	})
	side.Alarmed(t, "PnagentMessagesRejected", "pnagent_messages_rejected_total")
	if v := side.View(t); len(v.Nets) != 1 || v.Source("other", "stranger") != "" {
		t.Errorf("got %d nets, source %q; want one net", len(v.Nets), v.Source("other", "stranger"))
	}
}

// A source with a definition of its own adds a few rows to a net at once. It renames
// nothing, and a definition with many rows raises an alarm and adds none.
func TestOneSourceDoesNotRenameOrFloodANet(t *testing.T) {
	t.Parallel()
	a := attack(t)
	small, canary := hostileNet("claims", "POISONED", 3)
	large, flood := hostileNet("claims", "POISONED", 3000)
	answerDefinition(t, a.nc, "claims", canary, small)
	answerDefinition(t, a.nc, "claims", flood, large)
	before := len(a.side.View(t).Nets[0].Places)
	if err := a.nc.PublishMsg(packed(t, hostileRows("claims", canary, "canary", 1, 3))); err != nil {
		t.Fatal(err)
	}
	ended := flushed(t, a.nc, a.side.Process)
	v := a.side.UntilView(t, "the rows of the canary are shown", func(v kit.View) error {
		if n := len(v.Nets[0].Places); n != before+3 {
			return fmt.Errorf("%d places, %d before", n, before)
		}
		return nil
	})
	within(t, "the rows of the canary are shown", 0, ended, v.At.Time())
	seq := uint64(0)
	kit.Until(t, "the source with many rows raises an alarm", func() error {
		seq++
		if err := a.nc.PublishMsg(packed(t, hostileRows("claims", flood, "flood", seq, 3000))); err != nil {
			return err
		}
		for _, one := range a.side.Alarms(t) {
			if strings.Contains(one.Text, "3000 places and transitions") || strings.Contains(one.Text, "definition_held") {
				within(t, "the alarm is raised", 10*time.Second, at(one.Since.Time()), one.Raised.Time())
				return nil
			}
		}
		return fmt.Errorf("alarms %+v, sources %+v", a.side.Alarms(t), a.side.View(t).Sources)
	})
	a.side.Alarmed(t, "PnagentMessagesRejected", "pnagent_messages_rejected_total")
	if n := a.rejected(t)["definition_held"]; n == 0 {
		t.Error("no message is counted as definition_held")
	}
	page := string(a.side.Page(t, "/api/v1/view"))
	if n := len(a.side.View(t).Nets[0].Places); n != before+3 || strings.Contains(page, `"name":"POISONED","places"`) {
		t.Errorf("got %d places; want %d, and no other name of the net:\n%.300s", n, before+3, page)
	}
	before = a.tokens(t)
	kit.Request(t, a.nc, "inject", "claims", "good", `{"instance":0,"place":"inbox","tokens":2}`)
	kit.Until(t, "the good engine's tokens are shown", func() error {
		if n := a.tokens(t); n != before+2 || a.side.View(t).Source("claims", "good") != "up" {
			return fmt.Errorf("%d tokens, %d before", n, before)
		}
		return nil
	})
}

// Rows that a source adds to a net of a file with one message are shown, have no number in
// oids.lock, and leave once the source has been gone for --forget-nets-after.
func TestRowsOfASourceThatIsGoneLeave(t *testing.T) {
	t.Parallel()
	url, dir := kit.StartNATS(t), t.TempDir()
	const gone, leave = time.Second, 4 * time.Second
	side := kit.Serve(t, url, "--mib-dir", dir, "--forget-after", gone.String(), "--forget-nets-after", leave.String(), kit.TheNet(t))
	kit.RunEngine(t, url, "shop-1", shop(t)...)
	nc := kit.Connect(t, url)
	const added = 90
	text, digest := hostileNet(shopNet, "POISONED", added)
	answerDefinition(t, nc, shopNet, digest, text)
	kit.Until(t, "the net is shown", func() error { return side.Shows(t, shopNet) })
	places := func(want int) func(kit.View) error {
		return func(v kit.View) error {
			if n := len(v.Nets[0].Places); n != want {
				return fmt.Errorf("%d places; want %d", n, want)
			}
			return nil
		}
	}
	before := len(side.View(t).Nets[0].Places)
	if err := nc.PublishMsg(packed(t, hostileRows(shopNet, digest, "canary", 1, added))); err != nil {
		t.Fatal(err)
	}
	ended := flushed(t, nc, side.Process)
	side.UntilView(t, "the rows are shown", places(before+added))
	v := side.UntilView(t, "the rows have left", places(before))
	within(t, "the rows leave", gone+leave, ended, v.At.Time())
	if page := string(side.Page(t, "/metrics")); strings.Contains(page, `place="x0"`) || !strings.Contains(page, `place="`) {
		t.Error("got series of a row that left, or none of the others")
	}
	lock, err := os.ReadFile(filepath.Join(dir, "oids.lock"))
	if err != nil || !strings.Contains(string(lock), shopNet) || strings.Contains(string(lock), `"x0"`) {
		t.Errorf("got %v and the lock\n%s\nwant the net without the rows that left", err, lock)
	}
	if err := nc.PublishMsg(packed(t, hostileRows(shopNet, digest, "canary", 2, added))); err != nil {
		t.Fatal(err)
	}
	side.UntilView(t, "the rows return with their source", places(before+added))
}

// tokens is how many tokens the first net has.
func (a *attacked) tokens(t *testing.T) (n int) {
	t.Helper()
	for _, p := range a.side.View(t).Nets[0].Places {
		if p.Tokens != nil {
			n += int(*p.Tokens)
		}
	}
	return n
}

// up reports whether a source that is not flooded is up. Until the sidecar has proved that it
// receives, that may be unknown; no flood makes the source anything else.
func (a *attacked) up(t *testing.T, source string) error {
	t.Helper()
	switch state := a.side.View(t).Source("claims", source); state {
	case "up":
		return nil
	case "unknown":
		return errors.New(state)
	default:
		t.Fatalf("source %q is %s after the flood; want up, or unknown at first", source, state)
		return nil
	}
}

// flood publishes garbage as publish does, until end is called.
func (a *attacked) flood(subject func(i int) string) (end func() error) {
	return a.publish(func(i int) *nats.Msg { return &nats.Msg{Subject: subject(i), Data: []byte("garbage")} })
}

// A flood comes in bursts, each larger than what a sidecar lets wait: without pauses, on a busy machine, it fills
// the client of NATS, which drops messages of all sources alike. Their period is no divisor of an engine's interval,
// so that it is not always the engine's message that comes last before a View.
const (
	burst      = 30_000
	burstRaced = 3000 // a sidecar with the race detector takes a tenth
	burstEvery = 70 * time.Millisecond
)

// publish publishes messages in bursts, until end is called.
func (a *attacked) publish(message func(i int) *nats.Msg) (end func() error) {
	ended, flooded := make(chan struct{}), make(chan error, 1)
	go func() {
		next, size := time.NewTicker(burstEvery), burst
		if kit.UnderRace {
			size = burstRaced
		}
		defer next.Stop()
		for i := 0; ; i++ {
			select {
			case <-ended:
				flooded <- a.nc.LastError()
				return
			default:
			}
			if i%size == size-1 {
				<-next.C
			}
			if err := a.nc.PublishMsg(message(i)); err != nil {
				flooded <- err
				return
			}
		}
	}()
	return func() error { close(ended); return <-flooded }
}

// A flood of messages that are not of any source is dropped and counted, and the
// messages of a source that is shown are processed meanwhile. It runs alone, because it
// measures times.
//
//promise:bounds hostile load
func TestAFloodOfGarbageDoesNotDelayASource(t *testing.T) {
	a := attack(t)
	end := a.flood(func(i int) string { return telemetry.Subjects{}.Snapshot("garbage", fmt.Sprint(i%1000)) })
	kit.Until(t, "messages of unknown sources are dropped", func() error {
		if a.rejected(t)["overrun_unknown"] == 0 {
			return errors.New("none is")
		}
		return nil
	})
	operator := kit.Connect(t, a.nc.ConnectedUrl())
	for range 2 {
		before := a.tokens(t)
		kit.Request(t, operator, "inject", "claims", "good", `{"instance":0,"place":"inbox","tokens":2}`)
		kit.Until(t, "the good engine's tokens are shown during the flood", func() error {
			if n := a.tokens(t); n != before+2 {
				return fmt.Errorf("%d tokens, %d before", n, before)
			}
			return nil
		})
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	ended := flushed(t, a.nc, a.side.Process)
	a.side.Alarmed(t, "PnagentMessagesRejected", "pnagent_messages_rejected_total")
	kit.Until(t, "the good engine is up once the sidecar has proved that it receives", func() error { return a.up(t, "good") })
	if n := a.side.View(t).Traffic.Rejected["overrun"]; n != 0 {
		t.Errorf("%d messages of shown sources dropped; want none", n)
	}
	admits(t, a.side, a.nc.ConnectedUrl(), 10*time.Second, ended)
}

// A flood of garbage under the name of a source that is shown drops messages of that
// source, which is refused. The tokens of another source are shown as soon as without the
// flood, or within ten seconds on a loaded machine. It runs alone, because it measures times.
func TestAFloodUnderTheNameOfASourceDelaysNoOtherOne(t *testing.T) {
	a := attack(t)
	kit.RunEngine(t, a.nc.ConnectedUrl(), "other", "--instances", "1", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))
	kit.Until(t, "the other engine is shown", func() error {
		if state := a.side.View(t).Source("claims", "other"); state != "up" {
			return errors.New(state)
		}
		return nil
	})
	operator := kit.Connect(t, a.nc.ConnectedUrl())
	shown := func() time.Duration {
		begun, before := now(a.side.Process), a.tokens(t)
		kit.Request(t, operator, "inject", "claims", "other", `{"instance":0,"place":"inbox","tokens":2}`)
		kit.Until(t, "the other engine's tokens are shown", func() error {
			if n := a.tokens(t); n < before+2 {
				return fmt.Errorf("%d tokens, %d before", n, before)
			}
			return nil
		})
		return begun.took(time.Now())
	}
	calm := shown()
	end := a.flood(func(int) string { return telemetry.Subjects{}.Snapshot("claims", "good") })
	kit.Until(t, "messages of the flooded source are dropped", func() error {
		if a.rejected(t)["overrun"] == 0 {
			return errors.New("none is")
		}
		return nil
	})
	kit.Until(t, "the flooded source is refused", func() error {
		if state := a.side.View(t).Source("claims", "good"); state != "refused" {
			return errors.New(state)
		}
		return nil
	})
	for range 2 {
		if took := shown(); took > 10*time.Second+3*calm {
			t.Errorf("shown after %v during the flood, %v before; want at most 10 s and three times that", took, calm)
		} else {
			t.Logf("shown after %v during the flood, %v before", took, calm)
		}
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	over := now(a.side.Process)
	kit.Until(t, "both sources are up once the sidecar has proved that it receives", func() error {
		if err := a.up(t, "other"); err != nil {
			return err
		}
		if state := a.side.View(t).Source("claims", "good"); state != "up" {
			return fmt.Errorf("the flooded source is %s", state)
		}
		return nil
	})
	if took := over.took(time.Now()); took > 10*time.Second+3*calm {
		t.Errorf("up %v after the flood; want at most 10 s, or somewhat more on a loaded machine", took)
	}
}

// shop returns the arguments of an engine that plays an instance of TheNet, some hundred
// firings a second. Without bindings it fires at full speed, and takes a processor.
func shop(t *testing.T) []string {
	t.Helper()
	return []string{"--instances", "1", "--bindings", kit.Write(t, "shop.yaml", "nets: {"+shopNet+": {transitions: {browse: {delay: 10ms}}}}\n"), kit.TheNet(t)}
}

// within checks that a state was there in the time that SECURITY.md documents, after an
// attack ended. A busy machine may take 5 s more, or half of the documented time if that
// is more, beside the time for which it waits for a processor.
func within(t *testing.T, what string, documented time.Duration, ended moment, there time.Time) {
	t.Helper()
	took, busy := ended.took(there), max(5*time.Second, documented/2)
	if took > documented+busy {
		t.Errorf("%s after %v; want the documented %v, and at most %v more", what, took, documented, busy)
		return
	}
	t.Logf("%s after %v; the documented time is %v", what, took, documented)
}

// admits checks that a new source, whose net was not known, is shown in the documented
// time after an attack, or after its own start if that is later.
func admits(t *testing.T, s *kit.Sidecar, natsURL string, documented time.Duration, ended moment) {
	t.Helper()
	kit.RunEngine(t, natsURL, "late", shop(t)...)
	tokens := regexp.MustCompile(`(?m)^petrinet_place_tokens\{.*\} [1-9]`)
	kit.Until(t, "the metrics of a net that was not known are there", func() error { // a view of all nets may be large
		status, body, err := s.Get("/metrics/nets/" + shopNet)
		if err == nil && !tokens.Match(body) {
			err = fmt.Errorf("status %d: %.300s", status, body)
		}
		return err
	})
	v := s.UntilView(t, "a net that was not known is shown", func(v kit.View) error { return v.Shows(shopNet) })
	for _, source := range v.Sources {
		if started := time.UnixMicro(source.Epoch); source.Name == "late" && started.After(ended.Time) {
			ended.Time = started
		}
	}
	within(t, "a new net is shown", documented, ended, v.At.Time())
}
