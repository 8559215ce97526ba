// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/pnagent/pnagent/stats"
)

// addSeeds adds the golden messages and some random ones.
func addSeeds(f *testing.F) {
	for _, name := range []string{"snapshot.pb", "snapshot.json", "snapshot_actions.pb", "snapshot_actions.json", "snapshot_slowest.pb", "snapshot_slowest.json", "snapshot_region.pb", "snapshot_region.json", "snapshot_what.pb", "snapshot_what.json", "snapshot_remnants.pb", "snapshot_remnants.json", "snapshot_refused.pb", "snapshot_refused.json"} {
		golden, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(golden)
	}
	r := rand.New(rand.NewPCG(9, 9))
	for range 3 {
		s := sparse(r, snapshotOf(randomRows(r, now0, [2]int{9, 9})))
		payload, err := new(Encoder).Append(nil, &s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(payload)
	}
}

// For any input, decoding does not panic and errors have a reason. A decoded
// snapshot is encoded to a message that decodes to the same snapshot.
func FuzzDecode(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, payload []byte) {
		var enc Encoder
		var dec Decoder
		for lane, decode := range map[string]func([]byte, *Snapshot) error{"protobuf": dec.Decode, "json": dec.DecodeJSON} {
			var first, again Snapshot
			if err := decode(payload, &first); err != nil {
				if ReasonOf(err) == "" {
					t.Fatalf("%s: no reason: %v", lane, err)
				}
				continue
			}
			encoded, err := enc.Append(nil, &first)
			if err != nil {
				t.Fatalf("%s: encode what was decoded: %v", lane, err)
			}
			if len(encoded) > MaxMessage {
				continue
			}
			if err := dec.Decode(encoded, &again); err != nil {
				t.Fatalf("%s: decode again: %v", lane, err)
			}
			if d := cmp.Diff(first, again, same); d != "" {
				t.Fatalf("%s (-first +again):\n%s", lane, d)
			}
		}
	})
}

// A reply is PNML, or gzipped PNML, or is rejected. It never exceeds the bound.
func FuzzUnpack(f *testing.F) {
	packed, _, err := pack(make([]byte, 2000), 1000+replyOverhead)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(packed, true)
	f.Add([]byte("<pnml/>"), false)
	f.Fuzz(func(t *testing.T, reply []byte, gzipped bool) {
		msg := &nats.Msg{Data: reply}
		if gzipped {
			msg.Header = nats.Header{encodingHeader: {encodingGzip}}
		}
		pnml, err := unpack(msg)
		if err == nil && (len(pnml) > MaxDefinition || !gzipped && !bytes.Equal(pnml, reply)) {
			t.Fatalf("%d bytes of %d", len(pnml), len(reply))
		}
	})
}

// Each request gets an answer or an error code.
func FuzzOldest(f *testing.F) {
	cfg := testConfig("a")
	cfg.Oldest = func(_, _ int, q *stats.Query) (stats.Found, error) {
		return stats.Found{Tokens: make([]stats.FoundToken, 2*q.Limit)}, nil
	}
	cfg.Instance = func(_ int, name string) (*Instance, error) {
		return &Instance{Instance: name, Tokens: make([]InstanceToken, 2*MaxHeld)}, nil
	}
	p, err := newPublisher(cfg, &fakeLink{}, 1)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"digest":"` + Digest(cfg.Nets[0].PNML) + `","place":1,"limit":3}`))
	f.Add([]byte(`{"digest":"` + Digest(cfg.Nets[0].PNML) + `","place":1,"name":"7","data":"a=1","until":5,"from":3,"from_instance":"a"}`))
	f.Add([]byte(`{"instance":"host-1/7"}`))
	f.Fuzz(func(t *testing.T, request []byte) {
		reply, code, err := p.oldest(0, request)
		if (err == nil) != (code == "") || (err == nil) != json.Valid(reply) {
			t.Fatalf("reply %q, code %q, %v", reply, code, err)
		}
	})
}

// An accepted answer about an instance is within the bounds.
func FuzzInstance(f *testing.F) {
	f.Add([]byte(`{"instance":"i","at":9,"tokens":[{"place":"p","tokens":2,"injected":5,"waits":[{"transition":"t","reason":"missing","count":1,"until":7}]}]}`))
	f.Add([]byte(`{"tokens":[{"injected":-1}]}`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		i, err := readInstance(answer)
		if err != nil {
			if ReasonOf(err) == "" {
				t.Fatalf("rejected without a reason: %v", err)
			}
			return
		}
		for _, token := range i.Tokens {
			if len(i.Tokens) > MaxHeld || token.Injected < 0 || token.Injected > MaxTime || i.At < 0 || i.At > MaxTime {
				t.Fatalf("%+v", i)
			}
		}
	})
}

// FuzzDiscovered: an answer is rejected with a reason, or has names that subjects can hold.
func FuzzDiscovered(f *testing.F) {
	f.Add([]byte(`{"metadata":{"source":"berlin","prefix":"petrinet.v1","tool":"a console"},"endpoints":[{"metadata":{"net":"order","digest":"9f"}}]}`))
	f.Add([]byte(`{"metadata":{"prefix":"petrinet.v2"}}`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		d, err := readDiscovered(answer, Subjects{})
		if err != nil {
			if ReasonOf(err) == "" {
				t.Fatalf("rejected without a reason: %v", err)
			}
			return
		}
		names := []string{d.Source}
		for net, digest := range d.Nets {
			names = append(names, net)
			if checkText(digest, MaxName) != nil {
				t.Fatalf("digest %q", digest)
			}
		}
		for _, name := range names {
			if CheckName(name) != nil || len(d.Tool) > stats.MaxWhat {
				t.Fatalf("%+v", d)
			}
		}
	})
}

// unpacked returns a message with columns that are not packed, a table in two
// parts and unknown fields: valid, although no encoder of this package writes
// it.
func unpacked() []byte {
	var places []byte
	for _, tokens := range []uint64{3, 300, 1 << 40} {
		places = protowire.AppendVarint(protowire.AppendTag(places, 2, protowire.VarintType), tokens)
	}
	places = protowire.AppendFixed64(protowire.AppendTag(places, 99, protowire.Fixed64Type), 7)
	var b []byte
	b = protowire.AppendBytes(protowire.AppendTag(b, 11, protowire.BytesType), places)
	b = protowire.AppendString(protowire.AppendTag(b, 200, protowire.BytesType), "later")
	return protowire.AppendBytes(protowire.AppendTag(b, 11, protowire.BytesType), places)
}

func TestUnpackedColumnsAndUnknownFieldsAreRead(t *testing.T) {
	s := snapshotOf(stats.Rows{})
	s.Rows.Columns = 0
	payload, err := new(Encoder).Append(nil, &s)
	if err != nil {
		t.Fatal(err)
	}
	var got Snapshot
	if err := new(Decoder).Decode(append(payload, unpacked()...), &got); err != nil {
		t.Fatal(err)
	}
	var tokens []uint64
	for _, p := range got.Rows.Places {
		tokens = append(tokens, p.Tokens)
	}
	if d := cmp.Diff([]uint64{3, 300, 1 << 40, 3, 300, 1 << 40}, tokens); d != "" || got.Rows.Columns != stats.ColTokens {
		t.Errorf("columns %b (-want +got):\n%s", got.Rows.Columns, d)
	}
}
