// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/agentx/pdu"
	"github.com/pnagent/pnagent/mib/smi"
)

func TestASessionOpensAddsCapsAndRegistersEverySubtree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		second := smi.OID{1, 3, 6, 1, 4, 1, 32473, 5}
		f := start(t, func(c *Config) {
			c.Subtrees = []smi.OID{root, second}
			c.Caps = []Caps{{ID: myCaps, Description: "nets"}}
			c.Priority = 100
			c.Timeout = 1500 * time.Millisecond
		})
		m := f.accept(t)
		for i, want := range []pdu.Body{
			&pdu.Open{Timeout: 2, ID: myID, Description: "a test"},
			&pdu.AddAgentCaps{ID: myCaps, Description: "nets"},
			&pdu.Register{Timeout: 2, Priority: 100, Subtree: root},
			&pdu.Register{Timeout: 2, Priority: 100, Subtree: second},
		} {
			p := m.read()
			if diff := cmp.Diff(want, p.Body); diff != "" {
				t.Fatal(diff)
			}
			if wantSession := uint32(min(i, 1) * 7); p.Header.Session != wantSession || p.Header.Flags != network {
				t.Fatalf("header %+v", p.Header)
			}
			if f.Stats().State != StateConnecting {
				t.Fatal("up before it is registered")
			}
			m.ok(p)
		}
		synctest.Wait()
		if s := f.Stats(); s.State != StateUp || s.Sessions != 1 {
			t.Fatalf("got %+v; want the state up in the first session", s)
		}
		m.serving()
		f.finish(m)
		if diff := cmp.Diff([]smi.OID{myCaps}, f.removed); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff([]string{":" + root.String(), ":" + second.String()}, f.unregistered); diff != "" {
			t.Fatal(diff)
		}
		if s := f.Stats(); s.State != StateDown {
			t.Fatalf("got %+v; want the state down", s)
		}
	})
}

func TestASessionIdOfZeroIsASessionToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		m := f.accept(t)
		m.session = 0
		m.ok(m.read())
		m.ok(m.read())
		m.serving()
		f.finish(m)
	})
}

func TestARequestIsAnsweredInItsOwnByteOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		m := f.acceptUp(t)
		for range 2 {
			m.flags = network
			m.serving()
			m.flags = 0
			m.serving()
		}
		m.flags = network
		f.finish(m)
	})
}

func TestTheSubagentSupportsLittleEndian(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := prepare(t, nil)
		f.flags = 0
		f.run(t)
		m := f.accept(t)
		for range 2 {
			p := m.read()
			if p.Header.Flags != 0 {
				t.Fatalf("got header %+v; want no flags", p.Header)
			}
			m.ok(p)
		}
		m.serving()
		f.finish(m)
	})
}

func TestARepeatedPacketIsAnsweredOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		m := f.acceptUp(t)
		h := m.header()
		get := pdu.PDU{Header: h, Body: &pdu.Get{Ranges: []pdu.SearchRange{{Start: root.Append(2, 0)}}}}
		m.send(get)
		m.response(h)
		m.send(get)
		m.send(get)
		m.serving() // its answer is the next that comes
		if s := f.Stats(); s.Faults[FaultRepeated] != 2 || s.Requests[pdu.TypeGet] != 2 || s.Variables != 2 {
			t.Fatalf("got %+v; want two faults FaultRepeated, two Gets and two variables", s)
		}
		// The same packet id in another transaction or type is another request.
		get.Header.Transaction++
		m.send(get)
		m.response(get.Header)
		f.finish(m)
	})
}

func TestARequestForAnotherSessionIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		m := f.acceptUp(t)
		m.session = 8
		if r := m.ask(&pdu.Get{Ranges: []pdu.SearchRange{{Start: root}}}); r.Error != pdu.NotOpen || len(r.Variables) != 0 {
			t.Fatalf("got %+v; want error notOpen without variables", r)
		}
		m.send(pdu.PDU{Header: m.header(), Body: &pdu.Close{Reason: pdu.ReasonOther}})
		m.send(pdu.PDU{Header: m.header(), Body: &pdu.CleanupSet{}})
		m.send(pdu.PDU{Header: m.header(), Body: &pdu.Response{}})
		m.session = 7
		m.serving()
		if s := f.Stats(); s.Faults[FaultSession] != 4 || s.Requests[pdu.TypeGet] != 1 {
			t.Fatalf("got %+v; want four faults FaultSession and one Get", s)
		}
		f.finish(m)
	})
}

func TestCleanupSetHasNoResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		m := f.acceptUp(t)
		m.send(pdu.PDU{Header: m.header(), Body: &pdu.CleanupSet{}})
		m.serving()
		f.finish(m)
	})
}

func TestTheMastersCloseEndsTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		m := f.acceptUp(t)
		m.send(pdu.PDU{Header: m.header(), Body: &pdu.Close{Reason: pdu.ReasonByManager}})
		m.gone()
		m = f.acceptUp(t)
		m.serving()
		if s := f.Stats(); s.Faults[FaultClosed] != 1 || s.Faults[FaultLost] != 0 || s.Sessions != 2 {
			t.Fatalf("got %+v; want one fault FaultClosed, no FaultLost, two sessions", s)
		}
		f.finish(m)
	})
}

func TestARefusedRegistrationIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		m := f.accept(t)
		m.ok(m.read())
		m.answer(m.read(), &pdu.Response{Error: pdu.DuplicateRegistration})
		if c, ok := m.read().Body.(*pdu.Close); !ok || c.Reason != pdu.ReasonOther {
			t.Fatal("the session is left open")
		}
		m.conn.Close()
		m = f.acceptUp(t)
		m.serving()
		if s := f.Stats(); s.Faults[FaultRefused] != 1 || s.Sessions != 1 {
			t.Fatalf("got %+v; want one fault FaultRefused and one session", s)
		}
		f.finish(m)
	})
}

func TestRefusedCapsDoNotPreventTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, func(c *Config) { c.Caps = []Caps{{ID: myCaps}} })
		m := f.accept(t)
		m.ok(m.read())
		m.answer(m.read(), &pdu.Response{Error: pdu.RequestDenied})
		m.ok(m.read())
		m.serving()
		f.finish(m)
		if len(f.removed) > 0 {
			t.Fatalf("%v, which were not added, are removed", f.removed)
		}
	})
}

func TestShuttingDownDoesNotWaitForAMasterThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		f.acceptUp(t)
		synctest.Wait()
		began := time.Now()
		f.stop()
		if err := <-f.ended; err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != closeWithin {
			t.Fatalf("took %v", took)
		}
	})
}

func TestShuttingDownAtAnyMomentEndsRun(t *testing.T) {
	for name, stage := range map[string]func(*testing.T, *fixture){
		"while dialling":    func(*testing.T, *fixture) {},
		"before the Open":   func(t *testing.T, f *fixture) { f.accept(t) },
		"after the Open":    func(t *testing.T, f *fixture) { f.accept(t).read() },
		"while registering": func(t *testing.T, f *fixture) { m := f.accept(t); m.ok(m.read()); m.read() },
		"while backing off": func(t *testing.T, f *fixture) { f.accept(t).conn.Close(); synctest.Wait() },
		"while pinging":     func(t *testing.T, f *fixture) { f.acceptUp(t).read() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := start(t, nil)
				stage(t, f)
				f.stop()
				if err := <-f.ended; err != nil {
					t.Fatal(err)
				}
				if s := f.Stats(); s.State != StateDown || s.Faults[FaultTimeout] != 0 {
					t.Fatalf("got %+v; want the state down and no FaultTimeout", s)
				}
			})
		})
	}
}

func trap() []smi.Variable {
	return []smi.Variable{
		{Name: smi.OID{1, 3, 6, 1, 6, 3, 1, 1, 4, 1, 0}, Value: smi.ObjectID(root.Append(0, 1))},
		{Name: root.Append(1, 0), Value: smi.Integer(5)},
	}
}

func TestNotifyWaitsForTheMaster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		m := f.acceptUp(t)
		synctest.Wait()
		for _, c := range []struct {
			answer pdu.Error
			want   error
		}{
			{pdu.NoError, nil},
			{pdu.ProcessingError, pdu.ProcessingError},
		} {
			result := make(chan error)
			go func() { result <- f.Notify(t.Context(), trap()) }()
			p := m.read()
			if diff := cmp.Diff(&pdu.Notify{Variables: trap()}, p.Body); diff != "" || p.Header.Session != 7 {
				t.Fatal(p.Header, diff)
			}
			m.serving() // requests continue meanwhile
			m.answer(p, &pdu.Response{Error: c.answer})
			if err := <-result; !errors.Is(err, c.want) {
				t.Fatalf("%v, want %v", err, c.want)
			}
		}
		if s := f.Stats(); s.Notifications != 1 || s.Faults[FaultRefused] != 1 {
			t.Fatalf("got %+v; want one notification and one fault FaultRefused", s)
		}
		f.finish(m)
	})
}

// Connected has an event for each session: a caller that waits for it needs no other look.
func TestConnectedIsClosedWhileThereIsASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		var m *master
		for range 3 {
			before := f.Connected()
			select {
			case <-before:
				t.Fatal("it is closed without a session")
			default:
			}
			m = f.acceptUp(t)
			<-before
			<-f.Connected()
			m.conn.Close()
			synctest.Wait()
			if err := f.Notify(t.Context(), trap()); !errors.Is(err, ErrNotConnected) {
				t.Fatalf("after the end of the session: %v", err)
			}
		}
		f.stop()
		<-f.ended
	})
}

func TestNotifyFailsWhenItCannotBeDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		if err := f.Notify(t.Context(), trap()); !errors.Is(err, ErrNotConnected) {
			t.Fatal("before there is a session:", err)
		}
		m := f.acceptUp(t)
		synctest.Wait()
		if err := f.Notify(t.Context(), trap()[1:]); !errors.Is(err, ErrNotification) {
			t.Fatal("without snmpTrapOID.0:", err)
		}
		withUpTime := append([]smi.Variable{{Name: smi.OID{1, 3, 6, 1, 2, 1, 1, 3, 0}, Value: smi.TimeTicks(1)}}, trap()...)
		if err := checkNotification(withUpTime); err != nil {
			t.Fatal("with sysUpTime.0:", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		result := make(chan error)
		go func() { result <- f.Notify(ctx, trap()) }()
		m.read()
		if err := <-result; !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal("no answer:", err)
		}
		go func() { result <- f.Notify(t.Context(), trap()) }()
		m.read()
		m.conn.Close()
		if err := <-result; !errors.Is(err, ErrLost) {
			t.Fatal("lost:", err)
		}
		f.finish(nil)
	})
}

func TestNewRefuses(t *testing.T) {
	good := Config{Addr: "unix:/run/master", Subtrees: []smi.OID{root}, Tables: func() *smi.Table { return nil }}
	if _, err := New(good); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Config){
		"no address":          func(c *Config) { c.Addr = "" },
		"another network":     func(c *Config) { c.Addr = "udp:127.0.0.1:705" },
		"no path":             func(c *Config) { c.Addr = "unix:" },
		"a path too long":     func(c *Config) { c.Addr = "unix:/" + string(make([]byte, 103)) },
		"no port":             func(c *Config) { c.Addr = "tcp:127.0.0.1" },
		"no host":             func(c *Config) { c.Addr = "tcp::705" },
		"port 0":              func(c *Config) { c.Addr = "tcp:127.0.0.1:0" },
		"port 65536":          func(c *Config) { c.Addr = "tcp:127.0.0.1:65536" },
		"no subtree":          func(c *Config) { c.Subtrees = nil },
		"an empty subtree":    func(c *Config) { c.Subtrees = []smi.OID{{}} },
		"a subtree of 129":    func(c *Config) { c.Subtrees = []smi.OID{make(smi.OID, 129)} },
		"no tables":           func(c *Config) { c.Tables = nil },
		"a negative timeout":  func(c *Config) { c.Timeout = -1 },
		"a timeout of 256 s":  func(c *Config) { c.Timeout = 256 * time.Second },
		"a negative hold":     func(c *Config) { c.Hold = -1 },
		"an id of 129":        func(c *Config) { c.ID = make(smi.OID, 129) },
		"a long description":  func(c *Config) { c.Description = string(make([]byte, 256)) },
		"caps with id of 129": func(c *Config) { c.Caps = []Caps{{ID: make(smi.OID, 129)}} },
	} {
		t.Run(name, func(t *testing.T) {
			config := good
			spoil(&config)
			if _, err := New(config); !errors.Is(err, ErrConfig) {
				t.Fatalf("%v, want ErrConfig", err)
			}
		})
	}
}

func TestAddressForms(t *testing.T) {
	for _, text := range []string{"unix:/var/agentx/master", "unix:relative", "tcp:127.0.0.1:705", "tcp:[::1]:705", "tcp:master.example:705"} {
		a, err := parseAddr(text)
		if err != nil || a.String() != text {
			t.Errorf("address %q: got %v, error %v; want it unchanged", text, a, err)
		}
	}
}

func TestDefaults(t *testing.T) {
	s, err := New(Config{Addr: "unix:/run/master", Subtrees: []smi.OID{root}, Tables: func() *smi.Table { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	if s.config.Priority != 127 || s.config.Hold != 2*time.Second || s.config.timeoutSeconds() != 0 {
		t.Fatalf("got %+v; want priority 127, a hold of 2 s and the master's time-out", s.config)
	}
	if s.config.Logger.Enabled(t.Context(), slog.LevelError) {
		t.Error("not silent")
	}
}
