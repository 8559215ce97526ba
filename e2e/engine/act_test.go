// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/porttest"
)

// types runs a command line that the page shows, in a shell.
func types(t *testing.T, natsURL, line string) kit.Result {
	t.Helper()
	env := append(kit.CleanEnv(), "PATH="+filepath.Dir(kit.Built().Pnagent)+":"+os.Getenv("PATH"), "PNAGENT_NATS_URL="+natsURL)
	return kit.RunIn(t, "", env, "bash", "-c", line)
}

// A user task of a process with data is stuck. The line that the page shows for its place
// releases it, and the audit log and the page show its author.
func TestTheLineOfThePageReleasesAUserTask(t *testing.T) {
	t.Parallel()
	bus := kit.StartNATS(t)
	side := kit.Serve(t, bus, "--mib-dir", "")
	audit := filepath.Join(t.TempDir(), "audit")
	kit.RunEngine(t, bus, "berlin", "--instances", "50", "--audit-log", audit, "--bindings", kit.Write(t, "bank.yaml", kit.BankIsClosed), kit.ClaimProcess(t))
	var line string
	kit.Until(t, "the place shows a command line", func() error {
		d, err := drawerOf(t, side.Web, "claim", "place", "approve/active")
		if err != nil || len(d.Commands) != 1 {
			return fmt.Errorf("%+v, %w", d, err)
		}
		line = d.Commands[0]
		return nil
	})
	words := strings.Fields(line)
	if len(words) != 5 || strings.Join(words[:3], " ") != "pnagent fire claim" || words[4] != "approve" {
		t.Fatalf("the place shows %q", line)
	}
	instance := words[3]
	if d, err := drawerOf(t, side.Web, "claim", "instance", instance); err != nil || !slices.Contains(d.Commands, line) {
		t.Errorf("the instance shows %+v, %v; want %q, too", d, err, line)
	}
	types(t, bus, line+" --dry-run").Says(t, 0, fmt.Sprintf("would be fired: transition %q, instance %s, net %q, source berlin\nnow in approve/active: tokens 1, for ", "approve", instance, "claim"))
	types(t, bus, line+" --comment 'by mail' --json").Says(t, 0, `"transition":"approve","ok":true,"held":[{"place":"approve/active","tokens":1,"age_seconds":`)
	kit.Until(t, "the task is done, and the page shows its author", func() error {
		d, err := drawerOf(t, side.Web, "claim", "instance", instance)
		if err != nil || len(d.Actions) != 1 || slices.ContainsFunc(d.Now, func(h struct{ Place string }) bool { return h.Place == "approve/active" }) {
			return fmt.Errorf("%+v, %w", d, err)
		}
		if a := d.Actions[0]; !a.OK || a.Kind != "fire" || a.Transition != "approve" || !strings.Contains(a.By, "@") || a.Comment != "by mail" || a.Source != "berlin" {
			t.Errorf("the page shows %+v", a)
		}
		return nil
	})
	types(t, bus, line).Says(t, 1, `pnagent: source "berlin": transition "approve": not enabled`)
	text, err := os.ReadFile(audit)
	kept := strings.Split(strings.TrimSpace(string(text)), "\n")
	if err != nil || len(kept) != 2 || !strings.Contains(kept[0], `"comment":"by mail"`) || !strings.Contains(kept[0], `"ok":true`) || !strings.Contains(kept[1], `"ok":false,"error":`) {
		t.Errorf("the audit log has\n%s\n%v; want what was done and what was refused", text, err)
	}
}

// An incident is tried again by the line that its instance shows, once its cause is gone.
func TestTheLineOfThePageRetriesAnIncident(t *testing.T) {
	t.Parallel()
	bus := kit.StartNATS(t)
	side := kit.Serve(t, bus, "--mib-dir", "")
	bank := filepath.Join(t.TempDir(), "open")
	bindings := strings.Replace(kit.BankIsClosed, `["false"]`, `[test, -e, `+bank+`]`, 1)
	e := kit.RunEngine(t, bus, "berlin", "--instances", "4", "--bindings", kit.Write(t, "bank.yaml", bindings), kit.ClaimProcess(t))
	const line = "pnagent retry claim berlin/2 pay"
	kit.Until(t, "the instance shows the command line", func() error {
		d, err := drawerOf(t, side.Web, "claim", "instance", "berlin/2")
		if err != nil || !slices.Equal(d.Commands, []string{line}) {
			return fmt.Errorf("%+v, %w", d, err)
		}
		return nil
	})
	waits := func(want bool) {
		t.Helper()
		kit.Until(t, "the incident is as expected", func() error {
			r := types(t, bus, line+" --dry-run")
			if is := r.Code == 0; is != want {
				return fmt.Errorf("%s%s", r.Out, r.Err)
			}
			return nil
		})
	}
	types(t, bus, line).Says(t, 0, `fired: transition "pay"`) // its action is started
	waits(true)                                               // and fails again
	if err := os.WriteFile(bank, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	types(t, bus, line).Says(t, 0, `fired: transition "pay"`)
	waits(false)
	types(t, bus, line).Says(t, 1, "is no incident: no token waits for it")
	e.Kill(t)
	types(t, bus, line).Says(t, 1, "no source of any net answers below petrinet.v1")
}

// With the permissions of pnagent an operator acts, and an observer looks only.
func TestThePermissionsLetAnOperatorActAndAnObserverLook(t *testing.T) {
	t.Parallel()
	p := kit.Permit(t, nil, "--source", "berlin", "--net", "claim")
	side := kit.Serve(t, p.URL("sidecar"), "--mib-dir", "")
	e := kit.RunEngine(t, p.URL("berlin"), "berlin", "--instances", "50", "--bindings", kit.Write(t, "bank.yaml", kit.BankIsClosed), kit.ClaimProcess(t))
	kit.Until(t, "the net is shown", func() error { return side.Shows(t, "claim") })
	const fire, inject = "pnagent fire claim berlin/48 approve", "pnagent inject claim berlin/48 paid 3"
	for _, line := range []string{fire, inject} {
		kit.Until(t, "a dry run of an observer", func() error {
			if r := types(t, p.URL("observer"), line+" --dry-run"); r.Code != 0 {
				return fmt.Errorf("%s%s", r.Out, r.Err)
			}
			return nil
		})
		types(t, p.URL("observer"), line).Says(t, 1, "the NATS server does not allow this user to publish at petrinet.v1.")
	}
	if d, err := drawerOf(t, side.Web, "claim", "instance", "berlin/48"); err != nil || len(d.Actions) != 0 {
		t.Errorf("an observer did %+v, %v", d.Actions, err)
	}
	types(t, p.URL("operator"), fire+" --dry-run").Says(t, 0, "would be fired")
	types(t, p.URL("operator"), fire).Says(t, 0, "fired: ")
	types(t, p.URL("operator"), inject).Says(t, 0, "injected: tokens 3")
	kit.Until(t, "the sidecar has what the operator did", func() error {
		if d, err := drawerOf(t, side.Web, "claim", "instance", "berlin/48"); err != nil || len(d.Actions) != 2 {
			return fmt.Errorf("%+v, %w", d.Actions, err)
		}
		return nil
	})
	kit.RefusedNothing(t, side.Process, e.Process)
}

// An instance of a net in parts is named after the net. The part that has it, or has the
// transition, is found, also with the permissions for JetStream.
func TestPartsOfANetAreActedOn(t *testing.T) {
	t.Parallel()
	p := kit.Permit(t, []string{"-js", "-sd", t.TempDir()}, "--jetstream", "--net", "claim,ring")
	member := func(source string, args ...string) *kit.Engine {
		return kit.RunEngine(t, p.URL("engine"), source, append([]string{"--journal", "jetstream"}, args...)...)
	}
	bank := kit.Write(t, "bank.yaml", kit.BankIsClosed)
	var all []*kit.Engine
	for _, source := range []string{"a", "b"} {
		all = append(all, member(source, "--instances", "50", "--partitions", "4", "--bindings", bank, kit.ClaimProcess(t)))
	}
	regions := kit.Write(t, "ring.yaml", "nets:\n  ring:\n    transitions: {t1: manual, t2: manual, t3: manual}\n    regions: {one: [t1], two: [t2], three: [t3]}\n")
	all = append(all, member("c", "--bindings", regions, kit.Write(t, "ring.pnml", kit.CircleNet)))
	for _, c := range []struct{ line, want string }{
		{"pnagent fire claim claim/48 approve", `instance claim/48, net "claim", source `},
		{"pnagent fire claim claim/07 approve", `instance claim/07, net "claim", source `},
		{"pnagent fire ring ring/0 t1", `net "ring", source c/one`},
		{"pnagent fire ring ring/0 t2", `net "ring", source c/two`},
		{"pnagent inject ring ring/0 c 2", `net "ring", source c/three`},
	} {
		kit.Until(t, c.line, func() error {
			r := types(t, p.URL("operator"), c.line)
			if r.Code != 0 || !strings.Contains(r.Out, c.want) {
				return fmt.Errorf("%s%s; want %s", r.Out, r.Err, c.want)
			}
			return nil
		})
	}
	for _, e := range all {
		kit.RefusedNothing(t, e.Process)
	}
}

// The codes are those of docs/act.md.
func TestActEndsWithItsCode(t *testing.T) {
	t.Parallel()
	nowhere := "nats://" + porttest.Addr(t)
	types(t, nowhere, "pnagent fire claim berlin/48 approve").Says(t, 1, "no connection to NATS at "+nowhere)
	types(t, "", "pnagent fire claim berlin/48 approve").Says(t, 2, "fire: --nats is missing; expected the servers of the engines")
	types(t, "", "pnagent fire -- claim --json -5").Says(t, 2, "fire: --nats is missing") // three names
	types(t, nowhere, "pnagent fire claim berlin/48").Says(t, 2, "<transition>")
	types(t, nowhere, "pnagent inject claim berlin/48 paid 0").Says(t, 2, "inject: 0 tokens; expected 1 or more")
	types(t, nowhere, "pnagent inject claim berlin/48 paid many").Says(t, 2, "many")
	types(t, nowhere, "pnagent retry claim berlin/48 pay --data {").Says(t, 2, `retry: data "{"; expected JSON`)
	types(t, nowhere, "pnagent fire claim berlin/48 approve --comment $'a\\nb'").Says(t, 2, "fire: comment: ")
}

// A button of the page fires a transition of an instance for a client that authenticates, and
// the engine's audit log has its name. Other clients are refused.
func TestAButtonOfThePageFiresForAClientThatAuthenticates(t *testing.T) {
	t.Parallel()
	bus := kit.StartNATS(t)
	hash, err := bcrypt.GenerateFromPassword([]byte("open sesame"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	side := kit.Serve(t, bus, "--mib-dir", "", "--web.actions", "--web.config.file", kit.Write(t, "web.yaml", fmt.Sprintf("basic_auth_users:\n  anna: %s\n", hash)))
	unproven := kit.Serve(t, bus, "--mib-dir", "", "--web.actions")
	audit := filepath.Join(t.TempDir(), "audit")
	kit.RunEngine(t, bus, "berlin", "--instances", "50", "--audit-log", audit, "--bindings", kit.Write(t, "bank.yaml", kit.BankIsClosed), kit.ClaimProcess(t))
	var request map[string]any
	kit.Until(t, "the place has a request", func() error {
		status, body, err := unproven.Get("/api/v1/place?net=claim&place=approve/active")
		var d struct{ Acts []map[string]any }
		if err == nil {
			err = json.Unmarshal(body, &d)
		}
		if err != nil || len(d.Acts) != 1 {
			return fmt.Errorf("%d %.300s, %w", status, body, err)
		}
		request = d.Acts[0]
		return nil
	})
	status, body, err := unproven.Get("/api/v1/stuck?net=claim&place=approve/active&limit=2&name=BERLIN")
	if err != nil || status != 200 || strings.Count(string(body), `"source":"berlin","tokens":1`) != 2 || !strings.Contains(string(body), `"reason":"manual"`) || !strings.Contains(string(body), `"next":"`) {
		t.Errorf("the stuck instances are %d %s, %v", status, body, err)
	}
	post := func(to *kit.Sidecar, user string, more map[string]any) (int, string) {
		t.Helper()
		all := maps.Clone(request)
		maps.Copy(all, more)
		body, _ := json.Marshal(all) // of strings never fails
		req, err := http.NewRequest(http.MethodPost, to.URL+"/api/v1/act", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		if user != "" {
			req.SetBasicAuth(user, "open sesame")
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
	expect := func(to *kit.Sidecar, user string, more map[string]any, status int, want string) {
		t.Helper()
		if got, text := post(to, user, more); got != status || !strings.Contains(text, want) {
			t.Errorf("got %d %s; want %d %s", got, text, status, want)
		}
	}
	expect(side, "", nil, 401, "Unauthorized")
	expect(side, "eve", nil, 401, "Unauthorized")
	expect(unproven, "", nil, 403, "clients that authenticate")
	expect(unproven, "anna", nil, 403, "clients that authenticate")
	kit.Until(t, "the sidecar lists the engine", func() error {
		if got, text := post(side, "anna", map[string]any{"dry_run": true}); got != 200 || !strings.Contains(text, `"held":[{"place":"approve/active","tokens":1,`) {
			return fmt.Errorf("%d %s", got, text)
		}
		return nil
	})
	expect(side, "anna", map[string]any{"comment": "by mail"}, 200, `"source":"berlin"`)
	expect(side, "anna", nil, 409, "not enabled")
	side.Says(t, `"acted on an instance","by":"anna","proven":true`)
	text, err := os.ReadFile(audit)
	kept := strings.Split(strings.TrimSpace(string(text)), "\n")
	if err != nil || len(kept) != 2 || !strings.Contains(kept[0], `"by":"anna","comment":"by mail"`) || !strings.Contains(kept[0], `"ok":true`) || !strings.Contains(kept[1], `"ok":false`) {
		t.Errorf("the audit log has\n%s\n%v; want what anna did, and what was refused", text, err)
	}
}

// did is a request and its result, as the API shows it.
type did struct {
	At, Source, Kind, By, Comment, Net, Instance, Place, Transition, Error string

	Tokens uint64
	OK     bool
}

// drawer is what the page shows of an instance or a place.
type drawer struct {
	Commands []string
	Tool     string
	Actions  []did
	Now      []struct{ Place string }
}

// drawerOf asks for what the page shows; of is place or instance.
func drawerOf(t *testing.T, w kit.Web, net, of, name string) (d drawer, err error) {
	t.Helper()
	status, body, err := w.Get("/api/v1/" + of + "?net=" + url.QueryEscape(net) + "&" + of + "=" + url.QueryEscape(name))
	if err != nil {
		return d, err
	}
	if status != 200 {
		return d, fmt.Errorf("status %d: %.200s", status, body)
	}
	return d, json.Unmarshal(body, &d)
}
