// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"bytes"
	"fmt"
	"maps"
	"net"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// reported is what a Report has.
type reported struct {
	ID      int32
	Counter string
}

// report3 sends a request of SNMPv3 and returns the Report to it, and the envelope that has the
// engine.
func report3(t *testing.T, addr string, packet []byte) (reported, envelope) {
	t.Helper()
	conn, err := net.Dial("udp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute)) // the socket is open
	answer := make([]byte, maxDatagram)
	if _, err := conn.Write(packet); err != nil {
		t.Fatal(err)
	}
	n, err := conn.Read(answer)
	if err != nil {
		t.Fatal(err)
	}
	var e envelope
	if why, err := e.decode(answer[:n]); why != noReason {
		t.Fatal(why, err)
	}
	if e.flags&flagPriv != 0 {
		t.Fatal("an encrypted answer")
	}
	var s scoped
	if err := s.open(e.data); err != nil || s.tag != tagReport {
		t.Fatalf("%v: a PDU with the tag %x", err, s.tag)
	}
	var q request
	if err := q.decodePDU(s.pdu); err != nil || q.names() != 1 {
		t.Fatal(err, q.names())
	}
	return reported{q.id, q.name(0).String()}, e
}

// reports returns the Reports of an agent to requests that it refuses.
func reports(t *testing.T, addr string, snmpd bool, auth, priv *User) map[string]reported {
	t.Helper()
	got := map[string]reported{}
	send := func(rule string, k *keys, e envelope) envelope {
		m := message{limit: MaxMessage}
		m.open(nil, tagGet, 4711, 0, 0)
		m.add(smi.OID{1, 3, 6, 1, 2, 1, 1, 3, 0}, smi.Null())
		e.id, e.maxSize, e.flags = 77, maxDatagram, e.flags|flagReportable
		r, answer := report3(t, addr, k.seal(nil, &e, e.engineID, m.finish()))
		got[rule] = r
		return answer
	}
	found := send("no engine", &keys{}, envelope{})
	id := bytes.Clone(found.engineID)
	at := func(flags byte, boots int32) envelope {
		return envelope{flags: flags, engineID: id, boots: found.boots + boots, time: found.time}
	}
	const plain, encrypted = flagAuth, flagAuth | flagPriv
	send("another engine", &keys{}, envelope{engineID: append([]byte("another"), id...)})
	send("an unknown user", &keys{user: "unknown"}, at(0, 0))
	send("another boot", auth.keys(id), at(plain, 1))
	send("another boot, encrypted", priv.keys(id), at(encrypted, 1))
	other := passwordToKey(auth.auth.hash, "another passphrase")
	wrongAuth, wrongPriv, wrongKey := *auth, *priv, *priv
	wrongAuth.authKey, wrongPriv.authKey, wrongKey.privKey = other, other, other
	send("another key", wrongAuth.keys(id), at(plain, 0))
	send("another key, encrypted", wrongPriv.keys(id), at(encrypted, 0))
	if !snmpd { // which refuses the first by its views, and is silent to the second
		send("without authentication", &keys{user: auth.Name}, at(0, 0))
		send("another key of privacy", wrongKey.keys(id), at(encrypted, 0))
	}
	return got
}

// RFC 3412 section 7.1 step 3: a Report has the request-id of the request if it can be decoded.
func TestAReportHasTheRequestIDOfItsRequest(t *testing.T) {
	auth, priv := combination{"SHA-1", ""}, combination{"SHA-1", "AES-128"}
	r := newResponder(t, everyType(t), secured(t))
	addr := serve(t, r)
	got := reports(t, addr.String(), false, auth.user(t), priv.user(t))
	ids := map[string]int32{}
	for rule, report := range got {
		ids[rule] = report.ID
	}
	if diff := cmp.Diff(map[string]int32{"no engine": 4711, "another engine": 4711, "an unknown user": 4711, "without authentication": 4711, "another boot": 4711,
		"another boot, encrypted": 0, "another key": 4711, "another key, encrypted": 0, "another key of privacy": 0}, ids); diff != "" {
		t.Error(diff)
	}
	t.Run("snmpd", func(t *testing.T) {
		s := snmptest.Start(t, snmptest.Config{Lines: []string{
			fmt.Sprintf("createUser %s SHA %s", auth.name(), authPassphrase), "rouser " + auth.name() + " auth",
			fmt.Sprintf("createUser %s SHA %s AES %s", priv.name(), authPassphrase, privPassphrase), "rouser " + priv.name() + " priv"}})
		want := reports(t, s.Addr, true, auth.user(t), priv.user(t))
		maps.DeleteFunc(got, func(rule string, _ reported) bool { return want[rule] == reported{} })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}
