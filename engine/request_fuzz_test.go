// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzRequest passes any body as a request to inject or fire: it is refused with what
// is expected, or names an instance that is not negative.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"instance":0,"place":"id","tokens":1,"data":{}}`))
	f.Add([]byte(`{"instance":"berlin/007","place":"id","data":null}`))
	f.Add([]byte(`{"instance":[]}`))
	e := &Engine{named: "berlin", digits: 3}
	f.Fuzz(func(t *testing.T, body []byte) {
		r := struct {
			Instance instance        `json:"instance"`
			Place    string          `json:"place"`
			Tokens   uint32          `json:"tokens"`
			Data     json.RawMessage `json:"data"`
		}{}
		if err := decodeRequest(body, &r, "the form"); err != nil {
			if text := err.Error(); !strings.Contains(text, "expected") {
				t.Fatalf("%q does not name what is expected", text)
			}
			return
		}
		if len(body) > maxRequest {
			t.Fatalf("%d bytes are taken", len(body))
		}
		if data := dataOf(r.Data); data != nil && !json.Valid(data) {
			t.Fatalf("%q is not JSON", data)
		}
		if n, err := r.Instance.number(e); err != nil && n != 0 {
			t.Fatalf("instance %d, %v", n, err)
		}
	})
}
