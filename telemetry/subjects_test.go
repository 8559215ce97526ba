// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"errors"
	"strings"
	"testing"
)

func TestEscapeMakesOneToken(t *testing.T) {
	for name, want := range map[string]string{
		"orders":     "orders",
		"A-z_09":     "A-z_09",
		"":           "=",
		"=":          "=3D",
		"a.b":        "a=2Eb",
		"a b*>":      "a=20b=2A=3E",
		"größe":      "gr=C3=B6=C3=9Fe",
		"\x00\xff":   "=00=FF",
		"=3D":        "=3D3D",
		"host:1/net": "host=3A1=2Fnet",
	} {
		if got := Escape(name); got != want {
			t.Errorf("Escape(%q) = %q, want %q", name, got, want)
		}
		if got, err := Unescape(want); err != nil || got != name {
			t.Errorf("Unescape(%q) = %q, %v, want %q", want, got, err, name)
		}
	}
}

// Every name has one token. A token that Escape does not return is rejected.
func TestUnescapeRejectsWhatEscapeDoesNotReturn(t *testing.T) {
	for _, token := range []string{"", "a.b", "a b", "=2", "=2e", "=41", "a=", "==", "=G0", "ä", "*", ">", strings.Repeat("a", MaxName+1)} {
		if got, err := Unescape(token); !errors.Is(err, BadSubject) {
			t.Errorf("Unescape(%q) = %q, %v, want %v", token, got, err, BadSubject)
		}
	}
}

func TestSubjectNames(t *testing.T) {
	tree, err := NewSubjects("site-a.petrinet.v1")
	if err != nil {
		t.Fatal(err)
	}
	for got, want := range map[string]string{
		Subjects{}.Snapshot("a.b", "host 1"): "petrinet.v1.snapshot.a=2Eb.host=201",
		Subjects{}.Snapshots():               "petrinet.v1.snapshot.*.*",
		Subjects{}.Hello():                   "petrinet.v1.hello",
		Subjects{}.Full("n", "s"):            "petrinet.v1.full.n.s",
		Subjects{}.Definition("n", "00ff"):   "petrinet.v1.net.n.00ff",
		Subjects{}.Instances("n", "s"):       "petrinet.v1.instances.n.s",
		Subjects{}.Bye("n", "s"):             "petrinet.v1.bye.n.s",
		Subjects{}.Byes():                    "petrinet.v1.bye.*.*",
		Subjects{}.Sidecars("0a1b"):          "petrinet.v1.sidecars.0a1b",
		tree.Bye("n", ""):                    "site-a.petrinet.v1.bye.n.=",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, prefix := range []string{"", ".", "a..b", "a.", "a.*", "a b", ">", "ä"} {
		if _, err := NewSubjects(prefix); err == nil {
			t.Errorf("prefix %q is accepted", prefix)
		}
	}
}

func TestParseSnapshotIsTheInverseOfSnapshotAndBye(t *testing.T) {
	s := Subjects{}
	for _, subject := range []string{s.Snapshot("a.b", "host 1"), s.Bye("a.b", "host 1")} {
		net, source, err := s.ParseSnapshot(subject)
		if err != nil || net != "a.b" || source != "host 1" {
			t.Errorf("%q: %q, %q, %v", subject, net, source, err)
		}
	}
	for _, subject := range []string{"", "petrinet.v1.snapshot", "petrinet.v1.snapshot.a", "petrinet.v1.snapshot.a.b.c",
		"petrinet.v1.hello.a.b", "petrinet.v2.snapshot.a.b", "petrinet.v1.snapshot..b", "petrinet.v1.snapshot.a.=2e"} {
		if net, source, err := s.ParseSnapshot(subject); !errors.Is(err, BadSubject) {
			t.Errorf("%q: %q, %q, %v, want %v", subject, net, source, err, BadSubject)
		}
	}
}

func FuzzEscape(f *testing.F) {
	f.Add("", "=")
	f.Add("a.b", "a=2Eb")
	f.Add("\xff", "größe")
	f.Add("a", "net.source=20x")
	f.Fuzz(func(t *testing.T, a, b string) {
		if Escape(a) == Escape(b) && a != b {
			t.Fatalf("%q and %q have the same token %q", a, b, Escape(a))
		}
		if strings.ContainsAny(Escape(a), ". *>\t\r\n") || Escape(a) == "" || len(Escape(a)) > 3*len(a)+1 {
			t.Fatalf("%q has a token that is too long: %q", a, Escape(a))
		}
		if got, err := Unescape(Escape(a)); len(a) <= MaxName && (err != nil || got != a) {
			t.Fatalf("Unescape of the token of %q returns %q, %v", a, got, err)
		}
		if name, err := Unescape(b); err == nil && Escape(name) != b {
			t.Fatalf("token %q is parsed as %q, whose token is %q", b, name, Escape(name))
		}
		subject := "petrinet.v1.snapshot." + b
		if net, source, err := (Subjects{}).ParseSnapshot(subject); err == nil && (Subjects{}).Snapshot(net, source) != subject {
			t.Fatalf("%q is parsed as net %q, source %q", subject, net, source)
		}
	})
}

func TestCheckName(t *testing.T) {
	for name, ok := range map[string]bool{
		"host-1": true, "größe 7 *.>": true, strings.Repeat("x", MaxName): true, "a b": true,
		"": false, strings.Repeat("x", MaxName+1): false, "a\x00": false, "a\nb": false, "a\x7f": false, "a\u0085": false, "a\xff": false,
	} {
		if err := CheckName(name); (err == nil) != ok || (err != nil && !errors.Is(err, BadName)) {
			t.Errorf("CheckName(%q) = %v", name, err)
		}
	}
}

func TestDigestIsHalfOfSHA256(t *testing.T) {
	if got, want := Digest([]byte("abc")), "ba7816bf8f01cfea414140de5dae2223"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if err := checkDigest(Digest(nil)); err != nil {
		t.Error(err)
	}
	for _, digest := range []string{"", strings.Repeat("0", 31), strings.Repeat("A", 32), strings.Repeat("g", 32)} {
		if !errors.Is(checkDigest(digest), BadName) {
			t.Errorf("digest %q is accepted", digest)
		}
	}
}
