// SPDX-License-Identifier: Apache-2.0

package fleetsim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/pnagent/pnagent/collector/merge"
)

// maxPage limits a page, in bytes.
const maxPage = 1 << 30

// get returns a page of a sidecar.
func (p *sidecar) get(ctx context.Context, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.http+path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Cache-Control", "no-cache") // the current state
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxPage))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s%s: %s", p.name, path, resp.Status)
	}
	return body, err
}

// view returns the View of a sidecar.
func (p *sidecar) view(ctx context.Context) (*view, error) {
	body, err := p.get(ctx, "/api/v1/view")
	if err != nil {
		return nil, err
	}
	v := new(view)
	if err := json.Unmarshal(body, v); err != nil {
		return nil, fmt.Errorf("decode the View of %s: %w", p.name, err)
	}
	return v, nil
}

// received is what a sidecar received, from its metrics.
type received struct {
	Messages uint64            `json:"messages"`
	Bytes    uint64            `json:"bytes"`
	Lost     uint64            `json:"lost"`
	Rejected map[string]uint64 `json:"rejected,omitempty"` // by reason; only those that happened
}

// dropped returns how many messages were lost or rejected. The sidecar also
// counts an overrun as lost, because the sequence numbers of its source then
// have a gap.
func (r *received) dropped() uint64 {
	n := max(r.Lost, r.Rejected[string(merge.Overrun)])
	for reason, one := range r.Rejected {
		if reason != string(merge.Overrun) {
			n += one
		}
	}
	return n
}

func (p *sidecar) received(ctx context.Context) (received, error) {
	page, err := p.get(ctx, "/metrics")
	if err != nil {
		return received{}, err
	}
	return readReceived(string(page))
}

// readReceived reads the four counters that it needs from a page in Prometheus'
// text format.
func readReceived(page string) (received, error) {
	r := received{Rejected: map[string]uint64{}}
	counters := map[string]*uint64{"pnagent_messages_total": &r.Messages, "pnagent_bytes_total": &r.Bytes, "pnagent_messages_lost_total": &r.Lost}
	rejected := false
	for line := range strings.Lines(page) {
		series, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		labels, isRejected := strings.CutPrefix(series, `pnagent_messages_rejected_total{reason="`)
		if counters[series] == nil && !isRejected {
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return r, fmt.Errorf("read metric %s: %w", series, err)
		}
		if !isRejected {
			*counters[series] = uint64(n)
			continue
		}
		rejected = true
		if reason, _, _ := strings.Cut(labels, `"`); n > 0 {
			r.Rejected[reason] = uint64(n)
		}
	}
	if !rejected {
		return r, errors.New("no pnagent_messages_rejected_total among the metrics")
	}
	return r, nil
}

// reading is the cost of reading one output of a sidecar whole, while the fleet
// publishes.
type reading struct {
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu_seconds"` // of the sidecar, including what it received meanwhile
	Amount  int     `json:"amount"`      // bytes, or variables
}

// timed measures one call of read.
func (p *sidecar) timed(read func() (int, error)) (reading, error) {
	before, err := p.used()
	if err != nil {
		return reading{}, err
	}
	amount, err := read()
	if err != nil {
		return reading{}, err
	}
	after, err := p.used()
	return reading{Seconds: after.at.Sub(before.at).Seconds(), CPU: (after.cpu - before.cpu).Seconds(), Amount: amount}, err
}

// page measures a page.
func (p *sidecar) page(ctx context.Context, path string) (reading, error) {
	return p.timed(func() (int, error) {
		body, err := p.get(ctx, path)
		return len(body), err
	})
}

// walk measures a walk of PETRINET-MIB with snmpbulkwalk. It returns a zero
// reading if that is not installed.
func (p *sidecar) walk(ctx context.Context) (reading, error) {
	tool, err := exec.LookPath("snmpbulkwalk")
	if err != nil {
		return reading{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	return p.timed(func() (int, error) {
		cmd := exec.CommandContext(ctx, tool, "-v2c", "-c", "public", "-m", "", "-Onq", "-Cr50", "-t", "5", "-r", "2", p.snmp, root)
		cmd.Env = append(os.Environ(), "MIBS=", "SNMPCONFPATH="+os.DevNull, "SNMP_PERSISTENT_FILE="+os.DevNull)
		out, err := cmd.Output()
		if err != nil {
			return 0, fmt.Errorf("snmpbulkwalk of %s: %w", p.name, err)
		}
		return bytes.Count(out, []byte("\n")), nil
	})
}
