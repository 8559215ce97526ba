// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/pnagent/pnagent/snmp/snmptest"
)

// TickingNet fires all the time.
const TickingNet = `<pnml><net id="ticker" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g">
  <place id="p"/><transition id="tick"/><transition id="take"/>
  <arc id="1" source="tick" target="p"/><arc id="2" source="p" target="take"/></page></net></pnml>`

// Poller reads a counter again and again, as a station does that draws a line:
// differences count only while the discontinuity time is the same.
type Poller struct {
	NOC snmptest.Client

	Mu      sync.Mutex
	Last    uint64
	since   string // the discontinuity time of last; "" before the first reading
	sum     uint64 // of the differences since the discontinuity time changed
	Changes int    // of the discontinuity time
	Fault   string
}

var firingsAndSince = regexp.MustCompile(`Counter64: (\d+)\n.*Hex-STRING: (.+?)\s*$`)

// ReadEvery is the time between two readings of a station that reads all the time. A
// reading is a process; a sidecar makes a View a second.
const ReadEvery = 200 * time.Millisecond

// Run polls until ctx ends. What is not answered is asked again.
func (p *Poller) Run(ctx context.Context) {
	next := time.NewTicker(ReadEvery)
	defer next.Stop()
	for ctx.Err() == nil {
		<-next.C
		out, err := p.NOC.Run(ctx, "snmpget", []string{"-t", "1", "-r", "0"}, OIDRoot+".1.1.2.1.15.1", OIDRoot+".1.1.2.1.19.1")
		m := firingsAndSince.FindStringSubmatch(out)
		if err != nil || m == nil {
			continue
		}
		n, _ := strconv.ParseUint(m[1], 10, 64)
		p.Mu.Lock()
		switch {
		case p.since != m[2]:
			p.since, p.sum, p.Changes = m[2], n, p.Changes+1
		case n < p.Last:
			p.Fault = fmt.Sprintf("the counter fell from %d to %d", p.Last, n)
		default:
			p.sum += n - p.Last
		}
		p.Last = n
		p.Mu.Unlock()
	}
}

// Reads waits until the station has counted a number of firings since the last
// discontinuity.
func (p *Poller) Reads(t *testing.T, want uint64) {
	t.Helper()
	Until(t, fmt.Sprintf("the station has counted %d firings", want), func() error {
		p.Mu.Lock()
		defer p.Mu.Unlock()
		if p.sum != want || p.Last != want {
			return fmt.Errorf("it has counted %d, the counter is %d", p.sum, p.Last)
		}
		return nil
	})
}
