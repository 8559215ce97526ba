// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gosnmp/gosnmp"

	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/sidecar"
)

func TestTheExitCodeOfFindings(t *testing.T) {
	for _, c := range []struct {
		outcomes []Outcome
		want     int
	}{
		{nil, AllOK}, {[]Outcome{OK, OK}, AllOK}, {[]Outcome{OK, Unknown}, NotTold}, {[]Outcome{Unknown, Fails, OK}, SomeFail},
	} {
		var all []Finding
		for _, o := range c.outcomes {
			all = append(all, Finding{Outcome: o})
		}
		if got := Code(all); got != c.want {
			t.Errorf("%v: got %d; want %d", c.outcomes, got, c.want)
		}
	}
}

func TestHintsAreByFileOnceEach(t *testing.T) {
	var out bytes.Buffer
	PrintHints(&out, []Finding{
		{Hints: []Hint{{"snmpd.conf", "master agentx"}, {"run", "systemctl restart snmpd"}}},
		{Hints: []Hint{{"snmpd.conf", "view a included .1"}, {"snmpd.conf", "master agentx"}}},
	})
	want := "# snmpd.conf\nmaster agentx\nview a included .1\n# run\nsystemctl restart snmpd\n"
	if out.String() != want {
		t.Errorf("got %q; want %q", out.String(), want)
	}
}

func TestACheckThatHangsIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := make(chan struct{})
		c := check{"nats", "a server", func(context.Context) []Finding { <-end; return nil }}
		begun := time.Now()
		got := c.bounded(t.Context(), 3*time.Second)
		if len(got) != 1 || got[0].Outcome != Unknown || !strings.Contains(got[0].Cause, "longer than 3s") || time.Since(begun) != 3*time.Second+grace {
			t.Errorf("got %+v after %v; want that it is unknown", got, time.Since(begun))
		}
		close(end)
	})
}

func TestAViewIsNamedBySnmpdConf(t *testing.T) {
	conf := filepath.Join(t.TempDir(), "snmpd.conf")
	text := "# rocommunity x -V commented\nrocommunity public default -V systemonly\nrouser noc priv -V all\nrocommunity6 public default -V systemonly\nview all excluded .1.3.6\nview all excluded .1.2\n"
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d := &doctor{Config: Config{Sidecar: sidecar.Config{Root: smi.OID{1, 3}}}}
	got := d.viewHints(&Manager{Snmpd: conf})
	want := []string{"view all included .1.3", "view systemonly included .1.3", "(remove) view all excluded .1.3.6"}
	if len(got) != len(want) {
		t.Fatalf("got %+v; want %q", got, want)
	}
	for i, line := range want {
		if got[i].Line != line {
			t.Errorf("got %+v; want %q", got, want)
		}
	}
}

func TestWhatSnmpdKeepsOfItsEngine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "snmpd.conf")
	const id = "\x80\x00\x1f\x88\x80\x01"
	for _, c := range []struct {
		kept string
		want Outcome
	}{
		{"engineBoots 7\noldEngineID 0x80001f888001\n", OK},
		{"engineBoots 6\noldEngineID 0x80001f888001\n", Fails},
		{"engineBoots 7\noldEngineID 0x80001f888002\n", Fails},
		{"usmUser 1 3\n", Fails},
		{"", Unknown},
	} {
		_ = os.Remove(file)
		if c.kept != "" {
			if err := os.WriteFile(file, []byte(c.kept), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		usm := &gosnmp.UsmSecurityParameters{AuthoritativeEngineID: id, AuthoritativeEngineBoots: 7}
		if got := (&Manager{State: file}).kept(&gosnmp.GoSNMP{SecurityParameters: usm}); got.Outcome != c.want {
			t.Errorf("%q: got %+v; want %s", c.kept, got, c.want)
		}
	}
}
