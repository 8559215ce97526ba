// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/engine/journal"
)

func TestNamesAreEscapedReversibly(t *testing.T) {
	for name, want := range map[string]string{
		"orders":                "pnagent-log-orders",
		"Orders-2":              "pnagent-log-Orders-2",
		"orders/2":              "pnagent-log-orders_2F2",
		"a_b":                   "pnagent-log-a_5Fb",
		"a.*> b":                "pnagent-log-a_2E_2A_3E_20b",
		"Größe\x00":             "pnagent-log-Gr_C3_B6_C3_9Fe_00",
		"":                      "",
		strings.Repeat("/", 67): "",
	} {
		got, err := NameOf(name)
		if got != want || (err == nil) != (want != "") || err != nil && !errors.Is(err, ErrName) {
			t.Errorf("%q: %q, %v; want %q", name, got, err, want)
		}
		if want == "" {
			continue
		}
		if back, err := logName(got); back != name || err != nil {
			t.Errorf("%q: %q, %v; want %q", got, back, err, name)
		}
	}
	for _, other := range []string{"", "orders", "pnagent-log-", "pnagent-log-a_2", "pnagent-log-a_2f", "pnagent-log-a_41", "pnagent-log-a b", "OBJ_pnagent-log-a"} {
		if name, err := logName(other); !errors.Is(err, ErrName) {
			t.Errorf("%q: %q, %v", other, name, err)
		}
	}
}

// Every byte except letters, digits and "-" is escaped, and a name has at most
// 200 bytes after that.
func TestEveryByteOfANameAndHowLongItMayBe(t *testing.T) {
	const asItIs = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"
	for b := range 256 {
		name := "a" + string([]byte{byte(b)})
		want := "pnagent-log-" + name
		if !strings.Contains(asItIs, name[1:]) {
			want = fmt.Sprintf("pnagent-log-a_%02X", b)
		}
		got, err := NameOf(name)
		if got != want || err != nil {
			t.Errorf("byte %d: %q, %v; want %q", b, got, err, want)
		}
		if back, err := logName(want); back != name || err != nil {
			t.Errorf("%q: %q, %v; want %q", want, back, err, name)
		}
	}
	for name, ok := range map[string]bool{
		strings.Repeat("a", 200):        true,
		strings.Repeat("a", 201):        false,
		strings.Repeat("a", 197) + "/":  true,
		strings.Repeat("a", 198) + "/":  false,
		"/" + strings.Repeat("a", 197):  true,
		"/" + strings.Repeat("a", 198):  false,
		strings.Repeat("a", 200) + "/b": false,
	} {
		stream, err := NameOf(name)
		if (err == nil) != ok || !ok && (!errors.Is(err, ErrName) || stream != "") {
			t.Errorf("%d bytes from %.9q: %q, %v; want accepted: %t", len(name), name, stream, err, ok)
		}
		if back, err := logName(stream); ok && (back != name || err != nil) {
			t.Errorf("%q: %q, %v", stream, back, err)
		}
	}
	for n, ok := range map[int]bool{200: true, 201: false} {
		if _, err := logName("pnagent-log-" + strings.Repeat("a", n)); (err == nil) != ok || !ok && !errors.Is(err, ErrName) {
			t.Errorf("a stream of %d bytes: %v", n, err)
		}
	}
}

// The name of a snapshot has the number with all its digits.
func TestTheNamesOfSnapshots(t *testing.T) {
	for name, want := range map[string]uint64{
		"00000000000000000001-x":    1,
		"18446744073709551615-a-b":  1<<64 - 1,
		"00000000000000000000-x":    0,
		"00000000000000000001-":     0,
		"00000000000000000001":      0,
		"0000000000000000001-x":     0,
		"000000000000000000001-x":   0,
		"0000000000000000000x-x":    0,
		"99999999999999999999-x":    0,
		"-x":                        0,
		"":                          0,
		"another object altogether": 0,
	} {
		if upTo, ok := parseSnapshotName(name); ok != (want > 0) || ok && upTo != want {
			t.Errorf("%q: %d, %t; want %d", name, upTo, ok, want)
		}
	}
	for _, upTo := range []uint64{1, 42, 1<<64 - 1} {
		name := snapshotName(upTo)
		if got, ok := parseSnapshotName(name); got != upTo || !ok || snapshotName(upTo) == name {
			t.Errorf("%q of %d is parsed as %d, %t, or is not unique", name, upTo, got, ok)
		}
	}
}

func FuzzLogName(f *testing.F) {
	f.Add("pnagent-log-orders_2F2")
	f.Add("pnagent-log-_")
	f.Fuzz(func(t *testing.T, stream string) {
		name, err := logName(stream)
		if err != nil {
			return
		}
		if again, err := NameOf(name); again != stream || err != nil {
			t.Errorf("stream %q has the name %q, whose stream is %q: %v", stream, name, again, err)
		}
	})
}

func FuzzNameOf(f *testing.F) {
	f.Add("orders/2")
	f.Fuzz(func(t *testing.T, name string) {
		stream, err := NameOf(name)
		if err != nil {
			return
		}
		if back, err := logName(stream); back != name || err != nil || strings.ContainsAny(stream, " .*>/\\\t\r\n") {
			t.Errorf("name %q has the stream %q, whose name is %q: %v", name, stream, back, err)
		}
	})
}

func TestAnswers(t *testing.T) {
	for body, want := range map[string]answer{
		`{"type":"ack","seq":12,"msgs":1}`:                   {count: 12},
		`{ "seq":12, "type":"ack" }`:                         {count: 12},
		`{"type":"gap","last_seq":3,"seq":5}`:                {fail: errGap},
		`{"stream":"S","seq":9,"batch":"b","count":4}`:       {count: 4, fail: errBatchOver},
		`{"type":"ack","seq":-1,"msgs":1}`:                   {fail: errAnswer},
		`{"type":"ack","seq":99999999999999999999,"m":1}`:    {fail: errAnswer},
		`{"type":"other"}`:                                   {fail: errAnswer},
		``:                                                   {fail: errAnswer},
		`{"error":"` + strings.Repeat("x", maxAnswer) + `"}`: {fail: errAnswer},
		`{"type":"err","seq":2,"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 7"}}`: {last: 7, fail: journal.ErrNotLast},
		`{"type":"err","seq":2,"error":{"code":400,"err_code":10164,"description":"wrong last sequence"}}`:    {fail: journal.ErrNotLast},
	} {
		if got := parseAnswer("", []byte(body)); got.count != want.count || got.last != want.last || !errors.Is(got.fail, want.fail) {
			t.Errorf("%.80s: %+v, want %+v", body, got, want)
		}
	}
	if got := parseAnswer("503", nil); !errors.Is(got.fail, nats.ErrNoResponders) {
		t.Errorf("%+v", got)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add("inbox.b1.1.fail.1.0.$FI"[6:], `{"type":"ack","seq":12,"msgs":1}`)
	f.Add("b1.1.fail.2.1.$FI", `{"type":"err","seq":2,"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 7"}}`)
	f.Fuzz(func(t *testing.T, tail, body string) {
		l := &Log{name: "s", inbox: "inbox"}
		l.pipe = pipe{sent: 12, acked: 10, sizes: make([]int, 4), batch: "b1", base: 9, bytes: 2}
		l.pipe.sizes[3], l.pipe.sizes[0] = 1, 1
		l.answer(&nats.Msg{Subject: "inbox." + tail, Data: []byte(body)})
		if p := &l.pipe; p.acked < 10 || p.acked > 12 || p.bytes != int(p.pending()) || p.sent != 12 {
			t.Errorf("%+v", p)
		}
	})
}

func TestWhereAnswersGoIsReadAsWritten(t *testing.T) {
	p := &pipe{batch: "b1", base: 40}
	for _, flow := range []int{1, 16} {
		for p.sent, p.flow = 41, flow; p.sent < 52; p.sent++ {
			for op, want := range map[string]uint64{opAppend: p.sent - 40, opEnd: p.sent - 39} {
				subject := replySubject("inbox", p, op)
				if batch, number, ok := parseReply(subject[len("inbox."):]); batch != "b1" || number != want || !ok {
					t.Errorf("%q is parsed as %q, %d, %t; want %d", subject, batch, number, ok, want)
				}
			}
		}
	}
	for _, tail := range []string{"", "b1", ".1.fail.1.0.$FI", "b1.1.ok.1.0.$FI", "b1.1.fail.x.1.$FI", "b1.1.fail.1.2.$FI", "b1.1.fail.1.1", "b1.1.fail.1.1.$FI.$FI"} {
		if _, _, ok := parseReply(tail); ok {
			t.Errorf("%q is parsed as a subject of the log", tail)
		}
	}
}

func FuzzReply(f *testing.F) {
	f.Add("b1.16.fail.3.1.$FI")
	f.Fuzz(func(t *testing.T, tail string) {
		if batch, _, ok := parseReply(tail); ok && (batch == "" || !strings.HasPrefix(tail, batch+".")) {
			t.Errorf("%q is parsed with batch %q", tail, batch)
		}
	})
}

func FuzzSnapshotName(f *testing.F) {
	f.Add(snapshotName(7))
	f.Add("00000000000000000000-x")
	f.Fuzz(func(t *testing.T, name string) {
		if upTo, ok := parseSnapshotName(name); ok && !strings.HasPrefix(snapshotName(upTo), name[:upToDigits]) {
			t.Errorf("%q is parsed as the snapshot up to %d", name, upTo)
		}
	})
}

// logName is the reverse of NameOf. Any other stream's name is ErrName.
func logName(stream string) (string, error) {
	escaped, ok := strings.CutPrefix(stream, streamPrefix)
	if !ok || len(escaped) > maxEscaped {
		return "", fmt.Errorf("stream %.80q: %w", stream, ErrName)
	}
	name := make([]byte, 0, len(escaped))
	for i := 0; i < len(escaped); i++ {
		c := escaped[i]
		if c == '_' && i+2 < len(escaped) {
			high, low := strings.IndexByte(hexDigits, escaped[i+1]), strings.IndexByte(hexDigits, escaped[i+2])
			if high >= 0 && low >= 0 {
				c, i = byte(high<<4|low), i+2
			}
		}
		name = append(name, c)
	}
	// One name has one escaped form. Any other form is invalid.
	if again, err := escape(string(name)); err != nil || again != escaped {
		return "", fmt.Errorf("stream %q: %w", stream, ErrName)
	}
	return string(name), nil
}
