// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"

	"github.com/pnagent/pnagent/attach/internal/ledger"
)

// ErrConfig is wrapped by errors about a Config or an Access.
var ErrConfig = ledger.ErrConfig

// Bounds of one cluster.
const (
	maxNets = 10_000
	maxRuns = 200_000 // that exist
)

// Config configures an Adapter.
type Config struct {
	Cluster    *Cluster // not closed
	Namespaces []string // empty for all
	Kinds      []string // jobs, argo, tekton or arc; empty for all
	Detail     bool     // publish messages of failures, and which jobs of GitHub run

	ledger.Polling
}

// kinds are the resources of each kind of work, by the names of Config.Kinds. Their argument is
// Config.Detail.
var kinds = map[string]func(detail bool) []resource{"jobs": jobs, "argo": argo, "tekton": tekton, "arc": arc}

// Adapter watches a cluster and publishes.
type Adapter struct {
	*ledger.Source
	cluster     *Cluster
	collections []*collection
	changes     *changes
	state       state

	// Of the goroutine that polls.
	nets      map[string]*net // by id; nil for one that cannot be published
	runs      map[string]*run // by UID
	pods      map[string]*pod // by UID
	podsOf    map[string][]*pod
	schedules map[string]*schedule // by UID
	refusals  map[string]*refusal  // by UID
	refused   map[string]*refusal  // the last one, by the UID of what it is about
	swept     map[string]bool      // collections that were listed by this process

	mu    sync.Mutex
	sizes sizes
}

// sizes are how many objects are kept.
type sizes struct{ Runs, Pods int }

// state is what a restart needs, as JSON in the state file.
type state struct {
	Begun   map[string]bool     `json:"begun"`   // collections whose objects are counted that were not there before
	Counted map[string]*counted `json:"counted"` // by UID, of the runs that exist
}

// New checks the configuration and reads the state file. An error about the configuration
// wraps ErrConfig.
func New(cfg Config) (*Adapter, error) {
	a := &Adapter{cluster: cfg.Cluster, changes: newChanges(), nets: map[string]*net{}, runs: map[string]*run{}, pods: map[string]*pod{}, podsOf: map[string][]*pod{},
		schedules: map[string]*schedule{}, refusals: map[string]*refusal{}, refused: map[string]*refusal{}, swept: map[string]bool{}}
	namespaces := cfg.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{""}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		if len(cfg.Kinds) > 0 && !slices.Contains(cfg.Kinds, kind) {
			continue
		}
		for _, namespace := range namespaces {
			for _, r := range kinds[kind](cfg.Detail) {
				a.collections = append(a.collections, newCollection(r, namespace, cfg.Cluster, a.changes))
			}
		}
	}
	var err error
	a.Source, err = ledger.NewSource(ledger.Config{Polling: cfg.Polling, Poll: a.poll, Program: "pnagent attach kubernetes 1", Tool: "kubectl, argo or tkn", Command: command, Keep: &a.state})
	if a.state.Begun == nil || a.state.Counted == nil {
		a.state = state{Begun: map[string]bool{}, Counted: map[string]*counted{}}
	}
	return a, err
}

// Run watches and publishes until ctx ends.
func (a *Adapter) Run(ctx context.Context) error {
	stop := a.watch(ctx)
	defer stop()
	return a.Source.Run(ctx)
}

// Look watches until all is listed once, and returns what ledger.Source.Look does.
func (a *Adapter) Look(ctx context.Context, most int) ([]ledger.Standing, error) {
	stop := a.watch(ctx)
	defer stop()
	return a.Source.Look(ctx, most)
}

// watch runs the collections until stop is called, which waits for their ends.
func (a *Adapter) watch(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	for _, c := range a.collections {
		all.Go(func() { c.run(ctx) })
	}
	return func() {
		cancel()
		all.Wait()
	}
}

// poll applies what the collections reported since the last one. It asks the server nothing.
func (a *Adapter) poll(ctx context.Context) error {
	for _, c := range a.collections {
		if err := c.wait(ctx); err != nil {
			return err
		}
	}
	a.SetClock(a.cluster.clock.Ahead(), 0)
	byUID, lists := a.changes.take()
	a.apply(byUID, lists)
	a.present()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sizes = sizes{Runs: len(a.runs), Pods: len(a.pods)}
	return nil
}

// wait waits until the collection was listed once. The error is that of its last request. It
// is permanent if the server refuses the first one.
func (c *collection) wait(ctx context.Context) error {
	select {
	case <-c.ready:
	case <-ctx.Done():
		return fmt.Errorf("listing %s: %w", c.path(), ctx.Err())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if refused := code(c.err); !c.synced && (refused == http.StatusUnauthorized || refused == http.StatusForbidden) {
		return ledger.Permanent(c.err)
	}
	return c.err
}
