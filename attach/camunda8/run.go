// SPDX-License-Identifier: Apache-2.0

package camunda8

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/pnagent/pnagent/attach/internal/diagram"
	"github.com/pnagent/pnagent/attach/internal/ledger"
)

// ErrConfig is wrapped by errors about the configuration.
var ErrConfig = ledger.ErrConfig

// Config configures an Adapter.
type Config struct {
	Address string        // such as http://127.0.0.1:8080
	Client  *http.Client  // with the credentials
	Nets    []string      // process ids; empty for all
	Detail  bool          // publish assignees, correlation keys and messages of errors
	Tokens  int           // most tokens, and things that they wait for of one kind, that are kept
	Overlap time.Duration // how late the data of one partition may come after those of another

	ledger.Polling
}

// Adapter polls and publishes.
type Adapter struct {
	*ledger.Source
	cfg    Config
	client *client
	state  state

	definitions diagram.Definitions
	absent      map[string]bool // searches that the API lacks, since the list of definitions was read
	held        bool            // the last poll found an element instance that is active

	requests atomic.Uint64 // that were sent, as of the last poll
}

// state is what a restart needs, as JSON in the state file.
type state struct {
	Started diagram.Cursor `json:"started"`
	Ended   diagram.Cursor `json:"ended"`
}

// New checks the configuration and reads the state file. An error about the
// configuration wraps ErrConfig.
func New(cfg Config) (*Adapter, error) {
	switch {
	case cfg.Overlap < 0 || cfg.Overlap > time.Hour:
		return nil, fmt.Errorf("%w: overlap of %v; expected 0 to 1h", ErrConfig, cfg.Overlap)
	case cfg.Tokens < 1:
		return nil, fmt.Errorf("%w: at most %d tokens; expected more", ErrConfig, cfg.Tokens)
	}
	a := &Adapter{cfg: cfg, absent: map[string]bool{}}
	var err error
	if a.client, err = newClient(cfg.Address, cfg.Client); err != nil {
		return nil, err
	}
	a.Source, err = ledger.NewSource(ledger.Config{Polling: cfg.Polling, Poll: a.poll, Program: "pnagent attach camunda8 1", Tool: "Camunda Operate and Tasklist, or Camunda's REST API", Command: command, Keep: &a.state})
	a.definitions = diagram.Definitions{Source: a.Source, Wanted: cfg.Nets, Rows: "element instances", Behind: true, Log: cfg.Log, List: a.readDefinitions, Read: a.readModel}
	return a, err
}

// Check asks for one item of each search, and returns the version of the gateway and
// the searches that its version does not have. The error is about a search that is
// refused.
func Check(ctx context.Context, address string, transport *http.Client) (version string, absent []string, err error) {
	c, err := newClient(address, transport)
	if err != nil {
		return "", nil, err
	}
	body, err := c.do(ctx, http.MethodGet, "/topology", nil, maxBody)
	if err != nil {
		return "", nil, err
	}
	var topology struct{ GatewayVersion string }
	if err := json.Unmarshal(body, &topology); err != nil {
		return "", nil, fmt.Errorf("GET /topology: %w", err)
	}
	for _, path := range searches {
		_, err := c.do(ctx, http.MethodPost, path+"/search", query{Page: pageRequest{Limit: 1}}, maxBody)
		switch {
		case isOptional(path, err):
			absent = append(absent, path)
		case err != nil:
			return topology.GatewayVersion, nil, err
		}
	}
	return topology.GatewayVersion, absent, nil
}
