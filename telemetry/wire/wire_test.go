// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Both forms of the golden messages are one message.
func TestProtobufAndJSONAreOneMessage(t *testing.T) {
	golden, err := filepath.Glob("../testdata/snapshot*.pb")
	if err != nil || len(golden) < 7 {
		t.Fatalf("%d golden messages, %v", len(golden), err)
	}
	for _, file := range golden {
		binary, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(strings.TrimSuffix(file, ".pb") + ".json")
		if err != nil {
			t.Fatal(err)
		}
		got, err := AppendJSON(nil, "Snapshot", binary, false)
		if err != nil {
			t.Fatal(err)
		}
		var want, compact bytes.Buffer // the spaces of protojson's output are not stable
		if json.Compact(&want, text) != nil || json.Compact(&compact, got) != nil || !bytes.Equal(want.Bytes(), compact.Bytes()) {
			t.Errorf("%s: got %s, want %s", file, &compact, &want)
		}
		back, err := FromJSON("Snapshot", text)
		if err != nil || len(back) != len(binary) {
			t.Errorf("%s: %d bytes, %v; want %d", file, len(back), err, len(binary))
		}
	}
}

func TestWhatIsNoMessageIsRejected(t *testing.T) {
	for _, text := range []string{"", "[]", `{"epoch":"x"}`, strings.Repeat(`{"places":`, 100), "{\"net\":\"\xff\"}", `{"seq":-1}`} {
		if b, err := FromJSON("Snapshot", []byte(text)); err == nil {
			t.Errorf("%.30q: %x", text, b)
		}
	}
	for _, b := range [][]byte{{0x80}, {0x0a, 5}, {0x0a, 1, 0xff}} {
		if text, err := AppendJSON(nil, "Snapshot", b, false); err == nil {
			t.Errorf("%x: %s", b, text)
		}
	}
}
