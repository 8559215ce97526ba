// SPDX-License-Identifier: Apache-2.0

//go:build peers

package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/browsertest"
	"github.com/pnagent/pnagent/internal/porttest"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// bannerSays waits until a banner of the page says something.
func bannerSays(b *browsertest.Tab, state, words string) {
	b.Until(fmt.Sprintf(`new RegExp(%q).test(document.querySelector('.banner.%s')?.innerText ?? '')`, words, state))
}

// typed runs a command line in a shell until the test ends.
func typed(t *testing.T, line string) {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "bin")
	if err := errors.Join(os.Mkdir(bin, 0o755), os.Symlink(kit.Built().Pnagent, filepath.Join(bin, "pnagent"))); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", "PATH="+bin+":$PATH; exec env "+line) // so that the shell does not outlive it
	cmd.Dir = t.TempDir()
	kit.StartCommand(t, cmd)
}

// The command line that the page shows while there is no engine connects one.
func TestTheCommandLineOfTheEmptyPageConnectsAnEngine(t *testing.T) {
	t.Parallel()
	net := kit.Write(t, "claims.pnml", kit.StuckNet)
	token := kit.Write(t, "token", "s3cret\n")
	for name, c := range map[string]struct {
		server, flags []string
		user          string // of the sidecar's URL
		fill          []string
	}{
		"nothing set":    {},
		"a prefix":       {flags: []string{"--nats.prefix", "petrinet.shop"}},
		"a password":     {server: []string{"--user", "eve", "--pass", "s3cret"}, user: "eve:s3cret@", fill: []string{"USER", "eve", "PASSWORD", "s3cret"}},
		"a token":        {server: []string{"--auth", "s3cret"}, user: "s3cret@", fill: []string{"TOKEN", "s3cret"}},
		"a token's file": {server: []string{"--auth", "s3cret"}, flags: []string{"--nats.token-file", token}, fill: []string{"ENGINE.token", token}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			natsURL := kit.StartNATS(t, c.server...)
			side := kit.Serve(t, strings.Replace(natsURL, "://", "://"+c.user, 1), append([]string{"--mib-dir", ""}, c.flags...)...)
			if text := string(side.Page(t, "/api/v1/overview")); strings.Contains(text, "s3cret") {
				t.Fatalf("the overview has a secret: %s", text)
			}
			line := readOverview(t, side.Web).Sidecar.Connect.Commands[0].Line
			typed(t, strings.NewReplacer(append(c.fill, "NET.pnml", net)...).Replace(line))
			kit.Until(t, "the engine of "+line+" is shown", func() error {
				if o := readOverview(t, side.Web); len(o.Nets) != 1 || o.Nets[0].ID != "claims" || o.Nets[0].Up != 1 {
					return fmt.Errorf("%+v", o.Nets)
				}
				return nil
			})
		})
	}
}

// NATS ends and comes back, from no engine to one that is shown.
func TestThePageSaysWhatTheSidecarHasOfNATSAndEngines(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t).Tab(t)
	port := porttest.Port(t)
	natsURL := "nats://127.0.0.1:" + port
	bus := func() *kit.Process { return kit.Start(t, kit.Built().NATS, "--addr", "127.0.0.1", "--port", port) }
	side := kit.Serve(t, natsURL, "--mib-dir", "")
	b.Visit(side.URL + "/")
	b.Until(`document.querySelector('#empty[data-state="no-nats"]')`)
	bannerSays(b, "deaf", `no connection to NATS at `+natsURL+` since its start and receives no engine: .*refused`)
	first := bus()
	b.Until(`document.querySelector('#empty[data-state="none"]') && !document.querySelector('.banner')`)
	line := b.Text("#empty pre")
	if want := "pnagent engine --nats " + natsURL + " NET.pnml"; line != want {
		t.Errorf("the page shows %q; want %q", line, want)
	}
	typed(t, strings.Replace(line, "NET.pnml", "--source berlin --bindings "+kit.Write(t, "bindings.yaml", kit.StuckBindings)+" "+kit.Write(t, "claims.pnml", kit.StuckNet), 1))
	b.Until(`document.querySelector('#empty').hidden && document.querySelector('#net-name').innerText === 'Claims' && /^40 tokens/.test(document.querySelector('.row.net .text').innerText)`)
	first.Stop(t, os.Interrupt)
	bannerSays(b, "deaf", `no connection to NATS at `+natsURL+` since \d\d:\d\d:\d\d \(.*\) and receives no engine: .* not current`)
	b.Until(`document.documentElement.matches('.outdated.all-outdated') && document.querySelector('#link').textContent === 'not current'`)
	if o := readOverview(t, side.Web); o.NATS.Connected || o.NATS.Reason == "" || o.NATS.Server != natsURL || o.Nets[0].Tokens == nil || *o.Nets[0].Tokens != 40 {
		t.Errorf("got %+v, %+v; want the last known tokens", o.NATS, o.Nets)
	}
	if got := b.Text(".row.net .text"); !strings.HasPrefix(got, "40 tokens") {
		t.Errorf("the page shows %q while NATS is away; want the last known tokens", got)
	}
	bus()
	b.Until(`!document.querySelector('.banner') && !document.documentElement.matches('.outdated, .all-outdated') && document.querySelector('#link').textContent === 'live'`)
	b.Clean(strings.TrimPrefix(side.URL, "http://"), false)
}

// A silent source keeps its numbers, and one that ended has none.
func TestThePageSaysThatEnginesAreSilentOrEnded(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t).Tab(t)
	natsURL, net := kit.StartNATS(t), kit.Write(t, "claims.pnml", kit.StuckNet)
	bindings := kit.Write(t, "bindings.yaml", kit.StuckBindings)
	side := kit.Serve(t, natsURL, "--mib-dir", "", net)
	b.Visit(side.URL + "/")
	bannerSays(b, "never", `No engine has reported Claims .* Start an engine:[^]*pnagent engine --nats `+natsURL)
	run := func(source string) *kit.Engine { return kit.RunEngine(t, natsURL, source, "--bindings", bindings, net) }
	berlin, osaka := run("berlin"), run("osaka")
	b.Until(`!document.querySelector('.banner') && /^80 tokens/.test(document.querySelector('.row.net .text').innerText)`)
	berlin.Pause(t)
	bannerSays(b, "partial", `1 source of Claims is silent, 1 up. Silent: berlin since `)
	osaka.Pause(t)
	bannerSays(b, "silent", `No source of Claims is up. Silent: berlin since .*, osaka since .* not zero`)
	if got := b.Text(".row.net .text"); !strings.HasPrefix(got, "80 tokens") {
		t.Errorf("the page shows %q of silent sources; want their last numbers", got)
	}
	berlin.Resume(t)
	osaka.Resume(t)
	b.Until(`!document.querySelector('.banner')`)
	berlin.Stop(t, os.Interrupt)
	osaka.Stop(t, os.Interrupt)
	bannerSays(b, "gone", `No engine of Claims runs any more`)
	b.Until(`document.documentElement.matches('.outdated')`)
	b.Clean(strings.TrimPrefix(side.URL, "http://"), false)
}

// Two processes of one name are a conflict.
func TestThePageSaysWhichSourcesAreRefused(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t).Tab(t)
	natsURL, net := kit.StartNATS(t), kit.Write(t, "claims.pnml", kit.StuckNet)
	side := kit.Serve(t, natsURL, "--mib-dir", "")
	kit.RunEngine(t, natsURL, "berlin", net)
	second := kit.RunEngine(t, natsURL, "berlin", net)
	b.Visit(side.URL + "/")
	bannerSays(b, "refused", `The messages of 1 source are refused.* conflict: berlin of Claims \(two processes publish as this source.*\)\. Stop one of the two processes, or give it another --source`)
	if o := readOverview(t, side.Web); len(o.Refused) != 1 || o.Refused[0].Reason != "conflict" || o.Refused[0].Sources != 1 || o.Refused[0].Source != "berlin" || o.Refused[0].Net != "claims" {
		t.Errorf("got %+v; want one conflict", o.Refused)
	}
	second.Stop(t, os.Interrupt)
	b.Until(`!document.querySelector('.banner.refused')`)
}

// The page of the root of a tree names the sidecar below, and the page of that one the root.
func TestThePageSaysWhereInATreeTheSidecarIs(t *testing.T) {
	t.Parallel()
	chromium := browsertest.Start(t)
	natsURL := kit.StartNATS(t)
	root := kit.Serve(t, natsURL, "--nats.prefix", kit.Upper, "--mib-dir", "")
	child := kit.ServeShare(t, natsURL, "1/1", "below 1", t.TempDir())
	kit.RunEngine(t, natsURL, "berlin", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))
	above, below := chromium.Tab(t), chromium.Tab(t)
	above.Visit(root.URL + "/")
	below.Visit(child.URL + "/")
	bannerSays(above, "below", `The numbers of Claims come from 1 sidecar below this one, each of which adds up its own engines: below 1 \(.* ago\)`)
	bannerSays(below, "branch", `This sidecar has share 1/1 of the sources, .* in petrinet\.root, has the sums; this one is below 1 there`)
	if o := readOverview(t, root.Web); len(o.Sources) != 1 || !o.Sources[0].Below || o.Sidecar.Above.Prefix != "" {
		t.Errorf("the root has %+v and is %+v", o.Sources, o.Sidecar)
	}
	if o := readOverview(t, child.Web); len(o.Sources) != 1 || o.Sources[0].Below || o.Sidecar.Above.Prefix != kit.Upper || o.Sidecar.Above.Source != "below 1" || o.Sidecar.Share != "1/1" {
		t.Errorf("the sidecar below has %+v and is %+v", o.Sources, o.Sidecar)
	}
	child.Kill(t)
	bannerSays(above, "silent", `No source of Claims is up. Silent: the sidecar below below 1 since .* Check the sidecars below`)
	bannerSays(below, "lost", `The sidecar has not answered since`)
	if got := above.Text(".row.net .text"); !strings.HasPrefix(got, "40 tokens") {
		t.Errorf("the root shows %q without the sidecar below; want its last numbers", got)
	}
}

// The clock of a source is an hour ahead: its tokens have their age all the same.
func TestThePageSaysWhoseClockIsWrong(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t).Tab(t)
	natsURL := kit.StartNATS(t)
	side := kit.Serve(t, natsURL, "--mib-dir", "")
	kit.RunEngine(t, natsURL, "berlin", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))
	kit.Until(t, "berlin is shown", func() error {
		if state := side.View(t).Source("claims", "berlin"); state != "up" {
			return errors.New(state)
		}
		return nil
	})
	digest, nc := side.Digest(t), kit.Connect(t, natsURL) // which is closed after the task has ended
	ctx, stop := context.WithCancel(t.Context())
	var tasks sync.WaitGroup
	t.Cleanup(tasks.Wait)
	t.Cleanup(stop)
	began := time.Now()
	tasks.Go(func() {
		var enc telemetry.Encoder
		msg := telemetry.Snapshot{Net: "claims", Source: "osaka", Digest: digest, Epoch: began.UnixMicro(), Interval: time.Second, Full: true, Rows: *stats.NewRows(4, 4)}
		msg.Rows.Columns = stats.ColTokens | stats.ColOldest
		msg.Rows.Places[1] = stats.Place{Tokens: 1, Oldest: began.Add(time.Hour - 10*time.Minute).UnixMicro()}
		for ctx.Err() == nil {
			msg.Seq, msg.SentAt = msg.Seq+1, time.Now().Add(time.Hour).UnixMicro()
			text, err := enc.Append(nil, &msg)
			if err == nil {
				err = nc.Publish(telemetry.Subjects{}.Snapshot(msg.Net, msg.Source), text)
			}
			if err != nil {
				t.Error(err)
				return
			}
			select {
			case <-time.After(200 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	})
	b.Visit(side.URL + "/")
	bannerSays(b, "skew", `The clock of 1 source differs from that of the sidecar: osaka of Claims is (59 min 59 s|1 h 00 min) ahead\. Ages and times here are right`)
	if o := readOverview(t, side.Web); o.Skewed == nil || o.Skewed.Sources != 1 || o.Skewed.Worst[0].Name != "osaka" || o.Skewed.Worst[0].Ahead < 3590 || o.Skewed.Worst[0].Ahead > 3610 {
		t.Errorf("got %+v; want an hour", o.Skewed)
	}
	b.Until(`/oldest 1[01] min \d\d s in In review/.test(document.querySelector('#vitals').innerText)`)
}

// Of two sidecars that notify the same sink, each says whether it is on duty.
func TestThePageSaysWhichSidecarOfAPairIsOnDuty(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t).Tab(t)
	natsURL := kit.StartNATS(t)
	pair := func() *kit.Sidecar { return kit.Serve(t, natsURL, "--snmp.trap-sink", "127.0.0.1:9", "--mib-dir", "") }
	first := pair()
	kit.Until(t, "the first one is on duty", func() error {
		if d := readOverview(t, first.Web).Sidecar.Duty; d == nil || !d.On || d.Others != 0 {
			return fmt.Errorf("%+v", d)
		}
		return nil
	})
	second := pair()
	b.Visit(second.URL + "/")
	bannerSays(b, "standby", `This sidecar stands by: another one of its pair is on duty`)
	b.Visit(first.URL + "/")
	bannerSays(b, "duty", `This sidecar is on duty: it sends the notifications, and 1 other sidecar stands by`)
	first.Kill(t)
	kit.Until(t, "the second one is on duty", func() error {
		if d := readOverview(t, second.Web).Sidecar.Duty; d == nil || !d.On || d.Others != 0 {
			return fmt.Errorf("%+v", d)
		}
		return nil
	})
}

// A sidecar that takes no more viewers, or another login, says so to the page.
func TestThePageSaysWhyTheSidecarRefusesIt(t *testing.T) {
	t.Parallel()
	chromium := browsertest.Start(t)
	natsURL := kit.StartNATS(t)
	kit.RunEngine(t, natsURL, "berlin", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))
	one := kit.Serve(t, natsURL, "--mib-dir", "", "--web.viewers", "1")
	first, second := chromium.Tab(t), chromium.Tab(t)
	first.Open(one.URL + "/")
	second.Visit(one.URL + "/")
	bannerSays(second, "full", `The sidecar has no room for this page: 1 viewers are connected; no more are taken. Nothing can be shown. This page tries again every 10 s`)
	first.Visit("about:blank")
	second.Until(`document.querySelector('#link').textContent === 'live' && !document.querySelector('.banner')`)

	users := func(password string) string {
		hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
		if err != nil {
			t.Fatal(err)
		}
		return kit.Write(t, "web.yaml", fmt.Sprintf("basic_auth_users:\n  anna: %s\n", hash))
	}
	addr := porttest.Addr(t)
	guarded := kit.Serve(t, natsURL, "--mib-dir", "", "--web.listen-address", addr, "--web.config.file", users("before"))
	first.Login("anna", "before")
	first.Open("http://" + addr + "/")
	guarded.Kill(t)
	kit.Serve(t, natsURL, "--mib-dir", "", "--web.listen-address", addr, "--web.config.file", users("after"))
	bannerSays(first, "login", `The sidecar has not accepted the login of this page since .*\. The numbers shown are .* old\. Log in again`)
}

// overview is what the page's states are made of in GET /api/v1/overview.
type overview struct {
	Nets []struct {
		ID     string
		Tokens *uint64
		Up     int `json:"sources_up"`
		Stale  int `json:"sources_stale"`
	}
	Sources []struct {
		Name, Net, State string
		Below            bool
	}
	NATS struct {
		Connected      bool
		Server, Reason string
	}
	Sidecar struct {
		Connect struct {
			Servers, Prefix string
			Commands        []struct{ Line string }
		}
		Share string
		Above struct{ Prefix, Source string }
		Duty  *struct {
			On     bool
			Others int
		}
	}
	Refused []struct {
		Reason, Net, Source, Text string
		Sources                   int
	}
	Skewed *struct {
		Sources int
		Worst   []struct {
			Name  string
			Ahead float64 `json:"ahead_seconds"`
		}
	}
}

// readOverview returns the overview at the API.
func readOverview(t *testing.T, w kit.Web) (o overview) {
	t.Helper()
	text := w.Page(t, "/api/v1/overview")
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatalf("%v: %.500s", err, text)
	}
	return o
}
