// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/engine/journal/stream"
)

// permitJournals runs a nats-server with JetStream and the permissions for it.
func permitJournals(t *testing.T, args ...string) kit.Permitted {
	t.Helper()
	return kit.Permit(t, []string{"--jetstream", "--store_dir", t.TempDir()}, append([]string{"--source", "shop-1,shop-2", "--jetstream"}, args...)...)
}

// Engines that keep their journals in JetStream take over from each other, with
// regions and partitions, and are shown, asked and acted on from the other account.
func TestThePermissionsAllowJournalsInJetStream(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		flags  []string
		source string // of a part
	}{
		"regions":    {nil, "main"},
		"partitions": {[]string{"--instances", "4", "--partitions", "2"}, "p1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := permitJournals(t, "--net", shopNet)
			side := kit.Serve(t, p.URL("sidecar"))
			flags := append(append([]string{"--journal", "jetstream"}, shop(t)...), c.flags...)
			first := kit.RunEngine(t, p.URL("shop-1"), "shop-1", flags...)
			kit.Until(t, "shop-1 plays", owned(t, p, "shop-1"))
			second := kit.RunEngine(t, p.URL("shop-2"), "shop-2", flags...)
			kit.Until(t, "the sidecar shows it", func() error { return side.Shows(t, shopNet) })
			kit.Request(t, userOf(t, p, "operator"), "inject", shopNet, c.source, `{"place":"placed"}`)
			kit.Until(t, "the page shows an instance", func() error {
				status, body, err := side.Get("/api/v1/instance?net=" + shopNet + "&instance=0")
				if err != nil || status != 200 {
					return errors.Join(err, fmt.Errorf("%d %s", status, body))
				}
				return nil
			})
			if r := kit.Pnagent(t, "wire", "check", "--nats", p.URL("observer"), "--for", "2s"); !strings.Contains(r.Out, "is answered and holds the net") {
				t.Errorf("wire check: got no definition:\n%s%s", r.Out, r.Err)
			}
			if name == "partitions" {
				kit.Until(t, "each plays its share", owned(t, p, "shop-1", "shop-2"))
			}
			first.Kill(t)
			kit.Until(t, "shop-2 plays", owned(t, p, "shop-2"))
			if r := kit.Pnagent(t, "regions", "--nats", p.URL("observer"), "--json", shopNet); strings.Contains(r.Out, `"owner":"shop-1"`) {
				t.Errorf("got %s; want shop-2 only", r.Out)
			}
			kit.Request(t, userOf(t, p, "operator"), "inject", shopNet, c.source, `{"place":"placed"}`)
			for _, e := range []*kit.Engine{first, second} {
				if said := e.Err.String(); strings.Contains(said, "iolation") {
					t.Errorf("the server refused something of %s:\n%s", e.Source, said)
				}
			}
		})
	}
}

// A log is written, followed, snapshot, cut and read again with the permissions.
func TestThePermissionsAllowAllThatALogDoes(t *testing.T) {
	t.Parallel()
	p := permitJournals(t, "--net", shopNet)
	ctx, cancel := context.WithTimeout(t.Context(), kit.Patience)
	defer cancel()
	open := func(user string) (*stream.Log, *nats.Conn) {
		nc := userOf(t, p, user)
		l, err := stream.Open(ctx, stream.Config{Conn: nc, Name: "log/1"})
		if err != nil {
			t.Fatal(err)
		}
		return l, nc
	}
	writer, wrote := open("shop-1")
	const commits = 3000 // a reader asks for them in pieces
	for i := range uint64(commits) {
		if _, err := writer.Append(ctx, i, fmt.Appendf(nil, "commit %d", i+1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Confirm(ctx, commits); err != nil {
		t.Fatal(err)
	}
	reader, read := open("shop-2")
	for _, upTo := range []uint64{1000, 2000} { // the second replaces the first
		err := writer.SaveSnapshot(ctx, upTo, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "state up to %d %s", upTo, strings.Repeat(".", 300_000)) // several pieces
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var state []byte
	upTo, err := reader.LoadSnapshot(ctx, func(r io.Reader) (err error) { state, err = io.ReadAll(r); return err })
	if err != nil || upTo != 2000 || !strings.HasPrefix(string(state), "state up to 2000 ") {
		t.Fatalf("got a snapshot up to %d, %v: %.50s", upTo, err, state)
	}
	next, enough := upTo+1, errors.New("enough")
	err = reader.Follow(ctx, next, func(c journal.Commit) error {
		if want := fmt.Sprint("commit ", next); c.Sequence != next || string(c.Payload) != want {
			t.Fatalf("got %d %s; want %s", c.Sequence, c.Payload, want)
		}
		if next++; next > commits {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) {
		t.Fatal(err)
	}
	if _, err := reader.Append(ctx, commits, []byte("of another writer")); err != nil {
		t.Fatal(err)
	}
	if err := reader.Confirm(ctx, commits+1); err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Append(ctx, commits, []byte("too late")); err == nil {
		err = writer.Confirm(ctx, commits+1)
		if !errors.Is(err, journal.ErrNotLast) {
			t.Errorf("got %v for a writer that was replaced; want %v", err, journal.ErrNotLast)
		}
	}
	for _, l := range []*stream.Log{reader, writer} {
		_ = l.Close() // that of the writer says that it was replaced
	}
	for _, nc := range []*nats.Conn{wrote, read} {
		if err := nc.LastError(); err != nil {
			t.Errorf("the server refused something: %v", err)
		}
	}
}

// forgeries make JetStream publish a message at a subject that the client may not
// publish at. stream is one that stores what is published at from.
var forgeries = map[string]func(t *testing.T, nc *nats.Conn, stream, from, to string){
	"a stream that republishes": func(t *testing.T, nc *nats.Conn, _, _, to string) {
		ask(t, nc, "STREAM.CREATE.republishes", `{"name":"republishes","subjects":["pnagent.log.forged"],"republish":{"src":"pnagent.log.forged","dest":"`+to+`"}}`)
		store(t, nc, "pnagent.log.forged")
	},
	"a consumer with a deliver subject": func(t *testing.T, nc *nats.Conn, stream, from, to string) {
		store(t, nc, from)
		ask(t, nc, "CONSUMER.CREATE."+stream+".forged", `{"stream_name":"`+stream+`","config":{"name":"forged","deliver_subject":"`+to+`","ack_policy":"none","deliver_policy":"last","mem_storage":true}}`)
	},
	"a read with another reply subject": func(t *testing.T, nc *nats.Conn, stream, from, to string) {
		store(t, nc, from)
		publish(t, nc, "$JS.API.DIRECT.GET."+stream+"."+from, to, "")
	},
	"a pull with another reply subject": func(t *testing.T, nc *nats.Conn, stream, from, to string) {
		store(t, nc, from)
		ask(t, nc, "CONSUMER.CREATE."+stream+".pulled", `{"stream_name":"`+stream+`","config":{"name":"pulled","ack_policy":"none","deliver_policy":"last","mem_storage":true}}`)
		publish(t, nc, "$JS.API.CONSUMER.MSG.NEXT."+stream+".pulled", to, `{"batch":1}`)
	},
}

const forgedText = `{"version":1,"id":"0","name":"forged"}`

// ask sends a request to JetStream, which grants it.
func ask(t *testing.T, nc *nats.Conn, subject, body string) {
	t.Helper()
	answer, err := nc.Request("$JS.API."+subject, []byte(body), kit.Patience)
	if err != nil || strings.Contains(string(answer.Data), `"error"`) {
		t.Fatalf("%s: got %v, %+v; want that JetStream does it", subject, err, answer)
	}
}

// store publishes the forged message into a stream, which keeps it.
func store(t *testing.T, nc *nats.Conn, subject string) {
	t.Helper()
	if answer, err := nc.Request(subject, []byte(forgedText), kit.Patience); err != nil || strings.Contains(string(answer.Data), `"error"`) {
		t.Fatalf("%s: got %v, %+v; want that it is stored", subject, err, answer)
	}
}

func publish(t *testing.T, nc *nats.Conn, subject, reply, body string) {
	t.Helper()
	if err := errors.Join(nc.PublishRequest(subject, reply, []byte(body)), nc.Flush()); err != nil {
		t.Fatal(err)
	}
}

// JetStream publishes where a client could not. In one account an engine so forges the
// messages of sidecars; in an account of engines it reaches nothing else.
func TestJetStreamForgesNothingOutsideOfTheAccountOfEngines(t *testing.T) {
	t.Parallel()
	const to = "petrinet.v1.sidecars.default"
	open := kit.Permitted{At: strings.TrimPrefix(kit.StartNATS(t, "--jetstream", "--store_dir", t.TempDir()), "nats://")}
	closed := permitJournals(t, "--net", shopNet)
	for name, forge := range forgeries {
		t.Run(name, func(t *testing.T) {
			for _, p := range []kit.Permitted{open, closed} {
				engine := userOf(t, p, "shop-1")
				l, err := stream.Open(t.Context(), stream.Config{Conn: engine, Name: "own"})
				if err != nil {
					t.Fatal(err)
				}
				of, err := stream.NameOf("own")
				err = errors.Join(err, l.Close())
				if err != nil {
					t.Fatal(err)
				}
				side := userOf(t, p, "sidecar")
				sub, err := side.SubscribeSync(to)
				err = errors.Join(err, side.Flush())
				if err != nil {
					t.Fatal(err)
				}
				forge(t, engine, of, "pnagent.log.own", to)
				switch m, err := sub.NextMsg(map[bool]time.Duration{true: kit.Patience, false: time.Second}[p == open]); {
				case p == open && err != nil:
					t.Errorf("in one account: got %v; want the forged message", err)
				case p == closed && err == nil:
					t.Errorf("in two accounts: got %s at %s; want that it does not arrive", m.Data, m.Subject)
				case p == closed && !errors.Is(err, nats.ErrTimeout):
					t.Error(err)
				}
				_ = sub.Unsubscribe() // of a connection that ends
			}
		})
	}
	engine := userOf(t, closed, "shop-1")
	of, err := stream.NameOf("own")
	if err != nil {
		t.Fatal(err)
	}
	for _, subject := range []string{"STREAM.DELETE." + of, "STREAM.UPDATE." + of, "STREAM.MSG.DELETE." + of, "STREAM.RESTORE.other", "STREAM.SNAPSHOT." + of,
		"STREAM.LEADER.STEPDOWN." + of, "STREAM.PEER.REMOVE." + of, "ACCOUNT.PURGE.engines", "SERVER.REMOVE"} {
		publish(t, engine, "$JS.API."+subject, engine.NewInbox(), "")
		if err := engine.LastError(); !errors.Is(err, nats.ErrPermissionViolation) || !strings.Contains(err.Error(), subject) {
			t.Errorf("%s: got %v; want that the server refuses it", subject, err)
		}
	}
	for _, user := range []string{"sidecar", "operator", "observer"} {
		nc := userOf(t, closed, user)
		publish(t, nc, "$JS.API.STREAM.INFO."+of, nc.NewInbox(), "")
		if err := nc.LastError(); !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("the log for %s: got %v; want that the server refuses it", user, err)
		}
	}
}

// owned checks which process plays all parts of the net.
func owned(t *testing.T, p kit.Permitted, by ...string) func() error {
	t.Helper()
	return func() error {
		r := kit.Pnagent(t, "regions", "--nats", p.URL("observer"), "--json", shopNet)
		for _, one := range by {
			if r.Code != 0 || !strings.Contains(r.Out, `"owner":"`+one+`"`) {
				return fmt.Errorf("%d %s%s; want %q", r.Code, r.Out, r.Err, by)
			}
		}
		return nil
	}
}

// userOf connects as a user.
func userOf(t *testing.T, p kit.Permitted, name string) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(p.URL(name), nats.Timeout(kit.Patience), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})) // LastError has it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}
