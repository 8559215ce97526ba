// SPDX-License-Identifier: Apache-2.0

//go:build unix

package agentx_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gosnmp/gosnmp"

	"github.com/pnagent/pnagent/agentx"
	"github.com/pnagent/pnagent/agentx/pdu"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

const benchColumns = 8

// benchTable has eight columns.
func benchTable(tb testing.TB, variables int) *smi.Table {
	tb.Helper()
	var names, objects []smi.OID
	for column := range uint32(benchColumns) {
		objects = append(objects, playpen.Append(1, 1, column+1))
		for row := range uint32(variables / benchColumns) {
			names = append(names, playpen.Append(1, 1, column+1, 1, row+1))
		}
	}
	layout, err := smi.NewLayout(names, objects)
	if err != nil {
		tb.Fatal(err)
	}
	values := make([]smi.Value, len(names))
	for i := range values {
		values[i] = smi.Counter64(1<<40 + uint64(i))
	}
	return smi.NewTable(layout, values)
}

// BenchmarkWalkThroughSnmpd walks through a real snmpd by snmpbulkwalk -Cr50.
// The base is an empty handler: a loop that reads a GetNext, adds one to the
// name, and writes it back with a constant, without a table, a queue or a
// second goroutine. Both take turns in the same run; ratio is what the
// subagent reaches of the base's variables a second. cpu-us/variable is what
// this process used, for the subagent and the base, and
// snmpd-cpu-us/variable what the subagent's snmpd did.
func BenchmarkWalkThroughSnmpd(b *testing.B) {
	for _, variables := range []int{1_000, 10_000, 80_000, 100_000} {
		b.Run(fmt.Sprintf("variables=%d", variables), func(b *testing.B) {
			table := benchTable(b, variables)
			ours, base := snmptest.Start(b, snmptest.Config{}), snmptest.Start(b, snmptest.Config{})
			up(b, serve(b, agentx.Config{Addr: ours.AgentX, Tables: func() *smi.Table { return table }}))
			emptyHandler(b, base, table.At(0).Name, table.Len())
			var oursTook, baseTook, oursCPU, baseCPU, snmpdCPU time.Duration
			walked := 0
			for b.Loop() {
				before := daemonCPU(b, ours)
				took, cpu := timeWalk(b, ours, table.Len())
				oursTook, oursCPU, snmpdCPU = oursTook+took, oursCPU+cpu, snmpdCPU+daemonCPU(b, ours)-before
				took, cpu = timeWalk(b, base, table.Len())
				baseTook, baseCPU = baseTook+took, baseCPU+cpu
				walked += table.Len()
			}
			b.ReportMetric(float64(walked)/oursTook.Seconds(), "variables/s")
			b.ReportMetric(float64(walked)/baseTook.Seconds(), "base-variables/s")
			b.ReportMetric(baseTook.Seconds()/oursTook.Seconds(), "ratio")
			b.ReportMetric(float64(oursCPU.Microseconds())/float64(walked), "cpu-us/variable")
			b.ReportMetric(float64(snmpdCPU.Microseconds())/float64(walked), "snmpd-cpu-us/variable")
			b.ReportMetric(float64(baseCPU.Microseconds())/float64(walked), "base-cpu-us/variable")
		})
	}
}

// BenchmarkBulkOfEightColumnsThroughSnmpd reads a table of eight columns row by
// row, as pollers do that know it: each GETBULK names all columns, so that one
// AgentX request holds eight variables. The manager is gosnmp, in this process.
func BenchmarkBulkOfEightColumnsThroughSnmpd(b *testing.B) {
	const variables = 80_000
	table := benchTable(b, variables)
	snmpd := snmptest.Start(b, snmptest.Config{})
	up(b, serve(b, agentx.Config{Addr: snmpd.AgentX, Tables: func() *smi.Table { return table }}))
	manager := newManager(b, snmpd.Addr)
	read := 0
	for b.Loop() {
		read += bulkColumns(b, manager, benchColumns)
	}
	if read != b.N*variables {
		b.Fatalf("%d variables in %d rounds, want %d in each", read, b.N, variables)
	}
	b.ReportMetric(float64(read)/b.Elapsed().Seconds(), "variables/s")
}

// newManager is an SNMP manager that is slow to give up.
func newManager(b *testing.B, addr string) *gosnmp.GoSNMP {
	b.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		b.Fatal(err)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		b.Fatal(err)
	}
	manager := &gosnmp.GoSNMP{Target: host, Port: uint16(number), Community: "public", Version: gosnmp.Version2c,
		Timeout: 5 * time.Second, MaxOids: 60}
	if err := manager.Connect(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { manager.Conn.Close() })
	return manager
}

// bulkColumns reads all columns of the table side by side and returns how many
// variables there were.
func bulkColumns(b *testing.B, manager *gosnmp.GoSNMP, columns int) (variables int) {
	b.Helper()
	names := make([]string, columns)
	for i := range names {
		names[i] = "." + playpen.Append(1, 1, uint32(i+1)).String()
	}
	within := names[0] + "."
	for {
		answer, err := manager.GetBulk(names, 0, 50)
		if err != nil {
			b.Fatal(err)
		}
		whole := len(answer.Variables) / columns * columns
		if whole == 0 {
			b.Fatal("not even one row in an answer")
		}
		for row := 0; row < whole; row += columns {
			if !strings.HasPrefix(answer.Variables[row].Name, within) {
				return variables
			}
			variables += columns
		}
		for i := range names {
			names[i] = answer.Variables[whole-columns+i].Name
		}
	}
}

// timeWalk is one walk: how long it took, and what it cost this process, which
// does not read what is printed before the walk is over.
func timeWalk(b *testing.B, snmpd *snmptest.Snmpd, want int) (took, cpu time.Duration) {
	b.Helper()
	printed, err := os.CreateTemp(b.TempDir(), "walk")
	if err != nil {
		b.Fatal(err)
	}
	defer printed.Close()
	before, began := cpuTime(b), time.Now()
	err = snmpd.RunTo(b.Context(), printed, "snmpbulkwalk", []string{"-Cr50", "-Oq"}, playpen.Append(1).String())
	took, cpu = time.Since(began), cpuTime(b)-before
	if err != nil {
		b.Fatal(err)
	}
	out, err := os.ReadFile(printed.Name())
	if err != nil {
		b.Fatal(err)
	}
	if got := bytes.Count(out, []byte("\n")); got != want {
		b.Fatalf("%d variables, want %d", got, want)
	}
	return took, cpu
}

// daemonCPU is what a snmpd has used so far, to a hundredth of a second.
func daemonCPU(b *testing.B, snmpd *snmptest.Snmpd) time.Duration {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", snmpd.Pid()))
	if err != nil {
		return 0 // not Linux
	}
	_, rest, _ := strings.Cut(string(text), ") ") // utime and stime are the 14th and 15th field
	fields := strings.Fields(rest)
	var ticks int
	for _, field := range fields[11:13] {
		n, err := strconv.Atoi(field)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// emptyHandler registers the playpen's first subtree and answers every
// GetNext below it, n variables in eight columns from first on.
func emptyHandler(b *testing.B, snmpd *snmptest.Snmpd, first smi.OID, n int) {
	b.Helper()
	conn, err := net.Dial("unix", strings.TrimPrefix(snmpd.AgentX, "unix:"))
	if err != nil {
		b.Fatal(err)
	}
	h := &emptyLoop{in: bufio.NewReader(conn), conn: conn, first: first, rows: uint32(n / benchColumns)}
	if err := h.open(); err != nil {
		b.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for h.step() == nil { // until the connection is closed
		}
	}()
	b.Cleanup(func() {
		conn.Close()
		<-ended
	})
}

type emptyLoop struct {
	in       *bufio.Reader
	conn     net.Conn
	first    smi.OID
	rows     uint32
	payload  []byte
	out      []byte
	response pdu.Response
}

func (e *emptyLoop) open() error {
	var session uint32
	for i, body := range []pdu.Body{&pdu.Open{Description: "empty"}, &pdu.Register{Priority: 127, Subtree: playpen.Append(1)}} {
		frame, err := pdu.Append(nil, pdu.PDU{
			Header: pdu.Header{Flags: pdu.FlagNetworkByteOrder, Session: session, Packet: uint32(i + 1)}, Body: body,
		})
		if err != nil {
			return err
		}
		if _, err := e.conn.Write(frame); err != nil {
			return err
		}
		h, _, err := pdu.ReadFrame(e.in, nil)
		if err != nil {
			return err
		}
		session = h.Session
	}
	return nil
}

// step answers one GetNext of one range.
func (e *emptyLoop) step() error {
	h, payload, err := pdu.ReadFrame(e.in, e.payload)
	if err != nil {
		return err
	}
	e.payload = payload
	p, err := pdu.Decode(h, payload)
	if err != nil {
		return err
	}
	start := p.Body.(*pdu.GetNext).Ranges[0].Start
	v := smi.Variable{Name: e.first, Value: smi.Counter64(1 << 40)}
	if start.HasPrefix(e.first[:len(e.first)-3]) {
		v.Name = start
		row, column := &start[len(start)-1], &start[len(start)-3]
		switch {
		case *row < e.rows:
			*row++
		case *column < benchColumns:
			*row = 1
			*column++
		default:
			v.Value = smi.EndOfMibView()
		}
	}
	e.response.Variables = append(e.response.Variables[:0], v)
	h.Flags &= pdu.FlagNetworkByteOrder
	if e.out, err = pdu.Append(e.out[:0], pdu.PDU{Header: h, Body: &e.response}); err != nil {
		return err
	}
	_, err = e.conn.Write(e.out)
	return err
}
