// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"
)

// A request with a wrong value is answered with the field, what was found, and what was
// expected.
func TestARequestWithAWrongValueNamesItsField(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{`{"tokens":-1}`, `field "tokens": found number -1; expected a whole number of 0 or more, as in FORM`},
		{`{"tokens":1.5}`, `field "tokens": found number 1.5; expected a whole number of 0 or more, as in FORM`},
		{`{"tokens":"1"}`, `field "tokens": found string; expected a whole number of 0 or more, as in FORM`},
		{`{"place":7}`, `field "place": found number; expected a string, as in FORM`},
		{`{"scope":[]}`, `field "scope": found array; expected a whole number of 0 or more, as in FORM`},
		{`7`, `found number; expected FORM`},
		{`{"token":1}`, `unknown field "token"; expected FORM`},
	} {
		var into struct {
			Place  string  `json:"place"`
			Tokens uint64  `json:"tokens"`
			Scope  *uint32 `json:"scope"`
		}
		if err := decodeRequest([]byte(c.body), &into, "FORM"); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v; want %s", c.body, err, c.want)
		}
	}
}
