// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry/wire"
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The example in the README is a valid snapshot.
func TestExampleOfTheReadmeIsASnapshot(t *testing.T) {
	found := regexp.MustCompile(`(?s)application/json '(\{.*?\n\})'`).FindStringSubmatch(readme(t))
	if found == nil {
		t.Fatal("no example found")
	}
	text := strings.NewReplacer("'$now'", "1790000000000000", "'$digest'", Digest(nil)).Replace(found[1])
	var s Snapshot
	if err := new(Decoder).DecodeJSON([]byte(text), &s); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if s.Rows.Columns != stats.ColTokens|stats.ColOldest|stats.ColFirings || s.Rows.Places[0].Tokens != 3 || s.Rows.Transitions[0].Firings != 7 {
		t.Errorf("got %+v", s)
	}
}

// The README explains every field and every reason.
func TestReadmeNamesEveryFieldAndReason(t *testing.T) {
	text := readme(t)
	for _, r := range Reasons() {
		if !strings.Contains(text, "`"+string(r)+"`") {
			t.Errorf("reason %s is not explained", r)
		}
	}
	messages := wire.Messages()
	for i := range messages.Len() {
		m := messages.Get(i)
		for j := range m.Fields().Len() {
			if name := m.Fields().Get(j).Name(); !strings.Contains(text, "`"+string(name)+"`") {
				t.Errorf("field %s.%s is not explained", m.Name(), name)
			}
		}
	}
	checkReasonNumbers(t, text, messages.Get(0).ParentFile().Enums().Get(0).Values())
}

// checkReasonNumbers checks that the reasons of the wire and of stats have the
// same numbers.
func checkReasonNumbers(t *testing.T, text string, values protoreflect.EnumValueDescriptors) {
	t.Helper()
	for i := range values.Len() {
		v := values.Get(i)
		if !strings.Contains(text, "`"+string(v.Name())+"`") {
			t.Errorf("%s is not explained", v.Name())
		}
		if want := "REASON_" + strings.ToUpper(stats.Reason(v.Number()).String()); string(v.Name()) != want {
			t.Errorf("number %d is %s on the wire and %s in stats", v.Number(), v.Name(), want)
		}
	}
}
