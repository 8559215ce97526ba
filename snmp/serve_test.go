// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gosnmp/gosnmp"

	"github.com/pnagent/pnagent/mib/smi"
)

// serve answers on a free port of the loopback until the test ends.
func serve(tb testing.TB, r *Responder) *net.UDPAddr {
	tb.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- r.Serve(ctx, conn) }()
	tb.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			tb.Error(err)
		}
	})
	return conn.LocalAddr().(*net.UDPAddr)
}

func connect(tb testing.TB, addr *net.UDPAddr, change func(*gosnmp.GoSNMP)) *gosnmp.GoSNMP {
	tb.Helper()
	client := &gosnmp.GoSNMP{Target: addr.IP.String(), Port: uint16(addr.Port), Version: gosnmp.Version2c, Community: "public",
		Timeout: time.Minute, MaxOids: 60, MaxRepetitions: 50}
	if change != nil {
		change(client)
	}
	if err := client.Connect(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = client.Conn.Close() })
	return client
}

// listed are the variables of a table, as smi prints them.
func listed(table *smi.Table) []string {
	var out []string
	for i := range table.Len() {
		out = append(out, table.At(i).String())
	}
	return out
}

func TestGosnmpWalksTheTable(t *testing.T) {
	for name, table := range map[string]*smi.Table{"every type": everyType(t), "3,000 counters": counts(t, 3000, 1<<63)} {
		// As net-snmp's tools, it asks again where a response is larger than an address without a
		// proof is sent.
		patient := func(c *gosnmp.GoSNMP) { c.Timeout, c.Retries = time.Second, 5 }
		client := connect(t, serve(t, newResponder(t, table, nil)), patient)
		for method, walk := range map[string]func(string, gosnmp.WalkFunc) error{"GetNext": client.Walk, "GetBulk": client.BulkWalk} {
			t.Run(name+" by "+method, func(t *testing.T) {
				var got []string
				err := walk("."+root.String(), func(pdu gosnmp.SnmpPDU) error {
					got = append(got, variable(t, pdu).String())
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(listed(table), got); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

func TestAWalkOverManyPacketsSeesOneTable(t *testing.T) {
	const rows, tick = 1000, 1_000_000
	generation := uint64(0)
	r := newResponder(t, nil, func(c *Config) {
		c.Table = func() *smi.Table { // another one for each packet
			generation++
			return counts(t, rows, generation*tick)
		}
	})
	var first, n uint64
	client := connect(t, serve(t, r), nil)
	err := client.BulkWalk("."+root.String(), func(pdu gosnmp.SnmpPDU) error {
		value := gosnmp.ToBigInt(pdu.Value).Uint64()
		if n == 0 {
			first = value
		}
		if value != first+n {
			t.Errorf("row %d: got %d; want %d, with which the walk began", n, value, first)
		}
		n++
		return nil
	})
	if err != nil || n != rows {
		t.Errorf("walked %d rows, %v", n, err)
	}
	if packets := count(r, "getbulk"); packets < 10 {
		t.Errorf("the walk took only %d packets", packets)
	}
}

func TestGosnmpGetsExceptions(t *testing.T) {
	client := connect(t, serve(t, newResponder(t, everyType(t), nil)), nil)
	prefix := "." + root.String()
	got, err := client.Get([]string{prefix + ".1.1.0", prefix + ".1.1.7", prefix + ".77"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1.1.0 = INTEGER: 0", "1.1.7 = noSuchInstance", "77 = noSuchObject"}, shown(t, got)); diff != "" {
		t.Error(diff)
	}
	got, err = client.Set([]gosnmp.SnmpPDU{{Name: prefix + ".1.1.0", Type: gosnmp.Integer, Value: 1}})
	if err != nil || got.Error != gosnmp.NotWritable || got.ErrorIndex != 1 {
		t.Errorf("set answered %+v, %v", got, err)
	}
}

func TestBadPacketsOnlyCost(t *testing.T) {
	var logged bytes.Buffer
	r := newResponder(t, everyType(t), func(c *Config) {
		c.Community = "s3cret"
		c.Log = slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	addr := serve(t, r)
	raw, err := net.DialUDP("udp", nil, addr)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	with := func(version gosnmp.SnmpVersion, community string, op gosnmp.PDUType) []byte {
		return ask(t, op, func(p *gosnmp.SnmpPacket) { p.Version, p.Community = version, community }, "1.1.0")
	}
	for range 3 {
		for _, packet := range [][]byte{{}, []byte("nonsense"), bytes.Repeat([]byte{0x30}, 2000),
			with(gosnmp.Version1, "s3cret", gosnmp.GetRequest), with(gosnmp.Version2c, "wrong", gosnmp.GetRequest),
			with(gosnmp.Version2c, "s3cret", gosnmp.GetResponse), with(gosnmp.Version2c, "s3cret", gosnmp.InformRequest)} {
			if _, err := raw.Write(packet); err != nil {
				t.Fatal(err)
			}
		}
	}
	// The answer to a good request comes after all that was sent before it, and is the only one.
	if _, err := raw.Write(with(gosnmp.Version2c, "s3cret", gosnmp.GetRequest)); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 2000)
	if err := raw.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	n, err := raw.Read(answer)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1.1.0 = INTEGER: 0"}, shown(t, decoded(t, answer[:n]))); diff != "" {
		t.Error(diff)
	}
	for label, want := range map[string]uint64{"malformed": 9, "version": 3, "community": 3, "not_request": 6, "send": 0,
		"get": 1, "getnext": 0, "getbulk": 0, "set": 0} {
		if got := count(r, label); got != want {
			t.Errorf("%s: counted %d, want %d", label, got, want)
		}
	}
	if r.counters.variables.Load() != 1 {
		t.Errorf("counted %d variables", r.counters.variables.Load())
	}
	if lines := strings.Count(logged.String(), "\n"); lines != 4 {
		t.Errorf("logged %d lines, want one for each of 4 reasons:\n%s", lines, logged.String())
	}
	if strings.Contains(logged.String(), "s3cret") {
		t.Error("the community is in the log")
	}
}

func TestServeEndsWithAnErrorWhenTheSocketDoes(t *testing.T) {
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if err := newResponder(t, nil, nil).Serve(context.Background(), conn); err == nil {
		t.Error("no error")
	}
}

// netSNMP runs a tool of net-snmp against addr and gives its output.
func netSNMP(t *testing.T, addr *net.UDPAddr, tool string, args ...string) (string, error) {
	t.Helper()
	path, err := exec.LookPath(tool)
	if err != nil {
		t.Skipf("%s is not installed (Debian: snmp)", tool)
	}
	args = append([]string{"-v2c", "-c", "public", "-m", "", "-M", "/nonexistent", "-On", "-Oe", "-Ox", "-Ot", "-r", "1", "-t", "10"}, args...)
	for i, arg := range args {
		if arg == "ADDR" {
			args[i] = addr.String()
		}
	}
	own := t.TempDir()
	if err := os.Mkdir(filepath.Join(own, "cert_indexes"), 0o700); err != nil { // else the tool reports that it made it
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(cmd.Environ(), "SNMPCONFPATH="+own, "SNMP_PERSISTENT_DIR="+own)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// asNetSNMP is a table as "snmpwalk -On -Oe -Ox -Ot" prints it.
func asNetSNMP(table *smi.Table) string {
	var out strings.Builder
	for i := range table.Len() {
		v := table.At(i)
		fmt.Fprintf(&out, ".%v = ", v.Name)
		switch v.Value.Type {
		case smi.TypeInteger:
			fmt.Fprintf(&out, "INTEGER: %d", v.Value.Int())
		case smi.TypeCounter32, smi.TypeGauge32, smi.TypeCounter64:
			fmt.Fprintf(&out, "%v: %d", v.Value.Type, v.Value.Num)
		case smi.TypeTimeTicks:
			out.WriteString(strconv.FormatUint(v.Value.Num, 10))
		case smi.TypeObjectIdentifier:
			fmt.Fprintf(&out, "OID: .%v", v.Value.OID())
		case smi.TypeIPAddress:
			fmt.Fprintf(&out, "IpAddress: %d.%d.%d.%d", v.Value.Str[0], v.Value.Str[1], v.Value.Str[2], v.Value.Str[3])
		case smi.TypeOctetString:
			if v.Value.Str == "" {
				out.WriteString(`""`)
				break
			}
			out.WriteString("Hex-STRING:")
			for _, b := range []byte(v.Value.Str) {
				fmt.Fprintf(&out, " %02X", b)
			}
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// withoutOpaque is every type but Opaque, which net-snmp looks into.
func withoutOpaque(t *testing.T) *smi.Table {
	table := everyType(t)
	var names []smi.OID
	var values []smi.Value
	for i := range table.Len() {
		if v := table.At(i); v.Value.Type != smi.TypeOpaque {
			names, values = append(names, v.Name), append(values, v.Value)
		}
	}
	return newTable(t, names, nil, values)
}

// tidied joins the lines into which net-snmp breaks hexadecimal.
func tidied(out string) string {
	lines := strings.Split(out, "\n")
	var b strings.Builder
	for i, line := range lines {
		if i > 0 && strings.HasPrefix(line, ".") {
			b.WriteByte('\n')
		} else if i > 0 && line != "" {
			b.WriteByte(' ')
		}
		b.WriteString(strings.TrimRight(line, " "))
	}
	return b.String() + "\n"
}

func TestNetSNMPWalksTheTable(t *testing.T) {
	for name, table := range map[string]*smi.Table{"every type": withoutOpaque(t), "3,000 counters": counts(t, 3000, 1<<63)} {
		addr := serve(t, newResponder(t, table, nil))
		for tool, options := range map[string][]string{"snmpwalk": nil, "snmpbulkwalk": {"-Cr50"}} {
			t.Run(name+" by "+tool, func(t *testing.T) {
				out, err := netSNMP(t, addr, tool, append(options, "ADDR", root.String())...)
				if err != nil {
					t.Fatal(err, out)
				}
				// after the last row of the view the walk says so
				out = strings.Split(out, "."+table.At(table.Len()-1).Name.String()+" = No more variables")[0]
				if diff := cmp.Diff(asNetSNMP(table), tidied(out)); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

func TestNetSNMPGetsExceptions(t *testing.T) {
	addr := serve(t, newResponder(t, everyType(t), nil))
	prefix := "." + root.String()
	for _, c := range []struct {
		rule, tool string
		args       []string
		want       string
	}{
		{"a value", "snmpget", []string{"ADDR", prefix + ".2.1.1.3"}, prefix + ".2.1.1.3 = Gauge32: 2"},
		{"no instance", "snmpget", []string{"ADDR", prefix + ".2.1.1.9"}, "No Such Instance currently exists at this OID"},
		{"no object", "snmpget", []string{"ADDR", prefix + ".9.0"}, "No Such Object available on this agent at this OID"},
		{"the system group", "snmpget", []string{"ADDR", ".1.3.6.1.2.1.1.5.0"}, "68 6F 73 74"},
		{"the first name there is", "snmpgetnext", []string{"ADDR", ".0.0"}, ".1.3.6.1.2.1.1.1.0 = "},
		{"the end", "snmpgetnext", []string{"ADDR", prefix + ".9"}, "No more variables left in this MIB View"},
		{"set", "snmpset", []string{"ADDR", prefix + ".1.1.0", "i", "7"}, "notWritable"},
		{"set of two", "snmpset", []string{"ADDR", ".1.3.6.1.2.1.1.5.0", "s", "x", prefix + ".1.1.0", "i", "7"}, "Failed object: .1.3.6.1.2.1.1.5.0"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if out, _ := netSNMP(t, addr, c.tool, c.args...); !strings.Contains(out, c.want) {
				t.Errorf("%s: got %q; want %q", c.tool, out, c.want)
			}
		})
	}
}

// RFC 3417 has every manager take messages of 484 octets; a community has 1 to 255.
func TestLimitsOfAConfiguration(t *testing.T) {
	for _, c := range []struct {
		community string
		max       int
		ok        bool
	}{
		{"c", 484, true}, {strings.Repeat("c", 255), 484, true},
		{"c", 483, false}, {"", 484, false}, {strings.Repeat("c", 256), 484, false},
	} {
		_, err := New(Config{Community: c.community, MaxMessage: c.max, Table: func() *smi.Table { return nil }, System: System{Descr: "d", ObjectID: smi.OID{1, 3}}})
		if (err == nil) != c.ok || err != nil && !errors.Is(err, ErrConfig) {
			t.Errorf("community of %d octets, messages of %d: %v", len(c.community), c.max, err)
		}
	}
}
