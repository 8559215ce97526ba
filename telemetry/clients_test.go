// SPDX-License-Identifier: Apache-2.0

package telemetry_test

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/telemetry"
)

// What the packages for other languages write, byte for byte, is read: a full snapshot, and a bye in
// parts that together have its rows.
func TestMessagesOfThePackagesOfOtherLanguagesAreRead(t *testing.T) {
	text, err := os.ReadFile("../clients/testdata/orders.hex")
	if err != nil {
		t.Fatal(err)
	}
	pnml, err := os.ReadFile("../clients/testdata/orders.pnml")
	if err != nil {
		t.Fatal(err)
	}
	var full *telemetry.Snapshot
	tokens, firings := map[int]uint64{}, uint64(0)
	for i, line := range strings.Fields(string(text)) {
		message, err := hex.DecodeString(line)
		if err != nil {
			t.Fatal(err)
		}
		var d telemetry.Decoder
		s := &telemetry.Snapshot{}
		if err := d.Decode(message, s); err != nil {
			t.Fatalf("message %d: %v", i+1, err)
		}
		if s.Digest != telemetry.Digest(pnml) || s.Full != (i == 0) || s.Bye != (i > 0) || s.Seq != uint64(i+1) {
			t.Errorf("message %d: digest %s, full %v, bye %v, seq %d", i+1, s.Digest, s.Full, s.Bye, s.Seq)
		}
		if i == 0 {
			full = s
			continue
		}
		for row, at := range s.PlaceIndex {
			tokens[int(at)] = s.Rows.Places[row].Tokens
		}
		for row := range s.TransitionIndex {
			firings += s.Rows.Transitions[row].Firings
		}
	}
	if p := full.Rows.Places; len(p) != 2 || p[0].Tokens != 7 || p[1].Tokens != 3 || len(p[0].Stuck) != 5 || tokens[0] != 7 || tokens[1] != 3 || firings != 2 {
		t.Errorf("places %+v, %v tokens and %d firings of the parts; want 7 and 3 tokens, 5 of them listed, and 2 firings", p, tokens, firings)
	}
}
