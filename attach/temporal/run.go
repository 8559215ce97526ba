// SPDX-License-Identifier: Apache-2.0

package temporal

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/telemetry"
)

// Config configures an Adapter.
type Config struct {
	Server     *Server // not closed
	Namespaces []string
	Nets       []string // workflow types; empty for all
	Questions  float64  // how many stack traces a second are asked for; 0 for none
	Detail     bool     // publish messages of failures

	ledger.Polling
}

// Adapter polls and publishes.
type Adapter struct {
	*ledger.Source
	cfg Config
	ask *rate.Limiter

	state  state
	saved  map[string]savedRun     // of the state file
	nets   map[string]*workflowNet // by namespace and type; nil for one without room
	runs   map[string]*run         // that are open, by run id
	closed map[string]*run         // that closed, and were not read to their end
	queues map[queueKey]*polled
	short  bool // that the budget does not suffice was logged
	odd    map[string]bool

	lists        []*list
	listed       time.Time // when the last complete list of those that run began
	closedListed bool      // those that closed were listed once

	mu       sync.Mutex
	coverage coverage
}

// state is what a restart needs.
type state struct {
	Closed map[string]*cursor  `json:"closed"` // by namespace
	Runs   map[string]savedRun `json:"runs"`   // that are open, by run id
}

// savedRun is how far an open execution was counted.
type savedRun struct {
	Last int64  `json:"last"`           // the last event
	Wait string `json:"wait,omitempty"` // the place where it waits since that event, if the arrival was counted
}

// cursor is how far the closed executions were read. All that closed before At were,
// or were left out.
type cursor struct {
	Since int64            `json:"since"` // events before it are not counted
	At    int64            `json:"at"`
	Seen  map[string]int64 `json:"seen"` // those that were read, by run id: when they closed

	listed int64 // those that closed before it were listed
	newest int64 // the last close that was listed
}

// New checks the configuration and reads the state file. An error about the
// configuration wraps ErrConfig. Adapter.Run returns an error of the server that
// comes at the start and does not go away, such as that it has no such namespace.
func New(cfg Config) (*Adapter, error) {
	if len(cfg.Namespaces) == 0 {
		return nil, fmt.Errorf("%w: no namespace; expected one or more", ErrConfig)
	}
	for _, text := range append(append([]string(nil), cfg.Nets...), cfg.Namespaces...) {
		if strings.ContainsAny(text, `'"\`) || telemetry.CheckName(text) != nil {
			return nil, fmt.Errorf("%w: %q; expected the name of a namespace or a workflow type without quotes", ErrConfig, text)
		}
	}
	if cfg.Questions < 0 || cfg.Questions > 1000 {
		return nil, fmt.Errorf("%w: %g stack traces a second; expected 0 to 1000", ErrConfig, cfg.Questions)
	}
	s := &Adapter{cfg: cfg, nets: map[string]*workflowNet{}, runs: map[string]*run{}, closed: map[string]*run{}, queues: map[queueKey]*polled{}, odd: map[string]bool{}}
	burst := 0
	if cfg.Questions > 0 {
		burst = int(math.Ceil(max(1, cfg.Questions*cfg.Interval.Seconds())))
	}
	s.ask = rate.NewLimiter(rate.Limit(cfg.Questions), burst)
	var err error
	s.Source, err = ledger.NewSource(ledger.Config{Polling: cfg.Polling, Poll: s.poll, Program: "pnagent attach temporal 1", Tool: "Temporal's web page, or temporal workflow", Command: command, Keep: &s.state})
	s.saved, s.lists = s.state.Runs, s.newLists()
	return s, err
}
