// SPDX-License-Identifier: Apache-2.0

package region

import (
	"strings"
	"testing"
)

func TestTableOfParts(t *testing.T) {
	no := false
	var out strings.Builder
	err := WriteTable(&out, []Status{
		{Part: "east", Owner: "a", Epoch: 3, Commits: 17, Standbys: []StandbyStatus{{Source: "b", Lag: 2}, {Source: "c", Agrees: &no}}, Away: []string{"d"}},
		{Part: "west", Stopped: "lost commits"},
	})
	want := `PART  OWNER  EPOCH  COMMITS  STANDBYS (LAG)                AWAY
east  a      3      17       b (2), c (0) HAS ANOTHER LOG  d
west  none   0      0        none                          none
west has stopped: lost commits
`
	if err != nil || out.String() != want {
		t.Errorf("%v\n%swant\n%s", err, out.String(), want)
	}
}
