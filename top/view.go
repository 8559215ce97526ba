// SPDX-License-Identifier: Apache-2.0

package top

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Bounds on what is read from a sidecar. A View of 1,000 nets with 100 places
// and as many transitions each is 100 MB and 1.5 million objects.
const (
	maxBytes   = 256 << 20
	maxObjects = 4 << 20
)

// ErrTooLarge is returned where a document is beyond what is read.
var ErrTooLarge = errors.New("too large")

// View is what a sidecar serves at /api/v1/view, as far as it is shown. A nil
// pointer is a figure that no source knows. Ages are seconds as of the answer.
type View struct {
	At         time.Time `json:"at"` // by the sidecar's clock
	Generation uint64    `json:"generation"`
	Nets       []Net     `json:"nets"`
	Sources    []Source  `json:"sources"`
	Traffic    struct {
		Messages uint64 `json:"messages"`
	} `json:"traffic"`
	NATS *NATS `json:"nats"`    // nil where the sidecar does not say
	Up   *NATS `json:"up_nats"` // nil where it has no connection of its own to a sidecar above
	Deaf bool  `json:"deaf"`    // what is said of sources is from before a break
}

// NATS is a connection of the sidecar. While the one to engines is not connected,
// everything else in the View is as of Since.
type NATS struct {
	Connected bool      `json:"connected"`
	Since     time.Time `json:"since"`
	Reason    string    `json:"reason"`
}

// Net is one net, summed over its sources.
type Net struct {
	ID          string       `json:"id"`
	Name        string       `json:"name"`
	Since       time.Time    `json:"since"`
	Up          uint64       `json:"sources_up"`
	Stale       uint64       `json:"sources_stale"`
	Instances   *Instances   `json:"instances"`
	Places      []Place      `json:"places"`
	Transitions []Transition `json:"transitions"`
	Blocks      []Block      `json:"blocks"`
	Waiting     *uint64      `json:"waiting"`
}

// Instances counts a net's instances.
type Instances struct {
	Finished   uint64 `json:"finished"`
	Failed     uint64 `json:"failed"`
	Active     uint64 `json:"active"`
	Deadlocked uint64 `json:"deadlocked"`
}

// Place is one place of a net.
type Place struct {
	ID            string            `json:"id"`
	Name          string            `json:"name"`
	Final         bool              `json:"final"` // no transition takes tokens from it
	Tokens        *uint64           `json:"tokens"`
	Arrivals      *uint64           `json:"arrivals"`
	Departures    *uint64           `json:"departures"`
	Instances     *uint64           `json:"instances"`
	OldestAge     *float64          `json:"oldest_age_seconds"`
	MeanAge       *float64          `json:"mean_age_seconds"`
	LastInjection time.Time         `json:"last_injection"`
	OlderThan     map[string]uint64 `json:"older_than"` // by stats.AgeStep.Label
	Dwell         *Histogram        `json:"dwell"`
	Stuck         []Token           `json:"stuck"`
}

// Histogram sums up durations, in seconds.
type Histogram struct {
	Count uint64   `json:"count"`
	Sum   float64  `json:"sum"`
	P50   *float64 `json:"p50"`
	P95   *float64 `json:"p95"`
	P99   *float64 `json:"p99"`
}

// Token is one of a place's oldest tokens.
type Token struct {
	Instance string  `json:"instance"`
	Age      float64 `json:"age_seconds"`
	Waits    []Wait  `json:"waits"`
}

// Wait is what one output transition of a token's place waits for.
type Wait struct {
	Transition string    `json:"transition"`
	Reason     string    `json:"reason"`
	Place      string    `json:"place"`
	Count      uint64    `json:"count"`
	Until      time.Time `json:"until"`
}

// Transition is one transition of a net.
type Transition struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	Firings    *uint64    `json:"firings"`
	Failures   *uint64    `json:"failures"`
	Retries    *uint64    `json:"retries"`
	Cancels    *uint64    `json:"cancels"`
	Timeouts   *uint64    `json:"timeouts"`
	Enabled    *uint64    `json:"enabled"`
	EnabledAge *float64   `json:"enabled_age_seconds"`
	Running    *uint64    `json:"running"`
	RunningAge *float64   `json:"running_age_seconds"`
	LastFiring time.Time  `json:"last_firing"`
	Duration   *Histogram `json:"duration"`
}

// Block counts the instances in which one condition holds a transition back.
type Block struct {
	Transition string `json:"transition"`
	Place      string `json:"place"`
	Reason     string `json:"reason"`
	Instances  uint64 `json:"instances"`
}

// Source is one source of one net.
type Source struct {
	Name         string    `json:"name"`
	Net          string    `json:"net"`
	Region       string    `json:"region"`
	Fence        uint64    `json:"fence"` // its number as the region's owner; 0 for none
	Position     *uint64   `json:"position"`
	Standbys     *uint64   `json:"standbys"`
	Lag          *uint64   `json:"lag"`
	Setbacks     uint64    `json:"setbacks"`
	State        string    `json:"state"`          // up, stale, gone, undefined or refused
	Reason       string    `json:"reason"`         // why it is refused
	Stopped      string    `json:"region_stopped"` // why the region does not play on
	Seq          uint64    `json:"seq"`
	LastHeard    time.Time `json:"last_heard"`
	LastHeardAge float64   `json:"last_heard_age_seconds"`
	Interval     float64   `json:"interval_seconds"`
	Skew         float64   `json:"skew_seconds"`
	SkewBeyond   bool      `json:"skew_beyond"`
	Gaps         uint64    `json:"gaps"`
	Duplicates   uint64    `json:"duplicates"`
	Restarts     uint64    `json:"restarts"`
}

// Alarms is what a sidecar serves at /api/v1/alarms, as far as it is shown.
type Alarms struct {
	Suppressed uint64  `json:"notifications_suppressed"`
	Active     []Alarm `json:"active"`
}

// Alarm is one that is active. At most one of Place, Transition and Source says
// what it is about; without one it is about the whole net.
type Alarm struct {
	Index      uint64    `json:"index"`
	Alarm      string    `json:"alarm"`
	Net        string    `json:"net"`
	Place      string    `json:"place"`
	Transition string    `json:"transition"`
	Source     string    `json:"source"`
	Region     string    `json:"region"`
	Raised     time.Time `json:"raised"`
	Age        float64   `json:"age_seconds"`
	Affected   uint64    `json:"affected"`
	Text       string    `json:"text"`
}

// Decode reads a View. It returns ErrTooLarge for one beyond 256 MiB or four
// million objects, and other errors for what is no View.
func Decode(r io.Reader) (*View, error) {
	v := &View{}
	if err := decode(r, v); err != nil {
		return nil, fmt.Errorf("reading the view: %w", err)
	}
	if v.Generation == 0 || v.At.IsZero() {
		return nil, errors.New("reading the view: it has no generation; is this a sidecar's address?")
	}
	return v, nil
}

// DecodeAlarms reads the active alarms, with the bounds of Decode.
func DecodeAlarms(r io.Reader) (*Alarms, error) {
	a := &Alarms{}
	if err := decode(r, a); err != nil {
		return nil, fmt.Errorf("reading the alarms: %w", err)
	}
	return a, nil
}

func decode(r io.Reader, into any) error {
	text, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return err
	}
	// Each element of a list of ours is an object, or null by mistake. Counted
	// before it is decoded, so a small text cannot become a large document.
	if len(text) > maxBytes || bytes.Count(text, []byte("{"))+bytes.Count(text, []byte("null")) > maxObjects {
		return ErrTooLarge
	}
	return json.Unmarshal(text, into)
}
