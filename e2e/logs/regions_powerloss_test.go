// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/pnagent/pnagent/e2e/kit"
	engines "github.com/pnagent/pnagent/engine"
)

// passingNet has tokens go from a over b in another region to c.
const passingNet = `<?xml version="1.0"?>
<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="line" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="p">
<place id="a"/><place id="b"/><place id="c"/><transition id="t1"/><transition id="t2"/>
<arc id="x1" source="a" target="t1"/><arc id="x2" source="t1" target="b"/><arc id="x3" source="b" target="t2"/><arc id="x4" source="t2" target="c"/>
</page></net></pnml>`

const passingRegions = "nets: {line: {regions: {one: [t1], two: [t2]}}}\n"

// powerLosses is how many losses of power are tried.
func powerLosses(t *testing.T) int {
	text := os.Getenv("PNAGENT_TEST_POWER_LOSSES")
	if text == "" {
		return 2
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The NATS server loses power: when it is back, its streams end where they were
// some time before, and what is written then has the numbers of what is gone. No
// token that is acknowledged afterwards is lost, whatever was acknowledged before.
//
//promise:durable power
//promise:notempty power
func TestNoTokenIsLostThatIsAcknowledgedAfterAPowerLoss(t *testing.T) {
	t.Parallel()
	for round := range powerLosses(t) {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			t.Parallel()
			powerLoss(t, round)
		})
	}
}

func powerLoss(t *testing.T, round int) {
	js := startJetStream(t, func(o *server.Options) { o.SyncInterval = 2 * time.Minute })
	f := newFleet(t, func() string { return js.url }, played{passingNet, passingRegions}, 2000, 0)
	next := 0
	put := func(tokens int) (acknowledged []int) {
		t.Helper()
		kit.Until(t, fmt.Sprintf("%d tokens are acknowledged", tokens), func() error {
			for len(acknowledged) < tokens {
				next++
				if _, ok := f.ask(t.Context(), "inject", "one", fmt.Appendf(nil, `{"instance":%d,"place":"a"}`, next)); !ok {
					return errors.New("no answer")
				}
				acknowledged = append(acknowledged, next)
			}
			return nil
		})
		return acknowledged
	}
	x := f.start("x", "one")
	y := f.start("y", "two")
	f.arrived(put(20))
	kept := t.TempDir()
	if err := os.CopyFS(kept, os.DirFS(js.opts.StoreDir)); err != nil {
		t.Fatal(err)
	}
	f.arrived(put(10 + 10*round)) // of which the server will know nothing
	js.stop()
	if round%2 == 0 { // all streams lose as much
		js.opts.StoreDir = kept
	} else { // that of region one alone
		stream := filepath.Join("jetstream", "$G", "streams", "pnagent-log-petrinet_2Ev1_2Fline_2Fone")
		if err := errors.Join(os.RemoveAll(filepath.Join(js.opts.StoreDir, stream)), os.CopyFS(filepath.Join(js.opts.StoreDir, stream), os.DirFS(filepath.Join(kept, stream)))); err != nil {
			t.Fatal(err)
		}
	}
	js.start()
	f.connect()
	// The processes know what the logs held, and stop the parts.
	stops := []string{"one"}
	if round%2 == 0 {
		stops = append(stops, "two")
	}
	for _, part := range stops {
		f.stops(part, "had confirmed commit")
	}
	x.Stop(t, syscall.SIGTERM)
	y.Stop(t, syscall.SIGTERM)
	f.start("x", "one") // nothing runs that knows of the loss
	y = f.start("y", "two")
	after := put(150)
	missing := func() (n int) {
		at := f.tokensIn("two")
		for _, i := range after {
			if at[i] == 0 {
				n++
			}
		}
		return n
	}
	stopped := ""
	kit.Until(t, "all tokens arrive, or region two has a reason", func() error {
		stopped = f.glance()["two"].Stopped
		if stopped != "" {
			return nil
		}
		if n := missing(); n > 0 {
			return fmt.Errorf("%d of %d tokens are not there", n, len(after))
		}
		return nil
	})
	if stopped == "" {
		t.Logf("region two reads on")
		return
	}
	t.Logf("region two is stopped: %s", stopped)
	y.Stop(t, syscall.SIGTERM)
	f.args = []string{"--journal.again"}
	f.start("z", "two")
	f.arrived(after)
	for i, n := range f.tokensIn("two") {
		if n > 1 && i >= after[0] {
			t.Errorf("instance %d has %d tokens, put after the loss; want one", i, n)
		}
	}
}

// arrived waits until the tokens of some instances are in region two.
func (f *fleet) arrived(instances []int) {
	f.t.Helper()
	kit.Until(f.t, "the tokens are in region two", func() error {
		at := f.tokensIn("two")
		for _, i := range instances {
			if at[i] == 0 {
				return fmt.Errorf("that of instance %d is not", i)
			}
		}
		return nil
	})
}

// tokensIn returns how many tokens each instance has in a part, by its log.
func (f *fleet) tokensIn(part string) map[int]uint32 {
	f.t.Helper()
	cfg := f.config()
	log, err := cfg.Open(f.t.Context(), part, true, nil)
	if err != nil {
		return nil // the server is not there
	}
	defer func() { _ = log.Close() }() // it was only read
	ec := cfg.Engine
	for i := range cfg.Parts {
		if cfg.Parts[i].Name == part {
			p := cfg.Parts[i].Part
			ec.Journal, ec.Part = log, &p
		}
	}
	e, err := engines.New(ec)
	if err != nil {
		return nil // the log is being written
	}
	ended, stop := context.WithCancel(f.t.Context())
	stop()
	if err := e.Run(ended); err != nil {
		return nil
	}
	n := map[int]uint32{}
	for i := range f.instances {
		m, err := e.Marking(f.t.Context(), f.id(), i)
		if err != nil {
			f.t.Fatal(err)
		}
		for _, tokens := range m {
			n[i] += tokens
		}
	}
	return n
}
