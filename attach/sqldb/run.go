// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/pnagent/pnagent/attach/internal/diagram"
	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/stats"
)

// Config configures an Adapter.
type Config struct {
	Database *Database // not closed
	Mapping  *Mapping
	Zone     *time.Location // of times without a zone; nil is UTC
	Nets     []string       // keys of definitions; empty for all

	// ByVersion makes a net of each version of a definition, KEY:VERSION, instead of
	// one of all.
	ByVersion bool

	Show    Show
	Overlap time.Duration // how late a transaction may commit

	ledger.Polling
}

// Show says which data of persons is published.
type Show struct {
	Label  bool // business keys
	Detail bool // assignees, ids of workers and messages of errors
}

// Adapter polls and publishes.
type Adapter struct {
	*ledger.Source
	cfg   Config
	state state

	columns stats.Columns // of all nets; 0 until they are known
	tx      *transaction  // of this poll

	definitions  diagram.Definitions
	first        map[string]int64 // tokens without a time, by id: when they were first seen
	held         bool             // the last poll found a token
	future       bool             // times in the future were logged
	probed       bool
	at           int64 // the time of this poll, by the host's clock
	presenceAt   int64
	presenceTook time.Duration

	ageless atomic.Uint64 // times that a token had no time
}

// New checks the configuration and reads the state file. An error about the
// configuration wraps ErrConfig. Adapter.Run returns an error that wraps ErrProbe
// if the database lacks something at the start.
func New(cfg Config) (*Adapter, error) {
	if cfg.Overlap < 0 || cfg.Overlap > time.Hour {
		return nil, fmt.Errorf("%w: overlap of %v; expected 0 to 1h", ErrConfig, cfg.Overlap)
	}
	s := &Adapter{cfg: cfg}
	var err error
	s.Source, err = ledger.NewSource(ledger.Config{Polling: cfg.Polling, Poll: s.poll, Program: stateWord + cfg.Mapping.Name, Tool: cfg.Mapping.Tool, Keep: &s.state})
	s.definitions = diagram.Definitions{Source: s.Source, Wanted: cfg.Nets, Rows: "rows", Tasks: cfg.Mapping.queries["tasks"] != nil, Log: cfg.Log, List: s.readDefinitions, Read: s.readModel}
	return s, err
}

// probe checks once what the database has.
func (s *Adapter) probe(ctx context.Context) error {
	version, err := Probe(ctx, s.cfg.Database, s.cfg.Mapping)
	if errors.Is(err, ErrProbe) {
		err = ledger.Permanent(err)
	}
	if err != nil {
		return err
	}
	s.probed = true
	s.cfg.Log.Info("the database fits the mapping", "mapping", s.cfg.Mapping.Name, "version", version)
	return nil
}

// setColumns sets what can be published. If the engine keeps no history, what the adapter
// would count is absent, and not 0.
func (s *Adapter) setColumns(ctx context.Context) error {
	q, flow := s.cfg.Mapping.queries, true
	if q["flow"] != nil {
		err := s.each(ctx, "flow", nil, func(row []any) error {
			flow = asNumber(row[0]) != 0
			return nil
		})
		if err != nil {
			return err
		}
	}
	s.columns = ledger.Presence
	if flow {
		s.columns |= ledger.Flow
	}
	if flow && q["created"] != nil && q["finished"] != nil {
		s.columns |= ledger.Instances
	}
	return nil
}
