// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/pnagent/pnagent/telemetry"
)

// reads are answers to commands. A command without an answer is wanted, and returns nothing
// until it was asked.
type reads struct {
	answers map[string]any // by commandKey: nil, an int64, a string, or a []any of these
	wanted  [][]string     // in the order in which they were asked
	asked   map[string]bool
}

func newReads() *reads { return &reads{answers: map[string]any{}, asked: map[string]bool{}} }

// commandKey identifies a command with its arguments.
func commandKey(command []string) string { return strings.Join(command, "\x00") }

// take returns the commands that are wanted, and forgets them.
func (r *reads) take() [][]string {
	out := r.wanted
	r.wanted = nil
	return out
}

func (r *reads) answer(command ...string) any {
	key := commandKey(command)
	if !r.asked[key] {
		r.asked[key] = true
		r.wanted = append(r.wanted, command)
	}
	return r.answers[key]
}

// number returns an answer that is a number; 0 for another one.
func (r *reads) number(command ...string) int64 {
	switch v := r.answer(command...).(type) {
	case int64:
		return v
	case string:
		return number(v)
	}
	return 0
}

// texts returns an answer that is a list of texts; one that is not there is "".
func (r *reads) texts(command ...string) []string {
	list, _ := r.answer(command...).([]any)
	out := make([]string, len(list))
	for i, v := range list {
		out[i], _ = v.(string)
	}
	return out
}

// text returns an answer that is a text, or "".
func (r *reads) text(command ...string) string {
	text, _ := r.answer(command...).(string)
	return text
}

// head returns the first elements of a list, and tail the last ones, at most most.
func (r *reads) head(key string, most int) []string {
	return r.texts("LRANGE", key, "0", strconv.Itoa(most-1))
}

func (r *reads) tail(key string, most int) []string {
	return r.texts("LRANGE", key, strconv.Itoa(-most), "-1")
}

// fields returns fields of a hash. A field that is not there is "".
func (r *reads) fields(key string, names ...string) map[string]string {
	values := r.texts(append([]string{"HMGET", key}, names...)...)
	out := map[string]string{}
	for i, v := range values[:min(len(values), len(names))] {
		if v != "" {
			out[names[i]] = v
		}
	}
	return out
}

// exists reports whether there is a key.
func (r *reads) exists(key string) bool { return r.number("EXISTS", key) > 0 }

// scored is a member of a sorted set.
type scored struct {
	member string
	score  float64
}

// lowest returns the members of a sorted set with the lowest scores, at most most.
func (r *reads) lowest(key string, most int) []scored {
	return pairs(r.texts("ZRANGE", key, "0", strconv.Itoa(most-1), "WITHSCORES"))
}

// pairs returns the members of an answer with scores.
func pairs(all []string) (out []scored) {
	for i := 0; i+1 < len(all); i += 2 {
		score, _ := strconv.ParseFloat(all[i+1], 64) // Redis writes it
		out = append(out, scored{all[i], score})
	}
	return out
}

// number returns the number that a text is; 0 for another text.
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// at returns a time in microseconds of a number of units of that many microseconds; 0 for a
// number that is no time.
func at(n, unit float64) int64 {
	if n *= unit; n > 0 && n <= float64(telemetry.MaxTime) {
		return int64(n)
	}
	return 0
}

const (
	milliseconds = 1e3
	seconds      = 1e6
)

// millis returns the time of a text with milliseconds since the Unix epoch; 0 if it has none.
func millis(text string) int64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return at(n, milliseconds)
}

// clock returns the time of a text such as 2026-11-29T21:18:51.358Z; 0 if it has none.
func clock(text string, layouts ...string) int64 {
	for _, layout := range append(layouts, time.RFC3339Nano) {
		if t, err := time.Parse(layout, text); err == nil {
			return at(float64(t.UnixMicro()), 1)
		}
	}
	return 0
}

// parsed reads JSON. What is not there, or not of its type, stays empty.
func parsed[V any](text string) *V {
	v := new(V)
	_ = json.Unmarshal([]byte(text), v) // what another program wrote
	return v
}
