// SPDX-License-Identifier: Apache-2.0

package standby

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/collector/standby/roster"
	"github.com/pnagent/pnagent/internal/natstest"
)

var (
	keyA = Keys{[]byte("0123456789abcdef0123456789abcdef")}
	keyB = Keys{[]byte("fedcba9876543210fedcba9876543210")}
)

// sealed returns a message of a sealer.
func sealed(s *sealer, payload string, now time.Time) *nats.Msg {
	return &nats.Msg{Subject: "s", Data: []byte(payload), Header: nats.Header{sealHeader: {s.sign((*s.keys.Load())[0], "s", []byte(payload), now)}}}
}

// acquaint returns two members that have answered each other.
func acquaint(t *testing.T, a, b Keys, now time.Time) (x, y *sealer) {
	t.Helper()
	x, y = newSealer(a, "x"), newSealer(b, "y")
	if err := y.open(sealed(x, "", now), now); !errors.Is(err, roster.Unproven) {
		t.Fatalf("the first message: got %v; want %v", err, roster.Unproven)
	}
	if err := x.open(sealed(y, "", now), now); !errors.Is(err, roster.Unproven) && err != nil {
		t.Fatalf("the first answer: %v", err)
	}
	if err := y.open(sealed(x, "", now), now); err != nil {
		t.Fatalf("the second message: %v", err)
	}
	return x, y
}

func TestAMessageThatIsNotOfAMemberIsRejected(t *testing.T) {
	now := time.Unix(1e9, 0)
	for rule, c := range map[string]struct {
		change func(m *nats.Msg)
		want   error
	}{
		"as it was":            {func(*nats.Msg) {}, nil},
		"without a seal":       {func(m *nats.Msg) { m.Header = nil }, roster.Unsigned},
		"an empty seal":        {func(m *nats.Msg) { m.Header.Set(sealHeader, "") }, roster.Unsigned},
		"another payload":      {func(m *nats.Msg) { m.Data[0] ^= 1 }, roster.BadSeal},
		"a longer payload":     {func(m *nats.Msg) { m.Data = append(m.Data, ' ') }, roster.BadSeal},
		"a shorter payload":    {func(m *nats.Msg) { m.Data = m.Data[:len(m.Data)-1] }, roster.BadSeal},
		"at another subject":   {func(m *nats.Msg) { m.Subject = "s-alarms" }, roster.BadSeal},
		"a code that is short": {func(m *nats.Msg) { cut(m, 2) }, roster.BadSeal},
		"half a byte":          {func(m *nats.Msg) { cut(m, 1) }, roster.BadSeal},
		"without a code":       {func(m *nats.Msg) { cut(m, 64) }, roster.BadSeal},
		"of another sender":    {func(m *nats.Msg) { field(m, 1, "z") }, roster.BadSeal},
		"a later number":       {func(m *nats.Msg) { field(m, 2, "99") }, roster.BadSeal},
		"another challenge":    {func(m *nats.Msg) { field(m, 3, "0123456789abcdef") }, roster.BadSeal},
		"without answers":      {func(m *nats.Msg) { field(m, 4, "-") }, roster.BadSeal},
		"another version":      {func(m *nats.Msg) { field(m, 0, "2") }, roster.BadSeal},
	} {
		x, y := acquaint(t, keyA, keyA, now)
		m := sealed(x, "payload", now)
		c.change(m)
		if err := y.open(m, now); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v; want %v", rule, err, c.want)
		}
	}
}

func field(m *nats.Msg, i int, text string) {
	f := strings.Split(m.Header.Get(sealHeader), " ")
	f[i] = text
	m.Header.Set(sealHeader, strings.Join(f, " "))
}

func cut(m *nats.Msg, n int) {
	text := m.Header.Get(sealHeader)
	m.Header.Set(sealHeader, text[:len(text)-n])
}

// Every flipped bit of a seal makes the message invalid.
func TestEachBitOfASealCounts(t *testing.T) {
	now := time.Unix(1e9, 0)
	x, y := acquaint(t, keyA, keyA, now)
	whole := sealed(x, "payload", now)
	text := whole.Header.Get(sealHeader)
	for i := range len(text) * 8 {
		changed := []byte(text)
		changed[i/8] ^= 1 << (i % 8)
		if upper := strings.ToLower(string(changed)); upper == text {
			continue // hex digits in another case are the same code
		}
		m := &nats.Msg{Subject: whole.Subject, Data: whole.Data, Header: nats.Header{sealHeader: {string(changed)}}}
		if err := y.open(m, now); !errors.Is(err, roster.BadSeal) {
			t.Errorf("bit %d: got %v; want %v", i, err, roster.BadSeal)
		}
	}
	if err := y.open(whole, now); err != nil {
		t.Errorf("as it was: %v", err)
	}
}

// The code is that of openssl dgst -sha256 -mac hmac over the documented text.
func TestTheCodeIsHMACSHA256(t *testing.T) {
	got := hex.EncodeToString(codeOf([]byte("0123456789abcdef0123456789abcdef"), "s", "1 x 1 0123456789abcdef -", []byte("payload")))
	if want := "2a82aab01df61cd3868b44f50010f8e3e5f649abf4d68a6ea941fbdbc2900c3e"; got != want {
		t.Errorf("got %s; want %s", got, want)
	}
}

// While keys change, one member may sign with the first and the other with the second.
func TestEachKeyVerifiesAndTheFirstSigns(t *testing.T) {
	now := time.Unix(1e9, 0)
	both, turned := Keys{keyA[0], keyB[0]}, Keys{keyB[0], keyA[0]}
	for _, c := range []struct {
		rule   string
		of, by Keys
		want   error
	}{
		{"the old one beside both", keyA, both, roster.Unproven},
		{"both beside the old one", both, keyA, roster.Unproven},
		{"both beside both in the other order", both, turned, roster.Unproven},
		{"the new one beside both in the other order", keyB, turned, roster.Unproven},
		{"in the other order beside the new one", turned, keyB, roster.Unproven},
		{"the new one beside the old one", keyB, keyA, roster.BadSeal},
		{"in the other order beside the old one", turned, keyA, roster.BadSeal},
		{"no key beside one", nil, keyA, roster.Unsigned},
		{"one beside no key", keyA, nil, nil},
	} {
		m := &nats.Msg{Subject: "s"}
		if c.of != nil {
			m = sealed(newSealer(c.of, "x"), "", now)
		}
		if err := newSealer(c.by, "y").open(m, now); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v; want %v", c.rule, err, c.want)
		}
	}
}

func TestAReplayedMessageIsRejected(t *testing.T) {
	now := time.Unix(1e9, 0)
	x, y := acquaint(t, keyA, keyA, now)
	first, second := sealed(x, "1", now), sealed(x, "2", now)
	check := func(rule string, m *nats.Msg, by *sealer, want error) {
		t.Helper()
		if err := by.open(m, now); !errors.Is(err, want) {
			t.Errorf("%s: got %v; want %v", rule, err, want)
		}
	}
	check("one that was lost before", second, y, nil)
	check("at once", second, y, roster.Replayed)
	check("an earlier one", first, y, roster.Replayed)

	third := sealed(x, "3", now)
	now = now.Add(Fresh - time.Nanosecond)
	check("one that was held back for as long as a challenge counts", third, y, nil)
	fourth := sealed(x, "4", now)
	now = now.Add(time.Nanosecond)
	check("one whose challenge is too old", fourth, y, roster.Unproven)
	now = now.Add(time.Hour)
	y.sign((*y.keys.Load())[0], "s", nil, now) // forgets x
	check("one of an hour ago, after the sender was forgotten", third, y, roster.Unproven)
	check("by a member that started after it was recorded", third, newSealer(keyA, "z"), roster.Unproven)
}

// A member takes each of its own messages once: they are its clock.
func TestAnOwnMessageCountsOnce(t *testing.T) {
	now := time.Unix(1e9, 0)
	x := newSealer(keyA, "x")
	first, second := sealed(x, "1", now), sealed(x, "2", now)
	for i, c := range []struct {
		m    *nats.Msg
		want error
	}{{first, nil}, {first, roster.Replayed}, {second, nil}, {first, roster.Replayed}, {second, roster.Replayed}} {
		if err := x.open(c.m, now); !errors.Is(err, c.want) {
			t.Errorf("message %d: got %v; want %v", i, err, c.want)
		}
	}
	if len(x.senders) != 0 {
		t.Errorf("it is its own peer: %v", x.senders)
	}
}

// Recorded first messages of any number of earlier processes take no member's place.
func TestRecordedSendersGiveWayToMembers(t *testing.T) {
	now := time.Unix(1e9, 0)
	x, y := acquaint(t, keyA, keyA, now)
	for i := range 3 * roster.MaxPeers {
		now = now.Add(time.Millisecond)
		if err := y.open(sealed(newSealer(keyA, fmt.Sprintf("old-%d", i)), "", now), now); !errors.Is(err, roster.Unproven) {
			t.Fatalf("got %v; want %v", err, roster.Unproven)
		}
	}
	if err := y.open(sealed(x, "", now), now); err != nil || len(y.senders) != roster.MaxPeers {
		t.Errorf("got %v, %d senders; want none and %d", err, len(y.senders), roster.MaxPeers)
	}
	if text := y.sign((*y.keys.Load())[0], "s", nil, now); len(text) > maxSeal {
		t.Errorf("a seal has %d bytes; want at most %d", len(text), maxSeal)
	} else if _, err := parseSeal(text); err != nil {
		t.Error(err)
	}
	for _, other := range y.senders {
		other.proven = true
	}
	if err := y.open(sealed(newSealer(keyA, "more"), "", now), now); !errors.Is(err, roster.TooMany) {
		t.Errorf("more members than MaxPeers: got %v; want %v", err, roster.TooMany)
	}
	now = now.Add(Fresh + 1)
	if err := y.open(sealed(newSealer(keyA, "more"), "", now), now); !errors.Is(err, roster.Unproven) || len(y.senders) != 1 {
		t.Errorf("after they are gone: got %v, %d senders; want %v and 1", err, len(y.senders), roster.Unproven)
	}
}

func TestAChallengeIsRenewedEachSecondAndForgotten(t *testing.T) {
	now := time.Unix(1e9, 0)
	s := newSealer(keyA, "x")
	got := map[string]bool{}
	for range 60 {
		got[s.challengeAt(now)], got[s.challengeAt(now.Add(challengeEvery-1))] = true, true
		now = now.Add(challengeEvery)
	}
	if len(got) != 60 || len(s.challenges) != int(Fresh/challengeEvery) {
		t.Errorf("got %d challenges, %d kept; want 60 and %d", len(got), len(s.challenges), Fresh/challengeEvery)
	}
}

// A forged member of the first priority is ignored where there are keys, also if it
// replays what it recorded, and a take-over works as without it.
func TestAForgedMemberIsIgnoredByMembersWithAKey(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		connect := startNATS(t)
		logger, log := logs()
		a, stop := with(t, Config{Conn: connect(), Subject: "s", Name: "a", Priority: 100, Keys: keyA}, "of-a")
		duty(t, a.member, true, 0)
		sources := &sourcesOf{}
		b, _ := with(t, Config{Conn: connect(), Subject: "s", Name: "b", Priority: 127, Keys: keyA, Log: logger, Sources: sources.sources()}, "")
		duty(t, b.member, false, 1)
		duty(t, a.member, true, 1)
		attacker := connect()
		var mu sync.Mutex
		var recorded []*nats.Msg
		for _, subject := range []string{"s", "s-alarms", "s-sources"} {
			if _, err := attacker.Subscribe(subject, func(m *nats.Msg) {
				mu.Lock()
				defer mu.Unlock()
				if strings.Contains(m.Header.Get(sealHeader), " ") && len(recorded) < 200 {
					recorded = append(recorded, m)
				}
			}); err != nil {
				t.Fatal(err)
			}
		}
		attack := func() {
			publish(t, attacker, "s", encoded(t, roster.Message{ID: "0", Name: "forged", Up: true, Ready: true, OnDuty: true, Digest: "of-a"}))
			page := Page{Version: roster.Version, ID: "0", Content: []byte("forged")}
			publish(t, attacker, "s-alarms", page.Encode())
			part := Page{Version: roster.Version, ID: "0", To: b.member.id, Last: true}
			publish(t, attacker, "s-sources", part.Encode())
			mu.Lock()
			again := recorded
			mu.Unlock()
			for _, m := range again {
				if err := attacker.PublishMsg(&nats.Msg{Subject: m.Subject, Data: m.Data, Header: m.Header}); err != nil {
					t.Fatal(err)
				}
			}
		}
		for range 10 {
			attack()
			time.Sleep(roster.Interval)
		}
		if s := b.member.State(); !a.member.OnDuty() || b.member.OnDuty() || s.Live != 1 {
			t.Errorf("under attack: on duty %v and %v, %d live; want true, false and 1", a.member.OnDuty(), b.member.OnDuty(), s.Live)
		}
		stop()
		attack()
		synctestStep()
		if !b.member.OnDuty() {
			t.Error("the other one does not take the duty at once")
		}
		for range 2 * int(roster.Isolated/roster.Interval) {
			attack()
			time.Sleep(roster.Interval)
		}
		if s := b.member.State(); !b.member.OnDuty() || s.Live != 0 {
			t.Errorf("after the take-over: on duty %v, %d live; want true and 0", b.member.OnDuty(), s.Live)
		}
		k := b.member.Counters().Rejected
		if k[roster.Unsigned] < 30 || k[roster.Replayed] == 0 || k[roster.BadSeal] != 0 || strings.Count(log.String(), "claims to be of a sidecar") != 1 {
			t.Errorf("got %v, log %s; want at least 30 unsigned, some replayed, one warning", k, log)
		}
		if strings.Contains(log.String(), string(keyA[0])) {
			t.Error("the log has the key")
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, page := range b.folded {
			if page == "forged" {
				t.Error("it took a forged page")
			}
		}
	})
}

// synctestStep waits for one step of the members.
func synctestStep() { time.Sleep(2 * stepEvery) }

// A member without a key takes the messages of one with a key, which ignores it. Both
// notify: a duplicate is better than no notification.
func TestAMemberWithoutTheKeyIsNoMember(t *testing.T) {
	for name, other := range map[string]Keys{"none": nil, "another": keyB} {
		natstest.Bubble(t, func(t *testing.T) {
			connect := startNATS(t)
			a, _ := run(t, Config{Conn: connect(), Subject: "s", Name: "a", Priority: 100, Keys: other})
			duty(t, a, true, 0)
			b, _ := run(t, Config{Conn: connect(), Subject: "s", Name: "b", Priority: 127, Keys: keyA})
			duty(t, b, true, 0)
			time.Sleep(roster.Isolated)
			if !a.OnDuty() || !b.OnDuty() {
				t.Errorf("%s: on duty %v and %v; want both", name, a.OnDuty(), b.OnDuty())
			}
		})
	}
}

// What a break of NATS does to a pair does not depend on keys.
func TestAPairWithKeysSurvivesAPauseOfOneMember(t *testing.T) {
	now := time.Unix(1e9, 0)
	for _, pause := range []time.Duration{roster.Silent, Fresh, time.Hour} {
		x, y := acquaint(t, keyA, keyA, now)
		later := now.Add(pause)
		_ = x.open(sealed(y, "", later), later) // may be unproven
		if err := y.open(sealed(x, "", later), later); err != nil {
			t.Errorf("after %v: got %v; want that the first answer counts", pause, err)
		}
		if err := x.open(sealed(y, "", later), later); err != nil {
			t.Errorf("after %v: got %v; want that the second message counts", pause, err)
		}
	}
}

func TestKeyFiles(t *testing.T) {
	one, two := strings.Repeat("a", MinKey), strings.Repeat("b", MinKey+1)
	for _, c := range []struct {
		text string
		want []string // keys
		err  string
	}{
		{one, []string{one}, ""},
		{"# of the pair\n\n  " + one + "\r\n" + two + "\n", []string{one, two}, ""},
		{strings.Repeat("c", MaxKeyFile), []string{strings.Repeat("c", MaxKeyFile)}, ""},
		{strings.Repeat("c", MaxKeyFile+1), nil, "1:1: invalid key file: more than 4096 bytes"},
		{"", nil, "1:1: invalid key file: no key; expected a line of at least 32 bytes"},
		{"# none\n", nil, "1:1: invalid key file: no key; expected a line of at least 32 bytes"},
		{one + "\n" + one[1:], nil, "2:1: invalid key file: a key of 31 bytes; expected at least 32"},
		{one + "\n" + two + "\n\n" + one, nil, "4:1: invalid key file: more than 2 keys"},
	} {
		file := filepath.Join(t.TempDir(), "keys")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		keys, err := ReadKeys(file)
		var got []string
		for _, key := range keys {
			got = append(got, string(key))
		}
		if d := cmp.Diff(c.want, got); d != "" || c.err == "" && err != nil || c.err != "" && (!errors.Is(err, ErrKeys) || err.Error() != file+":"+c.err) {
			t.Errorf("%.50q: got %v; want %q; keys %s", c.text, err, c.err, d)
		}
		if err != nil && strings.Contains(err.Error(), one[1:]) {
			t.Errorf("the error has a key: %v", err)
		}
		if text := fmt.Sprintf("%v %s %+v %#v", keys, keys, Config{Keys: keys}.Keys, keys); strings.Contains(text, "97 97") || strings.Contains(text, "aaa") || strings.Contains(text, "0x61") {
			t.Errorf("keys are printed as %s", text)
		}
	}
	if _, err := ReadKeys(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestTheModeOfAKeyFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(file, keyA[0], 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, allowed := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o440: true, 0o640: true, 0o644: false, 0o604: false, 0o601: false, 0o660: false, 0o620: false, 0o602: false} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadKeys(file); (err == nil) != allowed || err != nil && !errors.Is(err, ErrKeys) && !errors.Is(err, os.ErrPermission) {
			t.Errorf("mode %#o: got %v; want allowed %v", mode, err, allowed)
		}
	}
}

// FuzzSeal passes any header to a member that has keys: it is rejected, with a reason,
// unless it is the seal of the message.
func FuzzSeal(f *testing.F) {
	now := time.Unix(1e9, 0)
	peer := newSealer(keyA, "x")
	peer.challenges = []challenge{{"0123456789abcdef", now}} // the same in each process of the fuzzer
	valid := sealed(peer, "payload", now)
	f.Add(valid.Header.Get(sealHeader), []byte("payload"))
	f.Add("1 x 1 0123456789abcDef - 2a82aab01df61cd3868b44f50010f8e3e5f649abf4d68a6ea941fbdbc2900c3e", []byte("payload")) // another challenge
	folded := func(header string) string {                                                                                // the code may have capital digits
		code := strings.LastIndexByte(header, ' ') + 1
		return header[:code] + strings.ToLower(header[code:])
	}
	f.Add("1 x 18446744073709551615 0123456789abcdef 0123456789abcdef,0123456789abcdef "+strings.Repeat("0", 64), []byte{})
	f.Fuzz(func(t *testing.T, header string, payload []byte) {
		y := newSealer(keyA, "y")
		err := y.open(&nats.Msg{Subject: "s", Data: payload, Header: nats.Header{sealHeader: {header}}}, now)
		if roster.ReasonOf(err) == "" {
			t.Fatalf("got %v; want a reason", err)
		}
		same := folded(header) == valid.Header.Get(sealHeader) && string(payload) == "payload"
		if errors.Is(err, roster.Unproven) != same {
			t.Fatalf("%q: got %v", header, err)
		}
		if s, err := parseSeal(header); err == nil && s.text()+" "+hex.EncodeToString(s.code) != folded(header) {
			t.Fatalf("%q became %q", header, s.text())
		}
	})
}

// FuzzParseKeys passes any text as a key file: keys are long enough, and an error has a
// position and nothing of the text.
func FuzzParseKeys(f *testing.F) {
	f.Add([]byte("# c\n0123456789abcdef0123456789abcdef\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		keys, err := parseKeys(text)
		if (err == nil) != (len(keys) > 0) || len(keys) > maxKeys {
			t.Fatalf("got %d keys, %v", len(keys), err)
		}
		for _, key := range keys {
			if len(key) < MinKey {
				t.Fatalf("a key of %d bytes", len(key))
			}
		}
	})
}

// A member takes other keys, and messages of another group, while it runs.
func TestAMemberTakesOtherKeysAndGroups(t *testing.T) {
	connect := startNATS(t)
	a, _ := run(t, Config{Conn: connect(), Subject: "s.one", Priority: 100, Keys: keyA})
	b, _ := run(t, Config{Conn: connect(), Subject: "s.one", Priority: 127, Keys: keyB})
	duty(t, a, true, 0)
	duty(t, b, true, 0) // each is alone
	b.SetKeys(keyA)
	duty(t, a, true, 1)
	duty(t, b, false, 1)
	b.Move("s.two")
	duty(t, a, true, 0)
	duty(t, b, true, 0)
	a.Move("s.two")
	duty(t, a, true, 1)
	duty(t, b, false, 1)
}
