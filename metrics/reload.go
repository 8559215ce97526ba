// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
)

// ErrNoReload means that there is no configuration to read again.
var ErrNoReload = errors.New("no configuration to read again")

// reloads is the state of reading the configuration again.
type reloads struct {
	one sync.Mutex // held during a reload

	mu     sync.Mutex
	failed bool  // whether the last reload failed
	at     int64 // of the last successful reload, or the start; microseconds since the Unix epoch
}

// Reload reads the configuration again, see [Config.Reload], one at a time. An
// error leaves everything as it was.
func (e *Exporter) Reload() error {
	if e.cfg.Reload == nil {
		return ErrNoReload
	}
	e.reloads.one.Lock()
	defer e.reloads.one.Unlock()
	err := e.cfg.Reload()
	e.reloads.mu.Lock()
	defer e.reloads.mu.Unlock()
	e.reloads.failed = err != nil
	if err == nil {
		e.reloads.at = e.cfg.Now().UnixMicro()
	}
	return err
}

// serveReload answers POST /-/reload, as in Prometheus.
func (e *Exporter) serveReload(w http.ResponseWriter, _ *http.Request) {
	switch err := e.Reload(); {
	case errors.Is(err, ErrNoReload):
		http.Error(w, fmt.Sprintf("Not reloaded: %v.", err), http.StatusNotFound)
	case err != nil:
		http.Error(w, fmt.Sprintf("Not reloaded, and nothing was changed:\n%v", err), http.StatusInternalServerError)
	default:
		fmt.Fprintln(w, "Reloaded.")
	}
}

// lastReload returns whether the last reload succeeded, and when one last did.
func (e *Exporter) lastReload() (good float64, at int64) {
	e.reloads.mu.Lock()
	defer e.reloads.mu.Unlock()
	if !e.reloads.failed {
		good = 1
	}
	return good, e.reloads.at
}
