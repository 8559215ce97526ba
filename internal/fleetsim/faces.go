// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/pnagent/pnagent/collector"
)

// maxPage is the most that is read of a page.
const maxPage = 1 << 30

// get asks a sidecar for a page.
func (p *sidecar) get(ctx context.Context, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.http+path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Cache-Control", "no-cache") // what is so now
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

// view asks for the View.
func (p *sidecar) view(ctx context.Context) (*view, error) {
	body, err := p.get(ctx, "/api/v1/view")
	if err != nil {
		return nil, err
	}
	v := new(view)
	if err := json.Unmarshal(body, v); err != nil {
		return nil, fmt.Errorf("the View of %s: %w", p.name, err)
	}
	return v, nil
}

// heard is what a sidecar heard, from its metrics.
type heard struct {
	Messages uint64            `json:"messages"`
	Bytes    uint64            `json:"bytes"`
	Lost     uint64            `json:"lost"`
	Rejected map[string]uint64 `json:"rejected,omitempty"` // by reason; only those that happened
}

// dropped is how many messages were not taken, or never came: one that was
// dropped unread is missed in its source's count, too.
func (h *heard) dropped() uint64 {
	n := max(h.Lost, h.Rejected[string(collector.Overrun)])
	for reason, one := range h.Rejected {
		if reason != string(collector.Overrun) {
			n += one
		}
	}
	return n
}

func (p *sidecar) heard(ctx context.Context) (heard, error) {
	body, err := p.get(ctx, "/metrics")
	if err != nil {
		return heard{}, err
	}
	return readHeard(ownLines(body))
}

// ownLines leaves those of the sidecar's own metrics: sources have many.
func ownLines(page []byte) []byte {
	var own []byte
	for line := range bytes.Lines(page) {
		if bytes.HasPrefix(bytes.TrimPrefix(bytes.TrimPrefix(line, []byte("# TYPE ")), []byte("# HELP ")), []byte("pnagent_")) {
			own = append(own, line...)
		}
	}
	return own
}

func readHeard(metrics []byte) (heard, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(metrics))
	if err != nil {
		return heard{}, fmt.Errorf("read metrics: %w", err)
	}
	counter := func(name string) *dto.MetricFamily { return families[name] }
	one := func(name string) uint64 {
		for _, m := range counter(name).GetMetric() {
			return uint64(m.GetCounter().GetValue())
		}
		return 0
	}
	h := heard{Messages: one("pnagent_messages_total"), Bytes: one("pnagent_bytes_total"), Lost: one("pnagent_messages_lost_total"), Rejected: map[string]uint64{}}
	rejected, known := families["pnagent_messages_rejected_total"]
	if !known {
		return h, fmt.Errorf("no pnagent_messages_rejected_total among the metrics")
	}
	for _, m := range rejected.GetMetric() {
		if n := uint64(m.GetCounter().GetValue()); n > 0 {
			reason := ""
			for _, label := range m.GetLabel() {
				reason = label.GetValue() // it is the only one
			}
			h.Rejected[reason] += n
		}
	}
	return h, nil
}

// face is what it takes to read a sidecar whole in one way, while it hears.
type face struct {
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu_seconds"` // of the sidecar, hearing meanwhile included
	Amount  int     `json:"amount"`      // bytes, or variables
}

// timed reads a face once.
func (p *sidecar) timed(read func() (int, error)) (face, error) {
	before, err := p.used()
	if err != nil {
		return face{}, err
	}
	amount, err := read()
	if err != nil {
		return face{}, err
	}
	after, err := p.used()
	return face{Seconds: after.at.Sub(before.at).Seconds(), CPU: (after.cpu - before.cpu).Seconds(), Amount: amount}, err
}

// page reads a page as a face.
func (p *sidecar) page(ctx context.Context, path string) (face, error) {
	return p.timed(func() (int, error) {
		body, err := p.get(ctx, path)
		return len(body), err
	})
}

// walk reads all of PETRINET-MIB with snmpbulkwalk; nothing where that is not
// installed.
func (p *sidecar) walk(ctx context.Context) (face, error) {
	tool, err := exec.LookPath("snmpbulkwalk")
	if err != nil {
		return face{}, nil
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
