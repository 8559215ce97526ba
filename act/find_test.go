// SPDX-License-Identifier: Apache-2.0

package act

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// publish returns a function that starts a source of a net named by its id, with the
// places and transitions of order.
func publish(t *testing.T, to natstest.Server, cfg telemetry.Config) func(net string) {
	return func(net string) {
		t.Helper()
		def := order()
		def.ID, def.Name = net, "Net "+net
		var text bytes.Buffer
		if err := pnml.Write(&text, petritest.Compile(t, def).Net); err != nil {
			t.Fatal(err)
		}
		cfg.Conn, cfg.Interval, cfg.Log = natstest.Connect(t, to), time.Hour, slog.New(slog.DiscardHandler)
		cfg.Nets = []telemetry.SourceNet{{ID: net, PNML: text.Bytes(), Places: len(def.Places), Transitions: len(def.Transitions)}}
		cfg.Rows = func(int, int64, *stats.Rows) error { return nil }
		p, err := telemetry.Start(cfg)
		if err == nil {
			err = cfg.Conn.Flush()
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := p.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
}

// has returns an Instance of Config with one token in for-sign.
func has(names ...string) func(int, string) (*telemetry.Instance, error) {
	return func(_ int, name string) (*telemetry.Instance, error) {
		for _, n := range names {
			if n == name {
				return &telemetry.Instance{Instance: name, At: 9e6, Tokens: []telemetry.InstanceToken{{Place: "for-sign", Tokens: 1, Injected: 2e6,
					Waits: []telemetry.InstanceWait{{Transition: "sign", Reason: "manual"}}}}}, nil
			}
		}
		return nil, telemetry.ErrNoInstance
	}
}

// engineOf answers requests at a name of the net order, and returns how many there were.
func engineOf(t *testing.T, to natstest.Server, name, answer string) func() int {
	n := make(chan int, 1)
	n <- 0
	subscribe(t, natstest.Connect(t, to), "petrinet.v1.fire.order."+telemetry.Escape(name), func(m *nats.Msg) {
		n <- 1 + <-n
		if answer != "" {
			_ = m.Respond([]byte(answer))
		}
	})
	return func() int { i := <-n; n <- i; return i }
}

func newClient(t *testing.T) (natstest.Server, *Client) {
	s := natstest.Run(t)
	return s, &Client{Conn: natstest.Connect(t, s), By: "kim@desk"}
}

// Each part of a net has the instance. One has the transition.
func TestThePartThatHasTheTransitionFiresIt(t *testing.T) {
	natstest.Bubble(t, thePartThatHasTheTransitionFiresIt)
}

func thePartThatHasTheTransitionFiresIt(t *testing.T) {
	s, c := newClient(t)
	publish(t, s, telemetry.Config{Source: "a/left", Acts: "left", Instance: has("order/1")})("order")
	publish(t, s, telemetry.Config{Source: "b/right", Acts: "right", Instance: has("order/1")})("order")
	publish(t, s, telemetry.Config{Source: "c/far", Acts: "far", Instance: has("order/2")})("order")
	left, right := engineOf(t, s, "left", `{"error":"x","elsewhere":true}`), engineOf(t, s, "right", `{"ok":true}`)
	out, err := c.Do(t.Context(), Request{Verb: Fire, Net: "order", Instance: "order/1", Element: "sign"})
	if err != nil || out.Source != "b/right" || left() != 1 || right() != 1 {
		t.Errorf("%+v, %v; asked %d, %d", out, err, left(), right())
	}
	far := engineOf(t, s, "far", `{"ok":true}`)
	out, err = c.Do(t.Context(), Request{Verb: Fire, Net: "order", Instance: "order/2", Element: "sign"})
	if err != nil || out.Source != "c/far" || far() != 1 {
		t.Errorf("a partition: %+v, %v", out, err)
	}
	_, err = c.Do(t.Context(), Request{Verb: Fire, Net: "order", Instance: "order/3", Element: "sign"})
	if err == nil || err.Error() != `net "order": no source that answers has instance "order/3"` {
		t.Errorf("got %v", err)
	}
}

// If no part has the transition, the error is that of the last one.
func TestNoPartHasTheTransition(t *testing.T) { natstest.Bubble(t, noPartHasTheTransition) }

func noPartHasTheTransition(t *testing.T) {
	s, c := newClient(t)
	for _, part := range []string{"left", "right"} {
		publish(t, s, telemetry.Config{Source: "a/" + part, Acts: part, Instance: has("order/1")})("order")
		engineOf(t, s, part, `{"error":"it is elsewhere","elsewhere":true}`)
	}
	if out, err := c.Do(t.Context(), Request{Verb: Fire, Net: "order", Instance: "order/1", Element: "sign"}); err == nil || err.Error() != `source "a/right": it is elsewhere` || out.OK {
		t.Errorf("%+v, %v", out, err)
	}
}

// Adapters take no requests. The error names what does.
func TestAnAdapterNamesTheToolOfItsEngine(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  telemetry.Config
		want string
	}{
		"with a tool": {telemetry.Config{Tool: "Camunda Cockpit", Instance: has("4711")}, `source "shop" takes no requests: it publishes what another engine does; use Camunda Cockpit`},
		"with a command": {telemetry.Config{Tool: "Camunda Cockpit", Instance: func(int, string) (*telemetry.Instance, error) {
			return &telemetry.Instance{Tokens: []telemetry.InstanceToken{{Waits: []telemetry.InstanceWait{{Command: "cockpit retry 4711"}}}}}, nil
		}}, `use Camunda Cockpit: cockpit retry 4711`},
		"that retries only":         {telemetry.Config{Acts: "shop", Verbs: []string{"retry"}, Instance: has("4711")}, `source "shop" takes only requests to retry`},
		"without one":               {telemetry.Config{Instance: has("4711")}, `source "shop" takes no requests: it publishes what another engine does; use the tool of that engine`},
		"that reports no instances": {telemetry.Config{Tool: "rabbitmqctl"}, `use rabbitmqctl`},
		"whose instance is away":    {telemetry.Config{Tool: "Camunda Cockpit", Instance: nothing}, `no source that answers has instance "4711"; source "shop": no such instance`},
	} {
		t.Run(name, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T) {
				s, client := newClient(t)
				c.cfg.Source = "shop"
				publish(t, s, c.cfg)("order")
				for _, dry := range []bool{true, false} {
					_, err := client.Do(t.Context(), Request{Verb: Fire, Net: "order", Instance: "4711", Element: "sign", DryRun: dry})
					if err == nil || !strings.Contains(err.Error(), c.want) {
						t.Errorf("got %v; want %s", err, c.want)
					}
				}
			})
		})
	}
}

// Two engines can have an instance of one name. Then the source is asked for.
func TestOneOfSeveralSourcesIsChosen(t *testing.T) { natstest.Bubble(t, oneOfSeveralSourcesIsChosen) }

func oneOfSeveralSourcesIsChosen(t *testing.T) {
	s, c := newClient(t)
	asked := map[string]func() int{}
	for _, source := range []string{"berlin", "osaka"} {
		publish(t, s, telemetry.Config{Source: source, Acts: source, Instance: has("4711")})("order")
		asked[source] = engineOf(t, s, source, `{"ok":true}`)
	}
	r := Request{Verb: Fire, Net: "order", Instance: "4711", Element: "sign"}
	if _, err := c.Do(t.Context(), r); err == nil || !strings.Contains(err.Error(), `2 sources have an instance "4711": "`) || !strings.Contains(err.Error(), "expected one, as --source") {
		t.Errorf("got %v", err)
	}
	r.Source = "osaka"
	if out, err := c.Do(t.Context(), r); err != nil || out.Source != "osaka" || asked["osaka"]() != 1 || asked["berlin"]() != 0 {
		t.Errorf("%+v, %v", out, err)
	}
}

// A request that is not answered may have been done, and says so.
//
//promise:refused messages
func TestARequestWithoutAnAnswerIsUnknown(t *testing.T) {
	for name, answer := range map[string]string{"none": "", "garbage": "garbage", "neither": "{}"} {
		t.Run(name, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T) {
				s, c := newClient(t)
				publish(t, s, telemetry.Config{Source: "berlin", Acts: "berlin", Instance: has("berlin/1")})("order")
				asked := engineOf(t, s, "berlin", answer)
				out, err := c.Do(t.Context(), Request{Verb: Fire, Net: "order", Instance: "berlin/1", Element: "sign"})
				if !errors.Is(err, ErrUnknown) || !out.Unknown || out.OK || asked() != 1 {
					t.Errorf("%+v, %v", out, err)
				}
			})
		})
	}
}

// An engine that is away: it has ended, or does not answer.
func TestAnEngineThatIsAwayIsNamed(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		s, c := newClient(t)
		r := Request{Verb: Fire, Net: "order", Instance: "berlin/1", Element: "sign"}
		if _, err := c.Do(t.Context(), r); err == nil || err.Error() != "no source of any net answers below petrinet.v1" {
			t.Errorf("none is there: got %v", err)
		}
		publish(t, s, telemetry.Config{Source: "osaka", Acts: "osaka", Instance: nothing})("order")
		hangs := make(chan struct{})
		publish(t, s, telemetry.Config{Source: "tokyo", Acts: "tokyo", Instance: func(int, string) (*telemetry.Instance, error) {
			<-hangs
			return nil, telemetry.ErrNoInstance
		}})("order")
		t.Cleanup(func() { close(hangs) })
		_, err := c.Do(t.Context(), r)
		for _, want := range []string{`net "order": no source that answers has instance "berlin/1"`, `source "tokyo": it does not answer within 2s`, `source "berlin" does not answer; expected one of "osaka", "tokyo"`} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v; want %s", err, want)
			}
		}
		publish(t, s, telemetry.Config{Source: "berlin", Acts: "berlin", Instance: has("berlin/1")})("order")
		if out, err := c.Do(t.Context(), r); err == nil || !strings.Contains(err.Error(), `source "berlin": it takes no requests any more`) || out.Unknown {
			t.Errorf("it ends meanwhile: got %+v, %v", out, err)
		}
	})
}

func TestLine(t *testing.T) {
	for _, c := range []struct {
		verb                   Verb
		net, instance, element string
		tokens                 uint64
		want                   string
	}{
		{Fire, "backup-window", "berlin/48", "release", 0, "pnagent fire backup-window berlin/48 release"},
		{Retry, "order", "berlin/48", "work", 9, "pnagent retry order berlin/48 work"},
		{Inject, "order", "berlin/48", "asked/start", 1, "pnagent inject order berlin/48 asked/start"},
		{Inject, "order", "berlin/48", "placed", 3, "pnagent inject order berlin/48 placed 3"},
		{Fire, "two words", "it's", "größe", 0, `pnagent fire 'two words' 'it'\''s' 'größe'`},
		{Fire, "n", "$(reboot)", "`x`;\"", 0, "pnagent fire n '$(reboot)' '`x`;\"'"},
		{Fire, "n", "-x", "--json", 0, "pnagent fire -- n -x --json"},
		{Fire, "n", "~", "", 0, "pnagent fire n '~' ''"},
		{Fire, "n", "a\u202eb'\\", "t", 0, `pnagent fire n $'a\xe2\x80\xaeb\'\\' t`},
	} {
		if got := Line(c.verb, c.net, c.instance, c.element, c.tokens); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestNamesThatAreNearAreOffered(t *testing.T) {
	many := []string{}
	for i := range 20 {
		many = append(many, fmt.Sprint("place-", i))
	}
	for _, c := range []struct {
		name  string
		among []string
		want  string
	}{
		{"x", nil, "there is none"},
		{"aprove", []string{"cancel", "approve"}, `near it: "approve"`},
		{"APPROVE", []string{"cancel", "approve"}, `near it: "approve"`},
		{"b", []string{"z", "y", "y"}, `expected one of "y", "z"`},
		{"q", many, `expected one of "place-0", "place-1", "place-10", "place-11", "place-12", "place-13", "place-14", "place-15" and 12 more`},
		{"place-7", many[:8], `near it: "place-7", "place-0", "place-1"`},
	} {
		if got := offer(c.name, c.among); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"größe", "grosse", 3}, {"abc", "ABC", 0}, {"ab", "ba", 2}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("%q, %q: got %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestOwner(t *testing.T) {
	for instance, want := range map[string]string{"berlin/48": "berlin", "c/p0/7": "c/p0", "4711": "", "": "", "/7": ""} {
		if got := Owner(instance); got != want {
			t.Errorf("%q: got %q, want %q", instance, got, want)
		}
	}
}

// What an engine answers about a request whose journal failed, and about that request later.
func TestAnswersAboutARequestWhoseOutcomeIsNotKnown(t *testing.T) {
	for text, c := range map[string]struct {
		err error
		key string
	}{
		`{"error":"the outcome is not known: …","unknown":true,"key":"1/2/3"}`: {ErrUnknown, "1/2/3"},
		`{"unknown":true}`:         {ErrUnknown, ""},
		`{"ok":true,"done":true}`:  {nil, ""},
		`{"ok":true,"done":false}`: {ErrNotDone, ""},
	} {
		_, err := readAnswer([]byte(text))
		var u *unknownOutcome
		errors.As(err, &u)
		if !errors.Is(err, c.err) || u != nil && (u.key != c.key || u.text == "") || (u != nil) != errors.Is(c.err, ErrUnknown) {
			t.Errorf("%s: %v; want %v and the key %q", text, err, c.err, c.key)
		}
	}
	r := Request{Verb: Fire, Net: "n", Instance: "i", Element: "t", Outcome: "1/2/3", DryRun: true}
	if r.Check() == nil {
		t.Error("a dry run of a question is accepted")
	}
}

// FuzzAnswer: an answer is a success, a refusal with its reason, or unknown.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"ok":true}`))
	f.Add([]byte(`{"error":"reason","elsewhere":true}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		elsewhere, err := readAnswer(text)
		if elsewhere && (err == nil || errors.Is(err, ErrUnknown)) {
			t.Fatalf("elsewhere with %v", err)
		}
		if err == nil && !bytes.Contains(text, []byte("true")) {
			t.Fatalf("%q is a success", text)
		}
	})
}

// FuzzLine: any names are three words of the command line, without a character that a
// terminal hides.
func FuzzLine(f *testing.F) {
	f.Add("order", "berlin/48", "it's $x")
	f.Fuzz(func(t *testing.T, net, instance, element string) {
		line := Line(Fire, net, instance, element, 0)
		if strings.ContainsAny(line, "\n\r\x00\x1b\u202e") {
			t.Fatalf("%q", line)
		}
	})
}
