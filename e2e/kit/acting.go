// SPDX-License-Identifier: Apache-2.0

package kit

import (
	_ "embed"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// ClaimProcess is the example process, of which large claims wait for their manager.
func ClaimProcess(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "examples", "claim.bpmn"))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Says fails the test unless a command ended with a code and wrote a text.
func (r Result) Says(t *testing.T, code int, want string) {
	t.Helper()
	if r.Code != code || !strings.Contains(r.Out+r.Err, want) {
		t.Errorf("got %d:\n%s%s\nwant %d: %s", r.Code, r.Out, r.Err, code, want)
	}
}

// OrdersNet prices an order, looks at the price, books and labels it. Beside
// that, what is in "waiting" asks a service that never answers.
//
//go:embed nets/orders.pnml
var OrdersNet string

// Asked is what an action says, as far as tests look at it.
type Asked struct {
	Net, Source, Transition, Key string
	Instance, Attempt            int
	Tokens                       []AskedToken
}

// AskedToken is a token of a request to a program that works.
type AskedToken struct {
	Place string
	ID    uint64
	Data  struct{ Order, Total int }
}

// ParseAsked parses the body of a request to a program that works.
func ParseAsked(t *testing.T, body []byte) (a Asked) {
	t.Helper()
	if err := json.Unmarshal(body, &a); err != nil || len(a.Tokens) != 1 {
		t.Errorf("got %s, %v; want an action of one token", body, err)
		a.Tokens = make([]AskedToken, 1)
	}
	return a
}
