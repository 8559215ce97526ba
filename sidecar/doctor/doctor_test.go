// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
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
	conf := "# rocommunity x -V commented\nrocommunity public default -V systemonly\nrouser noc priv -V all\nrocommunity6 public default -V systemonly\n"
	var names []string
	for _, m := range view.FindAllStringSubmatch(conf, -1) {
		names = append(names, m[1])
	}
	got := viewHints(&Manager{}, names, ".1.3")
	if len(got) != 2 || got[0].Line != "view all included .1.3" || got[1].Line != "view systemonly included .1.3" {
		t.Errorf("got %+v; want a line for each view", got)
	}
}
