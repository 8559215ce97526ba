// SPDX-License-Identifier: Apache-2.0

package fleetsim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gosnmp/gosnmp"
	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

const (
	// probeEvery is the mean time between two messages of the probe. The times are
	// random, so that messages arrive at any time between two Views.
	probeEvery = 200 * time.Millisecond
	// pollEvery is how often a sidecar is polled, and so how exact ages are.
	pollEvery = 10 * time.Millisecond
	// root is the OID that a sidecar serves by default, in net-snmp's playpen. Below
	// it are columns of PETRINET-MIB.
	root              = ".1.3.6.1.4.1.8072.9999.9999"
	netID             = root + ".1.1.2.1.2."
	transitionFirings = root + ".1.1.5.1.4."
)

// probe is a source that is timed: each message increases its counter by one.
type probe struct {
	conn   *nats.Conn
	net    definition
	writer telemetry.Encoder
	epoch  int64

	mu   sync.Mutex
	sent []time.Time // by counter value, from 1
}

func newProbe(url string) (*probe, error) {
	net, err := define(pulse())
	if err != nil {
		return nil, err
	}
	p := &probe{net: net, epoch: time.Now().UnixMicro()}
	if p.conn, err = nats.Connect(url); err != nil {
		return nil, fmt.Errorf("connect the probe: %w", err)
	}
	if err := serveDefinition(p.conn, net); err != nil {
		p.conn.Close()
		return nil, err
	}
	return p, nil
}

// run publishes until the context ends.
func (p *probe) run(ctx context.Context) error {
	var buf []byte
	for {
		if !waits(ctx, time.Duration(rand.Int64N(int64(2*probeEvery)))) {
			return nil
		}
		now := time.Now()
		p.mu.Lock()
		p.sent = append(p.sent, now)
		n := uint64(len(p.sent))
		p.mu.Unlock()
		msg := telemetry.Snapshot{Source: "probe", Epoch: p.epoch, Seq: n, SentAt: now.UnixMicro(), Interval: time.Second,
			Net: p.net.id, Digest: p.net.digest, Full: true, Rows: *stats.NewRows(1, 1)}
		msg.Rows.Columns = stats.ColTokens | stats.ColFirings
		msg.Rows.Places[0].Tokens, msg.Rows.Transitions[0].Firings = 1, n
		var err error
		if buf, err = p.writer.Append(buf[:0], &msg); err != nil {
			return err
		}
		if err = errors.Join(p.conn.Publish(telemetry.Subjects{}.Snapshot(p.net.id, "probe"), buf), p.conn.Flush()); err != nil {
			return fmt.Errorf("publish the probe: %w", err)
		}
	}
}

// watch polls a sidecar for the probe's counter until the context ends. It
// returns how long each message took to be visible there.
func (p *probe) watch(ctx context.Context, addr string) ([]time.Duration, error) {
	client, err := dial(addr)
	if err != nil {
		return nil, err
	}
	defer client.Conn.Close()
	counter, err := p.counter(client)
	if err != nil {
		return nil, err
	}
	var ages []time.Duration
	seen := uint64(0)
	for fresh := true; ; fresh = false { // the first value may be older than watch
		now, n, err := ask[uint64](client, counter)
		if err != nil {
			return nil, err
		}
		p.mu.Lock()
		if n < seen || n > uint64(len(p.sent)) {
			err = fmt.Errorf("the probe's counter is %d, expected %d to %d", n, seen, len(p.sent))
		}
		for i := seen; i < n && err == nil && !fresh; i++ {
			ages = append(ages, now.Sub(p.sent[i]))
		}
		p.mu.Unlock()
		if err != nil {
			return nil, err
		}
		seen = n
		if !waits(ctx, pollEvery) {
			slices.Sort(ages)
			return ages, nil
		}
	}
}

// counter returns the OID of the probe's counter, which has the index of its net.
func (p *probe) counter(client *gosnmp.GoSNMP) (string, error) {
	for _, number := range []string{"1", "2"} {
		_, id, err := ask[[]byte](client, netID+number)
		if err != nil {
			return "", err
		}
		if string(id) == p.net.id {
			return transitionFirings + number + ".1", nil
		}
	}
	return "", fmt.Errorf("net %q is not in pnNetTable", p.net.id)
}

func dial(addr string) (*gosnmp.GoSNMP, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, err
	}
	client := &gosnmp.GoSNMP{Target: host, Port: uint16(n), Version: gosnmp.Version2c, Community: "public", Timeout: 10 * time.Second, Retries: 2}
	if err := client.Connect(); err != nil {
		return nil, fmt.Errorf("connect to %s: %w", addr, err)
	}
	return client, nil
}

// ask returns the value of a variable and when it was received. The value is zero
// if the variable has no instance yet.
func ask[T any](client *gosnmp.GoSNMP, name string) (now time.Time, value T, err error) {
	reply, err := client.Get([]string{name})
	now = time.Now()
	if err != nil {
		return now, value, fmt.Errorf("get %s: %w", name, err)
	}
	if len(reply.Variables) == 1 {
		v := reply.Variables[0]
		if value, ok := v.Value.(T); ok || v.Type == gosnmp.NoSuchInstance {
			return now, value, nil
		}
	}
	return now, value, fmt.Errorf("get %s: unexpected answer %v", name, reply.Variables)
}

// quantile returns a quantile of sorted durations, or 0 if there are none.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}
