// SPDX-License-Identifier: Apache-2.0

package roster

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func whole() Message {
	return Message{Version: 1, ID: "000641bd2f1a8000-0a1b", Name: "host-1 €", Priority: 255, Up: true, Ready: true, OnDuty: true, Bye: true, Started: 1_763_000_000_000_000}
}

func TestAMessageSurvivesARoundTrip(t *testing.T) {
	for _, m := range []Message{whole(), {Version: 1, ID: "a"}, {Version: 1, ID: strings.Repeat("0", MaxID), Name: strings.Repeat("\"", MaxName)}} {
		text, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(text)
		if diff := cmp.Diff(m, got); diff != "" || err != nil {
			t.Errorf("decoded message: error %v (-want +got): %s", err, diff)
		}
	}
}

func TestInvalidMessages(t *testing.T) {
	for _, c := range []struct {
		text string
		want Reason
	}{
		{"", NotJSON},
		{"{", NotJSON},
		{"[]", NotJSON},
		{`{"version":1,"id":"a"} x`, NotJSON},
		{`{"version":1,"id":"a","priority":256}`, NotJSON},
		{`{"version":1,"id":"a","up":1}`, NotJSON},
		{`null`, BadVersion},
		{`{"id":"a"}`, BadVersion},
		{`{"version":2,"id":"a"}`, BadVersion},
		{`{"version":1}`, BadID},
		{`{"version":1,"id":"A"}`, BadID},
		{`{"version":1,"id":"a\nb"}`, BadID},
		{`{"version":1,"id":"` + strings.Repeat("a", MaxID+1) + `"}`, BadID},
		{`{"version":1,"id":"a","name":"` + strings.Repeat("a", MaxName+1) + `"}`, BadName},
		{`{"version":1,"id":"a","name":"` + strings.Repeat("a", 256) + `"}`, BadName},
		{`{"version":1,"id":"` + strings.Repeat("a", 65) + `"}`, BadID},
		{`{"version":1,"id":"a","started":-1}`, BadTime},
		{`{"version":1,"id":"a","digest":"` + strings.Repeat("a", 65) + `"}`, BadDigest},
		{`{"version":1,"id":"a","digest":"A"}`, BadDigest},
		{`{"version":1,"id":"a","notes":"` + strings.Repeat("a", 65) + `"}`, BadDigest},
		{`{"version":1,"id":"a","notes":"A"}`, BadDigest},
		{`{"version":1,"id":"a","more":"` + strings.Repeat("a", MaxMessage) + `"}`, TooLarge},
	} {
		if _, err := Decode([]byte(c.text)); !errors.Is(err, c.want) {
			t.Errorf("%.60s: %v, want %s", c.text, err, c.want)
		}
	}
	if _, err := Decode([]byte(`{"version":1,"id":"a","of a later version":[1]}`)); err != nil {
		t.Errorf("more than is known: %v", err)
	}
	if _, err := (Message{Version: 1, ID: "a", Name: "\xff"}).Encode(); !errors.Is(err, BadName) {
		t.Errorf("a name that is not UTF-8: %v", err)
	}
}

func TestAMessageMayHave2048Bytes(t *testing.T) {
	text := `{"version":1,"id":"a"}`
	if _, err := Decode([]byte(text + strings.Repeat(" ", 2048-len(text)))); err != nil {
		t.Error(err)
	}
	if _, err := Decode([]byte(text + strings.Repeat(" ", 2049-len(text)))); !errors.Is(err, TooLarge) {
		t.Errorf("one byte more: %v", err)
	}
}

func TestFieldsMayBeAsLongAsDocumented(t *testing.T) {
	want := Message{Version: 1, ID: strings.Repeat("z", 64), Name: strings.Repeat("n", 255), Digest: strings.Repeat("0", 64)}
	text, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Decode(text); err != nil || got != want {
		t.Errorf("got %+v, error %v; want %+v", got, err, want)
	}
}

// FuzzDecode passes any bytes to Decode, and a valid message to a roster.
func FuzzDecode(f *testing.F) {
	text, err := whole().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text, uint8(3))
	f.Add([]byte(`{"version":1,"id":"a"}`), uint8(0))
	f.Fuzz(func(t *testing.T, text []byte, seconds uint8) {
		m, err := Decode(text)
		if err != nil {
			if ReasonOf(err) == "" {
				t.Fatalf("%v has no reason", err)
			}
			return
		}
		again, err := m.Encode()
		if errors.Is(err, TooLarge) {
			return // escapes may be longer than the characters
		}
		if back, derr := Decode(again); err != nil || derr != nil || back != m {
			t.Fatalf("%v, %v: %+v became %+v", err, derr, m, back)
		}
		now := time.Unix(1e9, 0)
		r := New(Message{ID: "me"}, 0, now)
		if _, err := r.Receive(m, now); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Duration(seconds) * time.Second)
		r.Step(true, now)
		if s := r.State(); s.Live > s.Known || s.Known > 1 {
			t.Fatalf("got %+v; want at most one known member", s)
		}
	})
}
