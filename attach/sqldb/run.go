// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/pnagent/pnagent/attach/internal/diagram"
	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/internal/cron"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
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

	// Act is the same database, opened by a user that may do what the query retry of the mapping does; nil
	// if the adapter takes no requests. Not closed.
	Act   *Database
	Audit func(telemetry.Action) error // see ledger.Acting

	Show    Show
	Overlap time.Duration // how late a transaction may commit

	ledger.Polling
}

// Show says which data of persons is published.
type Show struct {
	Label  bool // business keys
	Detail bool // assignees and messages of errors
}

// Adapter polls and publishes.
type Adapter struct {
	*ledger.Source
	cfg   Config
	state state

	columns stats.Columns // of all nets; 0 until they are known
	tx      *transaction  // of this poll

	definitions diagram.Definitions
	crons       map[cronText]*cron.Schedule // those of the last poll; nil if not valid
	held        bool                        // the last poll found a token
	flowAt      int64                       // the last poll that read all new rows of flow; 0 for none
	flowTook    time.Duration               // that reading
	future      bool                        // times in the future were logged
	probed      bool

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
	acting := ledger.Acting{Audit: cfg.Audit}
	if cfg.Act != nil {
		if cfg.Mapping.queries[acts] == nil {
			return nil, fmt.Errorf("%w: the mapping %s has no query %s, so pnagent cannot act", ErrConfig, cfg.Mapping.Name, acts)
		}
		acting.Retry = s.retry
	}
	var err error
	s.Source, err = ledger.NewSource(ledger.Config{Polling: cfg.Polling, Poll: s.poll, Program: stateWord + cfg.Mapping.Name, Tool: cfg.Mapping.Tool, Command: cfg.Mapping.commandFor, Acting: acting, Keep: &s.state})
	s.definitions = diagram.Definitions{Source: s.Source, Wanted: cfg.Nets, Rows: "rows", Tasks: cfg.Mapping.queries["model"] == nil, Log: cfg.Log, List: s.readDefinitions, Read: s.readModel}
	return s, err
}

// retry makes the engine try the job of a token again.
func (s *Adapter) retry(ctx context.Context, t *ledger.Token) error {
	done := false
	err := s.cfg.Act.transact(ctx, &sql.TxOptions{}, func(tx *transaction) error {
		return tx.each(ctx, s.cfg.Mapping, acts, map[string]any{"token": t.ID}, func([]any) error {
			done = true
			return nil
		})
	})
	if err == nil && !done {
		err = errors.New("the engine does not try it again: meanwhile it runs, or is gone")
	}
	return err
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
	q := s.cfg.Mapping.queries
	flow, starts := q["ended"] != nil, q["started"] != nil
	if q["flow"] != nil {
		err := s.each(ctx, "flow", nil, func(row []any) error {
			flow = flow && asNumber(row[0]) != 0
			return nil
		})
		if err != nil {
			return err
		}
	}
	s.columns = ledger.Presence
	if flow && starts {
		s.columns |= ledger.Flow
	} else if flow { // the engine stores when an activity ended, and not when it began
		s.columns |= stats.ColDepartures | stats.ColFirings | stats.ColLastFiring
	}
	if q["schedules"] != nil {
		s.columns |= stats.ColNextDue
	}
	if flow && (s.cfg.Mapping.task != "" && starts || q["created"] != nil && q["finished"] != nil) {
		s.columns |= ledger.Instances
	}
	return nil
}
