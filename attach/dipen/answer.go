// SPDX-License-Identifier: Apache-2.0

package dipen

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/attach/dipen/replica"
)

// Errors of etcd that callers distinguish.
var (
	errCompacted = errors.New("the revision is compacted")
	errDenied    = errors.New("etcd rejects the user's token")
	errTooLarge  = errors.New("answer too large")
)

// integer is a 64-bit number, which etcd writes as text and omits if it is 0.
type integer int64

// UnmarshalJSON reads text or a number.
func (n *integer) UnmarshalJSON(text []byte) error {
	v, err := strconv.ParseInt(strings.Trim(string(text), `"`), 10, 64)
	if err != nil {
		return fmt.Errorf("%.40q is not a 64-bit integer", text)
	}
	*n = integer(v)
	return nil
}

type header struct {
	Cluster  json.Number `json:"cluster_id"` // unsigned, as text
	Revision integer     `json:"revision"`
}

type keyValue struct {
	Key    []byte  `json:"key"`
	Value  []byte  `json:"value"`
	Create integer `json:"create_revision"`
	Mod    integer `json:"mod_revision"`
}

// rangeAnswer is etcd's RangeResponse.
type rangeAnswer struct {
	Header header     `json:"header"`
	Kvs    []keyValue `json:"kvs"`
	More   bool       `json:"more"`
}

// fault is an error of the gateway.
type fault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// watchAnswer is etcd's WatchResponse in a line of the gateway's stream.
type watchAnswer struct {
	Result struct {
		Header   header       `json:"header"`
		Created  bool         `json:"created"`
		Canceled bool         `json:"canceled"`
		Compact  integer      `json:"compact_revision"`
		Reason   string       `json:"cancel_reason"`
		Fragment bool         `json:"fragment"`
		Events   []watchEvent `json:"events"`
	} `json:"result"`
	Error *fault `json:"error"`
}

type watchEvent struct {
	Type string    `json:"type"` // "" is PUT
	KV   keyValue  `json:"kv"`
	Prev *keyValue `json:"prev_kv"`
}

// Codes of gRPC.
const (
	codeOutOfRange      = 11
	codeUnauthenticated = 16
)

func (f *fault) err() error {
	switch {
	case f.Code == codeOutOfRange && strings.Contains(f.Message, "compacted"):
		return errCompacted
	case f.Code == codeUnauthenticated, strings.Contains(f.Message, "revision of auth store is old"):
		return fmt.Errorf("%w: %.200s", errDenied, f.Message)
	}
	return fmt.Errorf("etcd error (code %d): %.200s", f.Code, f.Message)
}

// readRange decodes the answer to a range. It rejects keys outside the prefix
// or without a revision, which etcd does not send.
func readRange(body []byte, prefix string) (*rangeAnswer, error) {
	var a rangeAnswer
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, fmt.Errorf("answer to a range: %w", err)
	}
	if a.Header.Revision <= 0 {
		return nil, errors.New("answer to a range: no revision")
	}
	for i := range a.Kvs {
		if kv := &a.Kvs[i]; !bytes.HasPrefix(kv.Key, []byte(prefix)) || kv.Create <= 0 || kv.Mod < kv.Create {
			return nil, fmt.Errorf("answer to a range: key %.80q, created in revision %d and changed in %d", kv.Key, kv.Create, kv.Mod)
		}
	}
	return &a, nil
}

// readWatch decodes a line of a watch.
func readWatch(line []byte) (*watchAnswer, error) {
	var a watchAnswer
	if err := json.Unmarshal(line, &a); err != nil {
		return nil, fmt.Errorf("answer of a watch: %w", err)
	}
	if a.Error != nil {
		return nil, a.Error.err()
	}
	return &a, nil
}

// event returns a change as an event of the replica, or false for an invalid one.
func (e *watchEvent) event(prefix string) (revision int64, out replica.Event, ok bool) {
	key, within := strings.CutPrefix(string(e.KV.Key), prefix)
	out.Key, out.Value, out.Create, out.Delete = key, e.KV.Value, int64(e.KV.Create), e.Type == "DELETE"
	if e.Prev != nil {
		out.PrevCreate, out.Same = int64(e.Prev.Create), bytes.Equal(e.Prev.Value, e.KV.Value)
	}
	ok = within && e.KV.Mod > 0 && (e.Type == "" || e.Type == "PUT" || out.Delete) &&
		(out.Delete || e.KV.Create > 0 && e.KV.Create <= e.KV.Mod)
	return int64(e.KV.Mod), out, ok
}
