// SPDX-License-Identifier: Apache-2.0

package region_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/journal"
	"github.com/pnagent/pnagent/region"
)

// cable is how a process reaches its server: a dialer of connections through
// which nothing passes while it is cut. What was sent meanwhile arrives later.
type cable struct{ gate sync.RWMutex }

func (c *cable) Dial(network, address string) (net.Conn, error) {
	conn, err := net.Dial(network, address)
	return plugged{conn, c}, err
}

type plugged struct {
	net.Conn
	cable *cable
}

func (p plugged) Read(b []byte) (int, error) {
	n, err := p.Conn.Read(b)
	p.cable.gate.RLock()
	defer p.cable.gate.RUnlock()
	return n, err
}

func (p plugged) Write(b []byte) (int, error) {
	p.cable.gate.RLock()
	defer p.cable.gate.RUnlock()
	return p.Conn.Write(b)
}

// A stand-by that was cut off for two seconds replaces an owner that stops three
// seconds later as fast as ever.
func TestAStandbyThatWasCutOffTakesOverAsFastAsEver(t *testing.T) {
	w := newWorld(t, 1, 3)
	w.slow()
	w.member("y", "two")
	cfg, gate := w.base, &sync.RWMutex{}
	cfg.Conn, cfg.Engine.Source, cfg.Parts = connect(t, w.url), "x1", cfg.Parts[:1]
	cfg.Open = func(ctx context.Context, part string, keep func() uint64) (region.Log, error) {
		log, err := w.open(ctx, part, keep)
		return stoppable{log, gate}, err
	}
	run(t, cfg)
	until(t, "x1 owns one", func() bool { return w.statuses()["one"].Owner == "x1" })
	cut := &cable{}
	nc, err := nats.Connect(w.url, nats.SetCustomDialer(cut))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	second := w.base
	second.Conn, second.Engine.Source, second.Parts = nc, "x2", second.Parts[:1]
	run(t, second)
	until(t, "x2 stands by", func() bool { return len(w.statuses()["one"].Standbys) == 1 })
	cut.gate.Lock()
	time.Sleep(2 * time.Second)
	cut.gate.Unlock()
	time.Sleep(3 * time.Second)
	gate.Lock()
	defer gate.Unlock()
	cfg.Conn.Close()
	stopped := time.Now()
	log := w.logs.Open("one", nil)
	found := errors.New("x2 has written")
	if err := log.Follow(t.Context(), log.Last()+1, func(journal.Commit) error { return found }); !errors.Is(err, found) {
		t.Fatal(err)
	}
	took := time.Since(stopped)
	t.Logf("the part was taken over after %v", took)
	if took > time.Second { // 250 ms, and what a busy machine takes
		t.Errorf("it was taken over after %v; want at most a second", took)
	}
}
