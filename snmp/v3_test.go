// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // the vectors of RFC 3414
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gosnmp/gosnmp"

	"github.com/pnagent/pnagent/mib/smi"
)

// RFC 3414 section A.3.2 has the key of SHA-1 for "maplesyrup" and the engine 00
// 00 00 00 00 00 00 00 00 00 00 02.
func TestKeysAreThoseOfRFC3414(t *testing.T) {
	key := passwordToKey(sha1.New, "maplesyrup")
	local := localized(sha1.New, key, append(make([]byte, 11), 2))
	if got := hex.EncodeToString(key); got != "9fb5cc0381497b3793528939ff788d5d79145211" {
		t.Errorf("the key is %s", got)
	}
	if got := hex.EncodeToString(local); got != "6695febc9288e36282235fc7151f128497b38f3f" {
		t.Errorf("the localized key is %s", got)
	}
}

// The same passphrase and engine with the hashes of RFC 7860, which has no figures: these
// are from Python's hashlib.
func TestKeysOfRFC7860AreThoseOfHashlib(t *testing.T) {
	for name, want := range map[string]string{
		"SHA-224": "0bd8827c6e29f8065e08e09237f177e410f69b90e1782be682075674",
		"SHA-256": "8982e0e549e866db361a6b625d84cccc11162d453ee8ce3a6445c2d6776f0f8b",
		"SHA-384": "3b298f16164a11184279d5432bf169e2d2a48307de02b3d3f7e2b4f36eb6f0455a53689a3937eea07319a633d2ccba78",
		"SHA-512": "22a5a36cedfcc085807a128d7bc6c2382167ad6c0dbc5fdff856740f3d84c099ad1ea87a8db096714d9788bd544047c9021e4229ce27e4c0a69250adfcffbb0b",
	} {
		i := slices.IndexFunc(authProtocols(), func(p authProtocol) bool { return p.name == name })
		newHash := authProtocols()[i].hash
		if got := hex.EncodeToString(localized(newHash, passwordToKey(newHash, "maplesyrup"), append(make([]byte, 11), 2))); got != want {
			t.Errorf("%s: the localized key is %s", name, got)
		}
	}
}

// passwordSlowly is the algorithm of RFC 3414 section A.2.2 as it stands.
func passwordSlowly(h hash.Hash, passphrase string) []byte {
	for i := range 1 << 20 {
		h.Write([]byte{passphrase[i%len(passphrase)]})
	}
	return h.Sum(nil)
}

func TestAnyPassphraseIsRepeatedToAMebibyte(t *testing.T) {
	for _, passphrase := range []string{"12345678", "maplesyrup", strings.Repeat("x", 63), strings.Repeat("long passphrase ", 7)} {
		if got := passwordToKey(sha512.New, passphrase); !bytes.Equal(got, passwordSlowly(sha512.New(), passphrase)) {
			t.Errorf("%d octets", len(passphrase))
		}
	}
}

// CFB of NIST SP 800-38A section F.3.13 (AES-128) and F.3.17 (AES-256), which RFC
// 3826 uses with an initialization vector of boots, time and salt.
func TestEncryptionIsCFBOf128Bits(t *testing.T) {
	plain := "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411"
	for key, want := range map[string]string{
		"2b7e151628aed2a6abf7158809cf4f3c":                                 "3b3fd92eb72dad20333449f8e83cfb4ac8a64537a0b3a93fcde3cdad9f1ce58b26751f67a3cbb140",
		"603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4": "dc7e84bfda79164b7ecd8486985d386039ffed143b28b1c832113c6331e5407bdf10132415e54b92",
	} {
		k := &keys{block: block(t, key)}
		data, _ := hex.DecodeString(plain)
		salt := []byte{8, 9, 10, 11, 12, 13, 14, 15}
		k.crypt(data, 0x00010203, 0x04050607, salt, false)
		if got := hex.EncodeToString(data); got != want {
			t.Errorf("encrypted to %s; want %s", got, want)
		}
		k.crypt(data, 0x00010203, 0x04050607, salt, true)
		if got := hex.EncodeToString(data); got != plain {
			t.Errorf("decrypted to %s", got)
		}
	}
}

func block(t *testing.T, key string) cipher.Block {
	t.Helper()
	octets, err := hex.DecodeString(key)
	if err != nil {
		t.Fatal(err)
	}
	b, err := aes.NewCipher(octets)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// RFC 7860 section 4.1: the octets of the HMAC that are the digest.
func TestDigestsHaveTheSizesOfRFC7860(t *testing.T) {
	got := map[string]int{}
	for _, p := range authProtocols() {
		got[p.name] = p.mac
	}
	if diff := cmp.Diff(map[string]int{"SHA-1": 12, "SHA-224": 16, "SHA-256": 24, "SHA-384": 32, "SHA-512": 48}, got); diff != "" {
		t.Error(diff)
	}
}

// RFC 4231 section 4.3, of which a message has the first octets.
func TestADigestIsTheBeginningOfTheHMAC(t *testing.T) {
	k := &keys{mac: hmac.New(sha256.New, []byte("Jefe")), digest: 24}
	sum := k.sign([]byte("what do ya want for nothing?"+strings.Repeat("\x00", 24)), 28)
	k2 := hmac.New(sha256.New, []byte("Jefe"))
	k2.Write([]byte("what do ya want for nothing?"))
	k2.Write(make([]byte, 24))
	if !bytes.Equal(sum, k2.Sum(nil)[:24]) {
		t.Error("another digest")
	}
}

// combination is a user of each pair of protocols.
type combination struct{ auth, priv string }

func (c combination) name() string { return strings.ToLower(c.auth + c.priv) }

func combinations() (all []combination) {
	for _, a := range authProtocols() {
		all = append(all, combination{a.name, ""})
		for _, p := range privProtocols() {
			all = append(all, combination{a.name, p.name})
		}
	}
	return all
}

const (
	authPassphrase = "authenticate-me"
	privPassphrase = "encrypt-me-too"
)

func users(tb testing.TB) []User {
	tb.Helper()
	all, err := parsedUsers()
	if err != nil {
		tb.Fatal(err)
	}
	return slices.Clone(all)
}

// parsedUsers makes the keys once: a passphrase takes milliseconds.
var parsedUsers = sync.OnceValues(func() ([]User, error) {
	var text strings.Builder
	for _, c := range combinations() {
		fmt.Fprintf(&text, "%s %s %s", c.name(), c.auth, authPassphrase)
		if c.priv != "" {
			fmt.Fprintf(&text, " %s %s", c.priv, privPassphrase)
		}
		text.WriteByte('\n')
	}
	return parseUsers([]byte(text.String()), "users")
})

// user returns the user.
func (c combination) user(tb testing.TB) *User {
	all := users(tb)
	return &all[slices.Index(combinations(), c)]
}

// secured makes a responder answer SNMPv3 alone.
func secured(tb testing.TB) func(*Config) {
	engine, err := OpenEngine("", 32473, start)
	if err != nil {
		tb.Fatal(err)
	}
	all := users(tb)
	return func(c *Config) { c.Community, c.Users, c.Engine = "", all, engine }
}

// options are those of net-snmp's tools.
func (c combination) options() []string {
	options := []string{"-v3", "-u", c.name(), "-a", c.auth, "-A", authPassphrase, "-l", "authNoPriv"}
	if c.auth == "SHA-1" {
		options[4] = "SHA"
	}
	if c.priv == "" {
		return options
	}
	options[len(options)-1] = "authPriv"
	priv := c.priv
	if priv == "AES-128" {
		priv = "AES"
	}
	return append(options, "-x", priv, "-X", privPassphrase)
}

func TestNetSNMPWalksByEveryPairOfProtocols(t *testing.T) {
	table := withoutOpaque(t)
	addr := serve(t, newResponder(t, table, secured(t)))
	for _, c := range combinations() {
		for tool, more := range map[string][]string{"snmpwalk": nil, "snmpbulkwalk": {"-Cr50"}} {
			t.Run(c.name()+" "+tool, func(t *testing.T) {
				t.Parallel()
				out, err := netSNMP(t, addr, tool, append(append(c.options(), more...), "ADDR", root.String())...)
				if strings.Contains(out, "Invalid privacy protocol") {
					t.Skip("this build of net-snmp has no " + c.priv)
				}
				if err != nil {
					t.Fatal(err, out)
				}
				out = strings.Split(out, "."+table.At(table.Len()-1).Name.String()+" = No more variables")[0]
				if diff := cmp.Diff(asNetSNMP(table), tidied(out)); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

func TestNetSNMPIsToldWhatIsWrong(t *testing.T) {
	r := newResponder(t, everyType(t), secured(t))
	addr := serve(t, r)
	good := combination{"SHA-256", "AES-128"}
	changed := func(from, to string) []string {
		options := good.options()
		for i := range options {
			if options[i] == from {
				options[i] = to
			}
		}
		return options
	}
	for _, c := range []struct {
		rule, want, problem string
		options             []string
	}{
		{"another user", "Unknown user name", "unknownUserNames", changed(good.name(), "nobody")},
		{"another passphrase", "Authentication failure", "wrongDigests", changed(authPassphrase, "wrong-passphrase")},
		{"another key of privacy", "Decryption error", "decryptionErrors", changed(privPassphrase, "wrong-passphrase")},
		{"without privacy", "Unsupported security level", "unsupportedSecLevels", changed("authPriv", "authNoPriv")},
		{"without authentication", "Unsupported security level", "unsupportedSecLevels", changed("authPriv", "noAuthNoPriv")},
		{"another context", "Bad context specified", "unknownContexts", append(good.options(), "-n", "other")},
	} {
		t.Run(c.rule, func(t *testing.T) {
			before := problems(r)[c.problem]
			out, err := netSNMP(t, addr, "snmpget", append(c.options, "ADDR", sysUpTime)...)
			if err == nil || !strings.Contains(strings.ToLower(out), strings.ToLower(c.want)) {
				t.Errorf("%v: %s", err, out)
			}
			if problems(r)[c.problem] == before {
				t.Errorf("not counted: %v", problems(r))
			}
		})
	}
	if out, err := netSNMP(t, addr, "snmpget", "-r", "0", "-t", "0.2", "ADDR", sysUpTime); err == nil {
		t.Error("SNMPv2c was answered: " + out)
	}
}

func problems(r *Responder) map[string]uint64 { return counted(noProblem+1, r.counters.problems[:]) }

func TestGosnmpWalksByUser(t *testing.T) {
	table := counts(t, 1000, 7)
	addr := serve(t, newResponder(t, table, secured(t)))
	for _, p := range []struct {
		combination
		auth gosnmp.SnmpV3AuthProtocol
		priv gosnmp.SnmpV3PrivProtocol
	}{
		{combination{"SHA-256", "AES-128"}, gosnmp.SHA256, gosnmp.AES},
		{combination{"SHA-512", "AES-256"}, gosnmp.SHA512, gosnmp.AES256},
		{combination{"SHA-1", "AES-256"}, gosnmp.SHA, gosnmp.AES256},
	} {
		client := connect(t, addr, func(g *gosnmp.GoSNMP) {
			g.Version, g.SecurityModel, g.MsgFlags = gosnmp.Version3, gosnmp.UserSecurityModel, gosnmp.AuthPriv
			g.SecurityParameters = &gosnmp.UsmSecurityParameters{UserName: p.name(), AuthenticationPassphrase: authPassphrase, PrivacyPassphrase: privPassphrase,
				AuthenticationProtocol: p.auth, PrivacyProtocol: p.priv}
		})
		var got []string
		err := client.BulkWalk("."+root.String(), func(pdu gosnmp.SnmpPDU) error {
			got = append(got, variable(t, pdu).String())
			return nil
		})
		if diff := cmp.Diff(listed(table), got); err != nil || diff != "" {
			t.Error(p.name(), err, diff)
		}
	}
}

// secureKeys returns new keys of the user for the responder's engine.
func (r *Responder) secureKeys(name string) *keys {
	for i := range r.cfg.Users {
		if r.cfg.Users[i].Name == name {
			return r.cfg.Users[i].keys(r.cfg.Engine.id)
		}
	}
	panic("no user " + name)
}

// ask3 makes a request of a user, at the time of the engine and at its level
// unless change says otherwise.
func ask3(tb testing.TB, r *Responder, c combination, now time.Time, change func(*envelope)) []byte {
	tb.Helper()
	m := message{limit: MaxMessage}
	m.open(nil, tagGetBulk, 4711, 0, 50)
	m.add(root.Append(3), smi.Null())
	own := r.cfg.Engine
	e := envelope{id: 77, maxSize: 65507, engineID: own.id, boots: int32(own.boots), time: int32(own.seconds(now))}
	k := r.secureKeys(c.name())
	e.flags = k.level() | flagReportable
	if change != nil {
		change(&e)
	}
	return k.seal(nil, &e, own.id, m.finish())
}

func TestTheTimeWindowIs150Seconds(t *testing.T) {
	r := newResponder(t, counts(t, 10, 1), secured(t))
	now := start.Add(1000 * time.Second)
	c := combination{"SHA-256", "AES-128"}
	for _, step := range []struct {
		rule        string
		boots, time int32
		ok          bool
	}{
		{"now", 1, 1000, true}, {"late", 1, 850, true}, {"too late", 1, 849, false}, {"early", 1, 1150, true}, {"too early", 1, 1151, false},
		{"before the last start", 0, 1000, false}, {"after the next start", 2, 1000, false}, {"the last of all starts", 1<<31 - 1, 1000, false},
	} {
		before := problems(r)["notInTimeWindows"]
		out, why, err := r.newExchange().answer(ask3(t, r, c, now, func(e *envelope) { e.boots, e.time = step.boots, step.time }), requester, now)
		if why != noReason || out == nil {
			t.Fatal(step.rule, why, err)
		}
		if ok := problems(r)["notInTimeWindows"] == before; ok != step.ok {
			t.Errorf("%s: answered %v", step.rule, ok)
		}
	}
}

// A Report must be asked for, and is never more than its request may cost.
func TestReportsAreBounded(t *testing.T) {
	r := newResponder(t, counts(t, 10, 1), secured(t))
	x := r.newExchange()
	c := combination{"SHA-256", ""}
	discovery := ask3(t, r, c, start, func(e *envelope) { e.engineID, e.flags = nil, flagReportable })
	in, out := 0, 0
	for range 100 {
		answer, _, _ := x.answer(discovery, requester, start)
		in, out = in+len(discovery), out+len(answer)
	}
	if out == 0 || out > maxAmplification*in {
		t.Errorf("%d octets for %d", out, in)
	}
	answer, why, _ := x.answer(ask3(t, r, c, start, func(e *envelope) { e.engineID, e.flags = nil, 0 }), requester, start)
	if answer != nil || why != notReportable {
		t.Errorf("answered % x, %v", answer, why)
	}
}

func TestABulkOfAUserKeepsToTheSizeOfTheMessage(t *testing.T) {
	for _, size := range []int32{MinMessage, 900, 1 << 30} {
		r := newResponder(t, counts(t, 1000, 1<<60), secured(t))
		x := r.trusted()
		out, why, err := x.answer(ask3(t, r, combination{"SHA-512", "AES-256"}, start, func(e *envelope) { e.maxSize = size }), requester, start)
		limit := min(int(size), DefaultMessage)
		if why != noReason || len(out) > limit || len(out) < limit-60 {
			t.Errorf("%d octets of %d, %v, %v", len(out), limit, why, err)
		}
	}
}

func TestTheEngineIsKeptOverRestarts(t *testing.T) {
	name := filepath.Join(t.TempDir(), "state", "engine")
	first, err := OpenEngine(name, 32473, start)
	if err != nil {
		t.Fatal(err)
	}
	second, err := OpenEngine(name, 9, start.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.ID(), second.ID()) || first.boots != 1 || second.boots != 2 || hex.EncodeToString(first.ID()[:5]) != "80007ed905" {
		t.Errorf("engines %x %d and %x %d", first.ID(), first.boots, second.ID(), second.boots)
	}
	if second.seconds(start.Add(time.Hour+7*time.Second)) != 7 || second.seconds(start) != 0 {
		t.Error("snmpEngineTime counts from another start")
	}
	for _, bad := range []string{"", "zz 1\n", "80007ed9 1\n", "80007ed905aa x\n", "80007ed905aa 4294967295\n", "80007ed905aa"} {
		if err := os.WriteFile(name, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenEngine(name, 9, start); err == nil || !strings.Contains(err.Error(), name+":1:1: expected an engine id") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := os.WriteFile(name, []byte("80007ed905aa 2147483647\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if e, err := OpenEngine(name, 9, start); err != nil || e.inWindow(1<<31-1, 0, start) {
		t.Errorf("an engine that can start no more accepts messages, %v", err)
	}
}

func TestUsersAreReadWithoutShowingTheirSecrets(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "f has no user",
		"noc SHA-256\n":                  "f:1:1: 2 fields",
		"# x\n\nnoc MD5 s3cret-s3cret\n": "f:3:5: unknown authentication protocol",
		"noc SHA-256 s3cret\n":           "f:1:13: a passphrase of 6 octets",
		"noc sha-256 s3cret-s3cret DES s3cret-s3cret\n":                           "f:1:27: unknown privacy protocol; expected one of AES-128, AES-256",
		"noc SHA-256 s3cret-s3cret AES-128 s3cret\n":                              "f:1:35: a passphrase of 6 octets",
		"noc SHA-256 s3cret-s3cret\nnoc SHA-512 s3cret-s3cret\n":                  `user "noc" is in line 1 too`,
		strings.Repeat("n", 33) + " SHA-256 s3cret-s3cret\n":                      "f:1:1: a user name of 33 octets",
		"noc SHA-256 s3cret-s3cret \xff\n":                                        "expected UTF-8",
		"\t noc  SHA-256 \ts3cret-s3cret\r\n":                                     "",
		"noc SHA-512 s3cret-s3cret aes-256 s3cret-other\nops SHA-1 s3cret-s3cret": "",
	} {
		all, err := parseUsers([]byte(text), "f")
		shown := fmt.Sprintf("%v %+v %#v %s", all, all, all, err)
		if (err == nil) != (want == "") || err != nil && (!errors.Is(err, ErrUsers) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
		if strings.Contains(shown, "s3cret") || len(all) > 0 && strings.Contains(shown, string(all[0].authKey[:4])) {
			t.Errorf("a secret is in %s", shown)
		}
	}
	for mode, ok := range map[os.FileMode]bool{0o600: true, 0o640: true, 0o400: true, 0o644: false, 0o660: false, 0o604: false} {
		name := filepath.Join(t.TempDir(), "users")
		if err := errors.Join(os.WriteFile(name, []byte("noc SHA-256 s3cret-s3cret\n"), 0o600), os.Chmod(name, mode)); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadUsersFile(name); (err == nil) != ok {
			t.Errorf("mode %#o: %v", mode, err)
		}
	}
}

func TestAnAnswerToAUserIsNotSeenByOthers(t *testing.T) {
	r := newResponder(t, everyType(t), secured(t))
	conn, err := net.DialUDP("udp", nil, serve(t, r))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write(ask3(t, r, combination{"SHA-256", "AES-128"}, start, nil)); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 2000)
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	n, err := conn.Read(answer)
	if err != nil || bytes.Contains(answer[:n], []byte{0x2b, 6, 1}) {
		t.Errorf("read % x, %v", answer[:n], err)
	}
}
