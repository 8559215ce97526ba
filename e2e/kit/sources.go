// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"encoding/json"
	"testing"
	"time"
)

// natsOf is what a sidecar's View says of its connection and of its sources.
type natsOf struct {
	NATS struct {
		Connected      bool
		Server, Reason string
	}
	Sources []struct {
		Name, State string
		LastMessage time.Time `json:"last_heard"`
	}
}

// NATS returns what the sidecar shows of its connection to NATS.
func (w Web) NATS(t *testing.T) (v natsOf) {
	t.Helper()
	if err := json.Unmarshal(w.Page(t, "/api/v1/view"), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// UntilView waits until a check accepts a View, and returns it.
func (w Web) UntilView(t *testing.T, what string, check func(View) error) (v View) {
	t.Helper()
	Until(t, what, func() error {
		v = w.View(t)
		return check(v)
	})
	return v
}

// Columns of sourceTable about regions.
const (
	SourceRegion         = 5
	SourceState          = 6
	SourceRegionEpoch    = 16
	SourceRegionPosition = 18
	SourceRegionStandbys = 19
	SourceRegionLag      = 20
)
