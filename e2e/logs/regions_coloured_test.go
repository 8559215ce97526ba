// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/telemetry"
)

// parcelsRegions is the end of parcelsBindings that cuts the net.
const parcelsRegions = `    regions:
      desk:    [price]
      sorting: [sort even, sort odd]
      packing: [pack]
      audits:  [audit odd, audit packed, audit slips, again]
`

// An order with its data goes through four regions, whose processes are killed
// while actions run. Each that was acknowledged comes out once and whole, with
// what the actions said of it; each action was done, at least once, and the key
// of each try is the net's, the region's, its owner's and the run's.
//
//promise:durable kill
func TestOrdersAndTheirDataCrossRegionsWhoseOwnersAreKilled(t *testing.T) {
	t.Parallel()
	const instances = 20
	js := startJetStream(t, nil)
	l := startLedger(t)
	auditing := fmt.Sprintf(`{http: {url: "%s/audit"}}`, l.url)
	bindings := func(audit string) string {
		return fmt.Sprintf(parcelsBindings, l.url, audit, "manual") + parcelsRegions
	}
	f := newFleet(t, func() string { return js.url }, played{parcelsNet, bindings("manual")}, instances, 0)
	j := &injector{nc: f.conn, subject: "petrinet.v1.inject.parcels.desk", acked: map[int]bool{}, open: map[int]bool{}}
	alive := []*kit.Process{f.start("p0"), f.start("p1")}
	f.follows()
	for n := range (kills() + 1) / 2 {
		ctx, cancel := context.WithCancel(t.Context())
		var injecting sync.WaitGroup
		before := j.acknowledged()
		for range 2 {
			injecting.Go(func() { j.run(ctx, instances) })
		}
		kit.Until(t, "orders are acknowledged", func() error {
			if d := j.acknowledged() - before; d < 50 {
				return fmt.Errorf("%d are", d)
			}
			return nil
		})
		i := rand.IntN(2)
		alive[i].Kill(t)
		cancel()
		injecting.Wait()
		alive[i] = f.start(fmt.Sprintf("p%d", n+2))
		f.follows()
	}
	for _, p := range alive {
		p.Stop(t, syscall.SIGTERM)
	}

	f.played.bindings = bindings(auditing)
	f.bindings = kit.Write(t, "audit.yaml", f.played.bindings)
	alive = []*kit.Process{f.start("x"), f.start("y")}
	kit.Until(t, "all orders are kept", func() error {
		if got := f.count(); got.Tokens["kept"] != got.Total() || got.Total() == 0 {
			return fmt.Errorf("%+v", got)
		}
		return nil
	})
	for _, p := range alive {
		p.Stop(t, syscall.SIGTERM)
	}
	for _, fault := range j.account(l) {
		t.Error(fault)
	}
	if got := f.count(); got.Tokens["kept"] != uint64(l.tokens()) || got.Firings["price"] != uint64(len(j.acked)) {
		t.Errorf("%d orders, %d tokens that came out; in the logs %+v", len(j.acked), l.tokens(), got)
	}
	l.judgeKeys(t, map[string]string{"/price": "desk", "/pack": "packing"})
	t.Logf("%d orders, %d tokens", len(j.acked), l.tokens())
}

// judgeKeys checks of each action which region's key it had, and that no two
// tries had the same.
func (l *ledger) judgeKeys(t *testing.T, regions map[string]string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for asked, n := range l.keys {
		path, key, _ := strings.Cut(asked, " ")
		if kit.Submatch(key, "^"+`parcels/`+regions[path]+`/\d{16}/[1-9]\d*/\d+$`) == nil || n != 1 {
			t.Errorf("%s was asked for with the key %q, %d times", path, key, n)
		}
	}
	if len(l.keys) == 0 {
		t.Error("no keys were seen")
	}
}

// answersNet requests an answer for each order, and files it in another region.
const answersNet = `<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="answers" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="p">
<place id="in"/><place id="answered"/><place id="filed"/><transition id="ask"/><transition id="file"/>
<arc id="1" source="in" target="ask"/><arc id="2" source="ask" target="answered"/>
<arc id="3" source="answered" target="file"/><arc id="4" source="file" target="filed"/>
</page></net></pnml>`

// answersRegions wants more for the binding of ask.
const answersRegions = `nets:
  answers:
    transitions:
      ask:  {nats: {subject: office.ask}, timeout: 1m%s}
      file: {nats: {subject: office.file}, timeout: 1m}
    regions: {desk: [ask], archive: [file]}
`

// desk is a subject at which the test answers when it wants to.
type desk struct {
	t        *testing.T
	messages chan *nats.Msg
}

func (f *fleet) desk(subject string) *desk {
	f.t.Helper()
	d := &desk{f.t, make(chan *nats.Msg, 64)}
	sub, err := f.conn.ChanSubscribe(subject, d.messages)
	if err != nil {
		f.t.Fatal(err)
	}
	if err := f.conn.Flush(); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = sub.Unsubscribe() }) // fails only where the connection is closed
	return d
}

// next is what the desk is asked next.
func (d *desk) next() (kit.Asked, *nats.Msg) {
	d.t.Helper()
	select {
	case m := <-d.messages:
		return kit.ParseAsked(d.t, m.Data), m
	case <-time.After(kit.Patience):
		d.t.Fatal("got no request; want one")
		return kit.Asked{}, nil
	}
}

// says answers with a total for an order.
func says(t *testing.T, m *nats.Msg, order, total int) {
	t.Helper()
	if err := m.Respond(fmt.Appendf(nil, `{"data":{"order":%d,"total":%d}}`, order, total)); err != nil {
		t.Fatal(err)
	}
}

// The owner of a region is killed, or hangs, while an action runs. The next owner
// asks again: with a key of its own, because the tokens were put back, or, if that
// does no harm, with the same. What is answered to the one that hung counts for
// nothing; the transition fires once.
//
//promise:refused kill pause
func TestATakeOverWhileAnActionRunsAsksAgainAndFiresOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, binding string
		epochs        [2]int // in the keys with which the next owners ask again
	}{{"put back", "", [2]int{2, 3}}, {"idempotent", ", idempotent: true", [2]int{1, 2}}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			takeOverWhileAnActionRuns(t, c.binding, c.epochs)
		})
	}
}

// offices are the two regions of the answers, and whom they ask.
type offices struct {
	*fleet
	ask, file *desk
}

func (o *offices) injects(order int) {
	o.t.Helper()
	kit.Request(o.t, o.conn, "inject", o.id(), "desk", fmt.Sprintf(`{"instance":0,"place":"in","data":{"order":%d}}`, order))
}

// keyed checks whose key it is.
func (o *offices) keyed(a kit.Asked, region string, epoch int) {
	o.t.Helper()
	if kit.Submatch(a.Key, fmt.Sprintf(`^answers/%s/\d{16}/%d/\d+$`, region, epoch)) == nil {
		o.t.Errorf("%+v; want a key of region %s in epoch %d", a, region, epoch)
	}
}

// files waits until an answer is filed.
func (o *offices) files(order, total int) {
	o.t.Helper()
	a, m := o.file.next()
	if got := a.Tokens[0].Data; got.Order != order || got.Total != total {
		o.t.Errorf("%+v was filed; want order %d for %d", a, order, total)
	}
	o.keyed(a, "archive", 1)
	says(o.t, m, order, total)
}

// asks waits for a request about an order.
func (o *offices) asks(source string, epoch, order int) (string, *nats.Msg) {
	o.t.Helper()
	a, m := o.ask.next()
	if a.Source != source || a.Tokens[0].Data.Order != order || a.Net != o.id() {
		o.t.Errorf("asked %+v; want order %d from %s", a, order, source)
	}
	o.keyed(a, "desk", epoch)
	return a.Key, m
}

func takeOverWhileAnActionRuns(t *testing.T, binding string, epochs [2]int) {
	t.Helper()
	js := startJetStream(t, nil)
	f := newFleet(t, func() string { return js.url }, played{answersNet, fmt.Sprintf(answersRegions, binding)}, 1, 0)
	o := &offices{f, f.desk("office.ask"), f.desk("office.file")}
	archive := f.start("archive", "archive")
	first := f.start("first", "desk")
	kit.Until(t, "the first owns the desk", func() error {
		if now := f.glance()["desk"]; now.Owner != "first" {
			return fmt.Errorf("%+v", now)
		}
		return nil
	})
	o.injects(1)
	before, _ := o.asks("first", 1, 1)
	second := f.start("second", "desk")
	f.followed("desk", "second")
	first.Kill(t)
	again, m := o.asks("second", epochs[0], 1)
	if same := again == before; same != (binding != "") {
		t.Errorf("asked with the key %s, and again with %s", before, again)
	}
	says(t, m, 1, 10)
	o.files(1, 10)

	o.injects(2)
	_, lost := o.asks("second", 2, 2)
	third := f.start("third", "desk")
	f.followed("desk", "third")
	second.Pause(t)
	_, m = o.asks("third", epochs[1], 2)
	says(t, lost, 2, 666)
	second.Resume(t) // and receives the answer to its request
	f.followed("desk", "second")
	says(t, m, 2, 20)
	o.files(2, 20)

	kit.Until(t, "all is filed", func() error {
		if got := f.count(); got.Tokens["filed"] != 2 || got.Total() != 2 || got.Firings["ask"] != 2 || got.Firings["file"] != 2 {
			return fmt.Errorf("%+v", got)
		}
		return nil
	})
	for _, p := range []*kit.Process{archive, second, third} {
		p.Stop(t, syscall.SIGTERM)
	}
	if len(o.ask.messages)+len(o.file.messages) > 0 {
		t.Errorf("%d more questions, %d more to file", len(o.ask.messages), len(o.file.messages))
	}
}

// followed waits until a process follows a part closely.
func (f *fleet) followed(part, source string) {
	f.t.Helper()
	kit.Until(f.t, source+" follows "+part, func() error {
		for _, s := range f.glance()[part].Standbys {
			if s.Source == source && s.Lag < 10 {
				return nil
			}
		}
		return errors.New("it does not")
	})
}

// The owner of a part answers requests for the part. Acknowledged requests take effect,
// even if owners are killed repeatedly.
func TestRequestsToAPartAreAnsweredByItsOwnerAndNotForgotten(t *testing.T) {
	t.Parallel()
	js := startJetStream(t, nil)
	manual := played{lineNet, strings.Replace(lineRegions, "t2: {delay: 1ms}", "t2: manual", 1)}
	f := newFleet(t, func() string { return js.url }, manual, 10, 0)
	alive := map[string]*kit.Process{}
	for _, name := range []string{"p0", "p1"} {
		alive[name] = f.start(name)
	}
	f.follows()
	w := f.witnessed()
	l := f.injections(inRegion)
	fired := f.fires()
	for n := range kills() {
		l.grows(t, 50)
		fired.grows(t, 20)
		owner := f.statuses()["one"].Owner
		if alive[owner] == nil {
			t.Fatalf("%q owns the first region", owner)
		}
		alive[owner].Kill(t)
		delete(alive, owner)
		name := fmt.Sprintf("p%d", n+2)
		alive[name] = f.start(name)
		f.follows()
	}
	l.end()
	fired.end()
	for _, p := range alive {
		p.Stop(t, syscall.SIGTERM)
	}
	got := f.count()
	if n := got.Total(); n < l.acknowledged.Load() || n > l.sent.Load() {
		t.Errorf("%d tokens, of %d acknowledged and %d sent: %+v", n, l.acknowledged.Load(), l.sent.Load(), got)
	}
	if n := got.Firings["t2"]; n < fired.acknowledged.Load() || n > fired.sent.Load() {
		t.Errorf("%d firings, of %d acknowledged and %d sent", n, fired.acknowledged.Load(), fired.sent.Load())
	}
	w.judge(t, f)
	t.Logf("%d tokens and %d firings are acknowledged", l.acknowledged.Load(), fired.acknowledged.Load())
}

// fires asks again and again for firings of t2.
func (f *fleet) fires() *load {
	f.t.Helper()
	ctx, stop := context.WithCancel(f.t.Context())
	l := &load{stop: stop}
	subject := telemetry.DefaultPrefix + ".fire." + telemetry.Escape(f.id()) + ".two"
	l.ending.Go(func() {
		next := time.NewTicker(injectEvery)
		defer next.Stop()
		for ctx.Err() == nil {
			<-next.C
			l.sent.Add(1)
			asking, cancel := context.WithTimeout(ctx, time.Second)
			m, err := f.conn.RequestWithContext(asking, subject, fmt.Appendf(nil, `{"instance":%d,"transition":"t2"}`, rand.IntN(f.instances)))
			cancel()
			var answer struct {
				OK    bool
				Error string
			}
			if err == nil {
				err = json.Unmarshal(m.Data, &answer)
			}
			switch {
			case answer.OK:
				l.acknowledged.Add(1)
			case answer.Error != "" || errors.Is(err, nats.ErrNoResponders):
				l.sent.Add(^uint64(0)) // it is not enabled there, or the region has no owner now
				select {
				case <-ctx.Done():
				case <-time.After(kit.PollEvery):
				}
			}
		}
	})
	f.t.Cleanup(l.end)
	return l
}
