// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"bytes"
	"encoding/hex"
	"io"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/pnagent/pnagent/agentx/pdu"
	"github.com/pnagent/pnagent/mib/smi"
)

func unhex(tb testing.TB, text string) []byte {
	tb.Helper()
	b, err := hex.DecodeString(string(bytes.ReplaceAll([]byte(text), []byte(" "), nil)))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func TestAnInvalidFrameEndsTheConnectionAndTheNextOneServes(t *testing.T) {
	for _, c := range []struct {
		rule, hex string
		want      Fault
	}{
		{"version 2", "02051000 00000007 00000001 00000001 00000000", FaultVersion},
		{"version 0", "00051000 00000007 00000001 00000001 00000000", FaultVersion},
		{"text", "474554202f20485454502f312e310d0a0d0a0000", FaultVersion},
		{"4 GiB", "01051000 00000007 00000001 00000001 fffffffc", FaultLength},
		{"the length in the other byte order", "01050000 07000000 01000000 01000000 00000010", FaultLength},
		{"3 bytes", "01051000 00000007 00000001 00000001 00000003", FaultLength},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := start(t, nil)
				m := f.acceptUp(t)
				m.write(unhex(t, c.hex))
				m.gone()
				m = f.acceptUp(t)
				m.serving()
				if s := f.Stats(); s.Faults[c.want] != 1 || s.Faults[FaultLost] != 0 {
					t.Fatalf("got %+v; want one fault %v and no FaultLost", s, c.want)
				}
				f.finish(m)
			})
		})
	}
}

func TestAFrameThatEndsEarlyIsALostConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		raw := encode(t, pdu.PDU{Header: pdu.Header{Session: 7}, Body: &pdu.Get{Ranges: []pdu.SearchRange{{Start: root}}}})
		for cut := 1; cut < len(raw); cut += 3 {
			m := f.acceptUp(t)
			m.write(raw[:cut])
			m.conn.Close()
		}
		m := f.acceptUp(t)
		m.serving()
		f.finish(m)
	})
}

func TestAMalformedPayloadIsAParseErrorAndTheSessionContinues(t *testing.T) {
	for answered, frames := range map[bool]map[string]string{
		true: {
			"a Get of half a range":             "01051000 00000007 00000001 00000001 00000004 00000000",
			"a name longer than the payload":    "01061000 00000007 00000001 00000001 00000008 ff000000 00000000",
			"a name of 129":                     "01061000 00000007 00000001 00000001 00000004 81000000",
			"an octet string of 4 GiB":          "01081000 00000007 00000001 00000001 0000000c 00040000 00000000 ffffffff",
			"a variable of no known type":       "01081000 00000007 00000001 00000001 00000008 00010000 00000000",
			"a context longer than the payload": "01051800 00000007 00000001 00000001 00000004 00000005",
			"a CommitSet with a payload":        "01091000 00000007 00000001 00000001 00000004 00000000",
			"type 0":                            "01001000 00000007 00000001 00000001 00000000",
			"type 19":                           "01131000 00000007 00000001 00000001 00000000",
			"type 255":                          "01ff1000 00000007 00000001 00000001 00000000",
		},
		false: {
			"a CleanupSet with a payload": "010b1000 00000007 00000001 00000001 00000004 00000000",
			"half a Response":             "01121000 00000007 00000001 00000001 00000004 00000000",
		},
	} {
		for rule, frame := range frames {
			t.Run(rule, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := start(t, nil)
					m := f.acceptUp(t)
					m.write(unhex(t, frame))
					if answered {
						if r := m.response(pdu.Header{Flags: network, Session: 7, Transaction: 1, Packet: 1}); r.Error != pdu.ParseError {
							t.Fatalf("got %+v; want error parseError", r)
						}
					}
					m.serving()
					if s := f.Stats(); s.Faults[FaultParse] != 1 {
						t.Fatalf("got %+v; want one fault FaultParse", s)
					}
					f.finish(m)
				})
			})
		}
	}
}

func TestAPDUThatAMasterDoesNotSendIsAProcessingError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		m := f.acceptUp(t)
		bodies := []pdu.Body{&pdu.Open{}, &pdu.Register{}, &pdu.Unregister{}, &pdu.Notify{}, &pdu.Ping{},
			&pdu.IndexAllocate{}, &pdu.IndexDeallocate{}, &pdu.AddAgentCaps{}, &pdu.RemoveAgentCaps{}}
		for _, body := range bodies {
			if r := m.ask(body); r.Error != pdu.ProcessingError {
				t.Errorf("answer to %v: got %+v; want error processingError", pdu.TypeOf(body), r)
			}
		}
		m.serving()
		if s := f.Stats(); s.Faults[FaultUnserved] != uint64(len(bodies)) {
			t.Fatalf("got %+v; want %d faults FaultUnserved", s, len(bodies))
		}
		f.finish(m)
	})
}

func TestUnaskedResponsesAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		m := f.acceptUp(t)
		for range 100 {
			m.send(pdu.PDU{Header: pdu.Header{Session: 7, Packet: 12345}, Body: &pdu.Response{}})
		}
		m.serving()
		if s := f.Stats(); s.Faults[FaultUnasked] != 100 {
			t.Fatalf("got %+v; want 100 faults FaultUnasked", s)
		}
		f.finish(m)
	})
}

func TestRequestsBeforeTheOpenIsAnsweredAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		m := f.accept(t)
		opening := m.read()
		m.session = 0
		if r := m.ask(&pdu.Get{Ranges: []pdu.SearchRange{{Start: root}}}); r.Error != pdu.NotOpen {
			t.Fatalf("got %+v; want error notOpen", r)
		}
		m.session = 7
		m.ok(opening)
		m.ok(m.read())
		m.serving()
		f.finish(m)
	})
}

func TestARequestMayComeOneByteAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		m := f.acceptUp(t)
		h := m.header()
		raw := encode(t, pdu.PDU{Header: h, Body: &pdu.Get{Ranges: []pdu.SearchRange{{Start: root.Append(1, 0)}, {Start: root}}}})
		if _, err := io.Copy(m.conn, iotest.OneByteReader(bytes.NewReader(raw))); err != nil {
			t.Fatal(err)
		}
		if r := m.response(h); len(r.Variables) != 2 {
			t.Fatalf("got %+v; want two variables", r)
		}
		f.finish(m)
	})
}

func TestManyRequestsMayComeInOneWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		m := f.acceptUp(t)
		var raw []byte
		var headers []pdu.Header
		for range 50 {
			h := m.header()
			headers = append(headers, h)
			raw = append(raw, encode(t, pdu.PDU{Header: h, Body: &pdu.GetNext{Ranges: []pdu.SearchRange{{Start: root}}}})...)
		}
		m.write(raw)
		for _, h := range headers { // in order
			m.response(h)
		}
		f.finish(m)
	})
}

// A master that writes and never reads: the subagent continues to read, drops
// what does not fit its queue, and gives up after 10 s.
func TestAMasterThatNeverReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		m := f.acceptUp(t)
		synctest.Wait()
		began := time.Now()
		const asked = 1000
		for range asked {
			m.send(pdu.PDU{Header: m.header(), Body: &pdu.GetNext{Ranges: []pdu.SearchRange{{Start: root}}}})
		}
		if time.Since(began) != 0 {
			t.Fatal("the reader waits for the writer")
		}
		synctest.Wait()
		s := f.Stats()
		if queued := asked - s.Faults[FaultDropped]; queued < maxQueue || queued > maxQueue+1 {
			t.Fatalf("%d queued, %+v", queued, s)
		}
		if s.Variables+s.Faults[FaultDropped] != asked {
			t.Fatalf("got %+v; want %d variables answered or dropped", s, asked)
		}
		again := f.acceptUp(t)
		if took := time.Since(began); took < writeWithin || took > writeWithin+time.Second {
			t.Errorf("given up after %v", took)
		}
		again.serving()
		f.finish(again)
	})
}

func TestADroppedAnswerMayBeAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		m := f.acceptUp(t)
		var last pdu.PDU
		sent := 0
		for f.Stats().Faults[FaultDropped] == 0 {
			last = pdu.PDU{Header: m.header(), Body: &pdu.GetNext{Ranges: []pdu.SearchRange{{Start: root}}}}
			m.send(last)
			synctest.Wait()
			sent++
		}
		for range sent - 1 {
			m.read()
		}
		m.send(last)
		m.response(last.Header)
		f.finish(m)
	})
}

func TestAnAnswerTooLargeForAFrameIsAGenErrAboutItsVariable(t *testing.T) {
	big := smi.OctetString(string(make([]byte, 60<<10)))
	layout, err := smi.NewLayout([]smi.OID{root.Append(1, 0)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		f := start(t, func(c *Config) {
			c.Tables = func() *smi.Table { return smi.NewTable(layout, []smi.Value{big}) }
		})
		m := f.acceptUp(t)
		one := pdu.SearchRange{Start: root.Append(1, 0), Include: true}
		for _, body := range []pdu.Body{
			&pdu.Get{Ranges: []pdu.SearchRange{one, one, one}},
			&pdu.GetNext{Ranges: []pdu.SearchRange{one, one, one}},
			&pdu.GetBulk{NonRepeaters: 3, Ranges: []pdu.SearchRange{one, one, one}},
		} {
			if r := m.ask(body); r.Error != pdu.GenErr || r.Index != 3 || len(r.Variables) != 0 {
				t.Errorf("answer to %v: got error %v at index %d; want genErr at 3", pdu.TypeOf(body), r.Error, r.Index)
			}
		}
		if r := m.ask(&pdu.Get{Ranges: []pdu.SearchRange{one, one}}); r.Error != pdu.NoError || len(r.Variables) != 2 {
			t.Errorf("two of them: %v", r.Error)
		}
		if s := f.Stats(); s.Faults[FaultTooBig] != 3 {
			t.Errorf("got %+v; want three faults FaultTooBig", s)
		}
		f.finish(m)
	})
}

func TestAValueThatTheFormatCannotHoldIsAGenErr(t *testing.T) {
	layout, err := smi.NewLayout([]smi.OID{root.Append(1, 0)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		f := start(t, func(c *Config) {
			c.Tables = func() *smi.Table { return smi.NewTable(layout, make([]smi.Value, 1)) }
		})
		m := f.acceptUp(t)
		if r := m.ask(&pdu.Get{Ranges: []pdu.SearchRange{{Start: root.Append(1, 0)}}}); r.Error != pdu.GenErr {
			t.Errorf("got %+v; want error genErr", r)
		}
		if s := f.Stats(); s.Faults[FaultTooBig] != 1 || s.Variables != 0 {
			t.Errorf("got %+v; want one fault FaultTooBig and no variables", s)
		}
		f.finish(m)
	})
}

// FuzzSession plays a master that sends any bytes after the registration, and
// then goes away: nothing may panic, hang or be left behind.
func FuzzSession(f *testing.F) {
	for _, text := range []string{
		"", "01051000 00000007 00000001 00000001 00000008 00000000 00000000",
		"01071000 00000007 00000001 00000001 0000000c 0000ffff 00000000 00000000",
		"01081000 00000007 00000001 00000001 00000008 00050000 00000000",
		"01021000 00000007 00000001 00000001 00000004 05000000",
		"01121000 00000007 00000001 00000001 00000008 00000000 00000000",
	} {
		f.Add(unhex(f, text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		synctest.Test(t, func(t *testing.T) {
			f := start(t, nil)
			m := f.acceptUp(t)
			go io.Copy(io.Discard, m.conn)
			m.conn.Write(raw) // fails where the subagent leaves in the middle
			m.conn.Close()
			m = f.acceptUp(t)
			m.serving()
			f.finish(m)
		})
	})
}
