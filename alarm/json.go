// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"encoding/json"
	"io"
	"net/http"
	"time"
)

// Handler answers GET with the JSON form of the State that the function
// returns, see WriteJSON. Ages are as of the request.
func Handler(state func() *State) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		if r.Method == http.MethodGet {
			_ = WriteJSON(w, state(), time.Now().UnixMicro()) // fails only where nobody reads
		}
	})
}

type stateDoc struct {
	LastChange *time.Time `json:"last_change,omitempty"`
	Suppressed uint64     `json:"notifications_suppressed"`
	Active     []alarmDoc `json:"active"`
}

type alarmDoc struct {
	Index      uint32    `json:"index"`
	Alarm      string    `json:"alarm"`
	Net        string    `json:"net,omitempty"`
	Place      string    `json:"place,omitempty"`
	Transition string    `json:"transition,omitempty"`
	Source     string    `json:"source,omitempty"`
	Region     string    `json:"region,omitempty"`
	Raised     time.Time `json:"raised"`
	Since      time.Time `json:"since"`
	Age        float64   `json:"age_seconds"`
	Affected   uint64    `json:"affected"`
	Text       string    `json:"text"`
}

// WriteJSON writes the State as one JSON object and a newline: the active
// alarms by index. Names of fields never change; fields may be added. Times are
// RFC 3339 in UTC, age_seconds is the time from since to now (microseconds
// since the Unix epoch), and what an alarm is not about is an absent field.
func WriteJSON(w io.Writer, s *State, now int64) error {
	doc := stateDoc{Suppressed: s.Suppressed, Active: make([]alarmDoc, len(s.Active))}
	if s.LastChange != 0 {
		at := time.UnixMicro(s.LastChange).UTC()
		doc.LastChange = &at
	}
	for i := range s.Active {
		a := &s.Active[i]
		place, transition, source, region := a.About()
		doc.Active[i] = alarmDoc{Index: a.Index, Alarm: a.Kind.String(), Net: a.Net, Place: place, Transition: transition, Source: source, Region: region,
			Raised: time.UnixMicro(a.Raised).UTC(), Since: time.UnixMicro(a.Since).UTC(),
			Age: float64(max(now-a.Since, 0)) / 1e6, Affected: a.Affected, Text: a.Text}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(doc)
}
