// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/pnagent/pnagent/attach/lines/replay"
)

// errStanding is wrapped by errors about lines that are no state; nothing of them is used.
var errStanding = errors.New("nothing of the state is used")

// Stand makes the open instances of a net, or those whose names begin with prefix, those
// that the lines name: each line has a place, the tokens in it, and since when. net may be
// "" if there is only one.
func (f *Feed) Stand(body []byte, net, prefix string) error {
	a := f.a
	k, err := a.netOf(net)
	if err != nil {
		return err
	}
	now := a.clock()
	f.read(body, now)
	defer func() { f.taken, f.events, f.count = f.count, f.events[:0], Counters{} }()
	if len(f.events) != int(f.count.Lines) {
		return fmt.Errorf("%w: %d of %d lines are not tokens in a place", errStanding, int(f.count.Lines)-len(f.events), f.count.Lines)
	}
	state := map[string][]replay.Standing{}
	for i := range f.events {
		e := &f.events[i]
		if e.kind != puts || e.tokens < 1 || e.net != k || !bytes.HasPrefix(e.instance, []byte(prefix)) {
			return fmt.Errorf("%w: line of instance %q; expected tokens in a place of the net, of an instance that begins with %q", errStanding, e.instance, prefix)
		}
		state[string(e.instance)] = append(state[string(e.instance)], replay.Standing{Place: int(e.index), Tokens: uint32(e.tokens), Since: min(e.time, now)})
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.window.all(a.apply)
	a.nets[k].Stand(prefix, state, now)
	a.counters.add(&f.count)
	a.heard = true
	return nil
}

// netOf returns the index of a net by its id.
func (a *Attachment) netOf(id string) (int32, error) {
	if id == "" && len(a.cfg.Nets) == 1 {
		return 0, nil
	}
	for k := range a.defs {
		if a.defs[k].ID == id {
			return int32(k), nil
		}
	}
	return 0, fmt.Errorf("%w: net %q; expected one that is replayed", errStanding, id)
}

// StateHandler returns a handler that reads the state of an engine in the body of a POST:
// the lines of Feed.Stand, with the parameters net and prefix.
func (a *Attachment) StateHandler() http.Handler {
	return a.posts(1, http.StatusBadRequest, func(f *Feed, body []byte, r *http.Request) error {
		q := r.URL.Query()
		return f.Stand(body, q.Get("net"), q.Get("prefix"))
	})
}

// bodyOf reads the body of a request. If it cannot be used, bodyOf answers and returns false.
func bodyOf(w http.ResponseWriter, r *http.Request) (body []byte, ok bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		http.Error(w, fmt.Sprintf("body of more than %d bytes; expected several requests", MaxBody), http.StatusRequestEntityTooLarge)
		return nil, false
	}
	if err != nil {
		http.Error(w, "the body is incomplete; none of it is used", http.StatusBadRequest)
		return nil, false
	}
	return body, true
}

// StartedHeader is the header of an answer with the time when the adapter was started, in
// microseconds since the Unix epoch. If it changes, the writer sends its state again.
const StartedHeader = "Pnagent-Started"

// answer writes what a feed made of the lines of a request.
func (a *Attachment) answer(w http.ResponseWriter, f *Feed) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set(StartedHeader, strconv.FormatInt(a.started, 10))
	_ = json.NewEncoder(w).Encode(f.taken.answer()) // fails only if the client has disconnected
}
