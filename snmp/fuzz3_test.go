// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/mib/smi"
)

// around returns the authenticated and encrypted message of a user whose content is
// any octets instead of a scoped PDU.
func around(tb testing.TB, k *keys, e *envelope, content []byte) []byte {
	tb.Helper()
	packet := k.seal(nil, e, nil, content)
	var sealed envelope
	if why, err := sealed.decode(packet); why != noReason {
		tb.Fatalf("cannot decode a sealed message: %v, %v", why, err)
	}
	clear(sealed.data[copy(sealed.data, content):])
	k.crypt(sealed.data, uint32(e.boots), uint32(e.time), sealed.salt, false)
	clear(sealed.digest)
	copy(sealed.digest, k.sign(packet, sealed.digestAt))
	return packet
}

// FuzzDecrypted sends authenticated messages that decrypt to any octets. There is no
// panic, and the only refusals are those of content: the message is from a user.
func FuzzDecrypted(f *testing.F) {
	r := newResponder(f, everyType(f), secured(f))
	k, own := r.secureKeys(combination{"SHA-256", "AES-128"}.name()), r.cfg.Engine
	e := &envelope{id: 1, maxSize: 1000, flags: k.level() | flagReportable, engineID: own.id, boots: int32(own.boots), time: int32(own.seconds(start))}
	for _, op := range []byte{tagGet, tagGetNext, tagGetBulk, tagSet, tagTrap, tagReport} {
		m := message{limit: MaxMessage}
		m.open(nil, op, 1, 0, 50)
		m.add(root.Append(1), smi.Null())
		pdu := bytes.Clone(m.finish())
		content := append(appendOctets(appendOctets(nil, tagOctetString, own.id), tagOctetString, ""), pdu...)
		f.Add(append([]byte{tagSequence, 0x81, byte(len(content))}, content...))
	}
	f.Add([]byte{tagSequence, 0x84, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, content []byte) {
		if len(content) > maxDatagram-300 {
			return
		}
		packet := around(t, k, e, content)
		x := r.newExchange()
		for range 2 { // the second time in memory that was used before
			out, why, _ := x.answer(bytes.Clone(packet), requester, start)
			if (out == nil) != (why != noReason) || len(out) > 2*maxAmplification*len(packet) {
				t.Fatalf("%d octets for %d, reason %v", len(out), len(packet), why)
			}
		}
		for _, p := range []problem{unknownEngineIDs, unknownUserNames, unsupportedSecLevels, wrongDigests, notInTimeWindows} {
			if n := x.counters.problems[p].Load(); n != 0 {
				t.Fatalf("problem %v is counted %d times; want none for a message of a user", p, n)
			}
		}
	})
}

// FuzzParseUsers reads any text. A user that is accepted has a name and keys of the
// lengths of its protocols, no name is twice, and no error shows a passphrase.
func FuzzParseUsers(f *testing.F) {
	f.Add([]byte("noc SHA-256 authentication-passphrase AES-128 privacy-passphrase\n"))
	f.Add([]byte("# two\n\ta sha-512 12345678\r\nb SHA-1 12345678 AES-256 87654321"))
	f.Add([]byte("noc MD5 12345678\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if bytes.Count(text, []byte("\n")) > 3 {
			return // a key takes a mebibyte of hashing
		}
		if _, err := parseUsers(append(bytes.Clone(text), "\nx NONE canary-one AES-1 canary-two\n"...), "file"); err == nil || strings.Contains(err.Error(), "canary") {
			t.Fatalf("got the error %v; want one without a passphrase", err)
		}
		users, err := parseUsers(text, "file")
		if err != nil {
			return
		}
		names := map[string]bool{}
		for _, u := range users {
			if u.Name == "" || len(u.Name) > maxUserName || names[u.Name] || len(u.authKey) != u.auth.hash().Size() || (u.priv.key > 0) != (u.privKey != nil) {
				t.Fatalf("accepted %v from %q", u, text)
			}
			names[u.Name] = true
		}
	})
}

// FuzzParseEngine reads any text. What is accepted is written and read as the same.
func FuzzParseEngine(f *testing.F) {
	f.Add("80007ed9050102030405060708090a0b0c 7\n")
	f.Add("80007ed905 2147483647")
	f.Add("80007ed905 -1\n")
	f.Fuzz(func(t *testing.T, text string) {
		id, boots, err := parseEngine(text)
		if err != nil {
			return
		}
		again, n, err := parseEngine(fmt.Sprintf("%x %d\n", id, boots))
		if err != nil || !bytes.Equal(again, id) || n != boots || boots > maxBoots {
			t.Fatalf("%q: got %x %d, then %x %d, %v", text, id, boots, again, n, err)
		}
	})
}
