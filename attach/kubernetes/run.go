// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// run is what is kept of an object that does work once, such as a Job, or of an object that is
// a part of such a run. Times are microseconds since the Unix epoch, 0 for none.
type run struct {
	id       string // UID
	net      string
	instance string // NAMESPACE/NAME; of a part that of the whole
	part     bool   // it is neither created nor finished as an instance
	started  int64
	over     bool  // it ended
	ended    int64 // 0 also for a run that is over if its object does not say when
	failed   bool
	why      string      // it failed
	last     string      // the step where it failed
	steps    []step      // none once it is over and counted
	arcs     [][2]string // from a step to one after it, by their names; from "" to the first ones
}

func (r *run) uid() string { return r.id }

// step is where a run is, or was.
type step struct {
	key     string // unique in the run
	name    string // of its place and transition; several steps may have the same
	since   int64  // 0 if the object does not say it: then it is when the step was first seen
	over    bool   // it ended, also if its object does not say when
	ended   int64
	failed  bool   // it ended so
	rest    bool   // shown only while no other step of the instance is open; not counted
	pods    string // key of its pods; "" for none
	counted int    // of its pods that ended: how many the controller has taken note of
	whys    []why  // what the object itself says; if it says nothing, its pods do
}

// why is one thing that a step waits for.
type why struct {
	reason stats.Reason
	text   string
	until  int64 // of ReasonDelayed
}

// stamp is a time in JSON as the API has it, in microseconds; null is 0.
type stamp int64

// UnmarshalJSON implements json.Unmarshaler.
func (s *stamp) UnmarshalJSON(text []byte) error {
	var t *time.Time
	if err := json.Unmarshal(text, &t); err != nil {
		return err
	}
	*s = 0
	if t != nil && t.Unix() > 0 && t.UnixMicro() <= telemetry.MaxTime {
		*s = stamp(t.UnixMicro())
	}
	return nil
}

// clock returns a time for people.
func clock(at int64) string { return time.UnixMicro(at).UTC().Format(time.RFC3339) }

// metadata is what is read of an object's metadata.
type metadata struct {
	UID          string            `json:"uid"`
	Namespace    string            `json:"namespace"`
	Name         string            `json:"name"`
	GenerateName string            `json:"generateName"`
	Created      stamp             `json:"creationTimestamp"`
	Labels       map[string]string `json:"labels"`
	Annotations  struct {
		ArgoNode string `json:"workflows.argoproj.io/node-id"`
	} `json:"annotations"`
	Owners []struct {
		Kind       string `json:"kind"`
		Name       string `json:"name"`
		UID        string `json:"uid"`
		Controller bool   `json:"controller"`
	} `json:"ownerReferences"`
}

// check returns an error for an object that the API server cannot have sent.
func (m *metadata) check() error {
	if m.UID == "" || m.Name == "" {
		return fmt.Errorf("an object %q of namespace %q with UID %q; expected a name and a UID", m.Name, m.Namespace, m.UID)
	}
	return nil
}

// instance returns the name of a run.
func (m *metadata) instance() string { return m.Namespace + "/" + m.Name }

// end sets that a run is over, and how it ended.
func (r *run) end(at int64, failed bool, why string) {
	r.over, r.ended, r.failed, r.why = true, at, failed, why
}

// owner returns the name of the owner of a kind, or "".
func (m *metadata) owner(kind string) string {
	for _, o := range m.Owners {
		if o.Controller && o.Kind == kind {
			return o.Name
		}
	}
	return ""
}

// net returns the name of the net of runs that are made of something: by its kind and name, or
// for a run that nothing names of all such runs of its kind.
func (m *metadata) net(kind, name string) string {
	if name == "" {
		return m.Namespace + "/" + kind
	}
	return m.Namespace + "/" + kind + "/" + name
}

// labelName is the label with the name of an application.
const labelName = "app.kubernetes.io/name"

// family returns what the names of runs have in common that are made without a template.
func (m *metadata) family() string {
	return cmp.Or(strings.TrimRight(m.GenerateName, "-."), m.Labels[labelName])
}

// condition is a condition of an object's status.
type condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Since   stamp  `json:"lastTransitionTime"`
}

// conditions are those of an object's status.
type conditions []condition

// is returns a condition that is true, or nil.
func (c conditions) is(kind string) *condition {
	for i := range c {
		if c[i].Type == kind && c[i].Status == "True" {
			return &c[i]
		}
	}
	return nil
}

// colon returns two texts with a colon between, of which the second may be empty.
func colon(a, b string) string {
	if b == "" {
		return a
	}
	return a + ": " + b
}
