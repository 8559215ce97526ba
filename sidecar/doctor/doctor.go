// SPDX-License-Identifier: Apache-2.0

// Package doctor looks at a sidecar and its surroundings from outside, as a network operations
// centre does, and names the cause of each fault and the line that cures it.
//
// [Run] makes all checks side by side. A [Finding] is what one of them saw. What could not be
// looked at is [Unknown], never [OK].
package doctor

import (
	"context"
	"fmt"
	"net/http"
	"os/user"
	"slices"
	"sync"
	"time"

	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/internal/promquery"
	"github.com/pnagent/pnagent/sidecar"
	"github.com/pnagent/pnagent/web/api"
)

// Outcome is the result of a check.
type Outcome string

// The outcomes.
const (
	OK      Outcome = "ok"
	Fails   Outcome = "fails"
	Unknown Outcome = "unknown" // it could not be looked at
)

// Hint is a line to add, or a command to run.
type Hint struct {
	File string `json:"file"` // where the line goes, or what to do with it: "snmpd.conf", "run"
	Line string `json:"line"`
}

// Finding is what one check saw.
type Finding struct {
	Check   string  `json:"check"` // such as master.root
	Looked  string  `json:"looked_at"`
	Outcome Outcome `json:"outcome"`
	Cause   string  `json:"cause,omitempty"` // of what is not ok; else what was seen
	Hints   []Hint  `json:"hints,omitempty"`
}

// Manager says how a network operations centre asks an agent.
type Manager struct {
	Address   string // host:port; "" asks none
	Community string // of SNMPv2c; "" with a user
	User      string // of SNMPv3
	UsersFile string // with the passphrases of the user, as for --snmp.users-file
	Snmpd     string // snmpd.conf of a master, to name its view
	State     string // the file in which a master keeps its engine of SNMPv3
}

// Config is what the doctor looks at.
type Config struct {
	Sidecar    sidecar.Config
	File       string          // configuration file of serve; "" for flags alone
	UsersFile  string          // of the responder and the sinks
	Given      map[string]bool // flags of serve that are given
	NATS       cli.NATS
	JetStream  bool // engines keep their journals there
	URL        string
	HTTP       *http.Client
	Master     Manager // how managers ask snmpd
	Prometheus promquery.Server
	Matchers   string        // of the series of the sidecar
	Within     time.Duration // of one check
}

// doctor has what the checks share.
type doctor struct {
	Config
	view    *api.View // of the sidecar; nil if it does not answer
	viewErr error
	self    string // the user that runs the doctor
}

// check is one of those that run side by side.
type check struct {
	name, looked string
	run          func(ctx context.Context) []Finding
}

// grace is what a check may take beyond Config.Within, to say that it was too slow by itself.
const grace = time.Second

// Run makes all checks. It calls saw for each that has ended, one at a time, with how many there
// are; saw may be nil. The findings are in the order of the checks.
func Run(ctx context.Context, cfg Config, saw func(done, all int)) []Finding {
	d := &doctor{Config: cfg, self: "this user"}
	if u, err := user.Current(); err == nil {
		d.self = u.Username
	}
	first, cancel := context.WithTimeout(ctx, cfg.Within)
	d.view, d.viewErr = api.Client{URL: cfg.URL, HTTP: cfg.HTTP}.View(first)
	cancel()
	checks := d.checks()
	all := make([][]Finding, len(checks))
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for i, c := range checks {
		wg.Go(func() {
			all[i] = c.bounded(ctx, cfg.Within)
			mu.Lock()
			defer mu.Unlock()
			done++
			if saw != nil {
				saw(done, len(checks))
			}
		})
	}
	wg.Wait()
	return slices.Concat(all...)
}

// bounded runs a check, which is unknown if it does not end in time.
func (c *check) bounded(ctx context.Context, within time.Duration) []Finding {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	found := make(chan []Finding, 1)
	go func() { found <- c.run(ctx) }()
	late := time.NewTimer(within + grace)
	defer late.Stop()
	select {
	case all := <-found:
		return all
	case <-late.C:
		return []Finding{{c.name, c.looked, Unknown, fmt.Sprintf("it took longer than %v", within), nil}}
	}
}

// checks returns those that the configuration asks for.
func (d *doctor) checks() []check {
	cfg := &d.Sidecar
	all := []check{{"flags", d.configured(), d.flags}, {"sidecar", d.URL, d.sidecar}, {"state", "directories", d.state}, {"clocks", "clocks of sources", d.clocks}}
	if cfg.AgentX != "" {
		all = append(all, check{"agentx", cfg.AgentX, d.agentx})
	}
	if d.Master.Address != "" {
		all = append(all, check{"master", d.Master.Address, func(ctx context.Context) []Finding { return d.manage(ctx, "master", d.Master) }})
	}
	if cfg.SNMP != "" {
		for _, m := range d.responder() {
			all = append(all, check{"responder", m.Address, func(ctx context.Context) []Finding { return d.manage(ctx, "responder", m) }})
		}
	}
	for _, sink := range cfg.TrapSinks {
		all = append(all, check{"sink", sink, func(ctx context.Context) []Finding { return d.sink(ctx, sink) }})
	}
	for _, sink := range cfg.Sinks {
		all = append(all, check{"sink", sink.Name, func(ctx context.Context) []Finding { return []Finding{d.receiver(ctx, sink)} }})
	}
	all = append(all, check{"nats", d.NATS.URL, d.nats})
	if d.Prometheus.URL != "" {
		all = append(all, check{"prometheus", "Prometheus", d.prometheus})
	}
	return all
}

// configured returns where flags of serve stand.
func (d *doctor) configured() string {
	if d.File == "" {
		return "command line of pnagent serve"
	}
	return d.File
}

// flag returns the hint to give serve a flag.
func (d *doctor) flag(name, value string) Hint {
	if d.File == "" {
		return Hint{d.configured(), "--" + name + "=" + value}
	}
	return Hint{d.File, name + ": " + value}
}

// responder returns how managers ask the built-in responder: by the community, and by the first user.
func (d *doctor) responder() (all []Manager) {
	if d.Sidecar.Community != "" {
		all = append(all, Manager{Address: d.Sidecar.SNMP, Community: d.Sidecar.Community})
	}
	if len(d.Sidecar.Users) > 0 {
		all = append(all, Manager{Address: d.Sidecar.SNMP, User: d.Sidecar.Users[0].Name, UsersFile: d.UsersFile})
	}
	return all
}
