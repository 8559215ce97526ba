// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/telemetry/natslink"
	"github.com/pnagent/pnagent/telemetry/permissions"
)

const (
	natsServer = "nats-server.conf"
	// oldest is the first version of nats-server that engines with journals may use.
	oldestMajor, oldestMinor = 2, 14
	// own is a token of subjects that no engine has.
	own = "pnagent-doctor"
	// full is the share of a limit from which it is near.
	full = 0.9
)

// nats looks at the server as the sidecar uses it.
func (d *doctor) nats(ctx context.Context) []Finding {
	f := Finding{Check: "nats", Looked: natslink.Redact(d.NATS.URL), Outcome: Fails}
	subjects, err := telemetry.NewSubjects(d.NATS.Subjects)
	if err != nil {
		f.Cause = err.Error()
		return []Finding{f}
	}
	options, err := d.NATS.Secrets()
	if err != nil {
		f.Cause = err.Error()
		return []Finding{f}
	}
	refused, closed := &refusals{}, make(chan struct{})
	options = append(options, nats.Name("pnagent doctor"), nats.Timeout(d.Within/2), nats.NoReconnect(), nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused.add(err) }),
		nats.ClosedHandler(func(*nats.Conn) { close(closed) }))
	way := &dialer{within: d.Within / 2}
	conn, err := nats.Connect(d.NATS.URL, append(options, nats.SetCustomDialer(way))...)
	if err != nil {
		if errors.Is(err, nats.ErrNoServers) && way.err != nil {
			err = way.err
		}
		f.Cause, f.Hints = natslink.Reason(err), d.natsHints(err)
		return []Finding{f}
	}
	f.Outcome, f.Cause = OK, "nats-server "+conn.ConnectedServerVersion()
	journals := d.jetStream(ctx, conn)
	permitted := d.allowed(ctx, conn, subjects)
	conn.Close()
	<-closed // what the server refused was passed on before
	if all := refused.all; permitted.Outcome == OK && len(all) > 0 {
		permitted.Outcome, permitted.Cause = Fails, "the server refuses: "+strings.Join(all, "; ")
		permitted.Hints = []Hint{{"run", "pnagent permissions --role sidecar --nats.prefix " + subjects.Prefix() + ", and put what it prints into " + natsServer}}
	}
	return append([]Finding{f, permitted}, journals...)
}

// natsHints returns what makes a server reachable.
func (d *doctor) natsHints(err error) []Hint {
	switch {
	case errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired):
		return []Hint{d.flag("nats.creds", "FILE"), {natsServer, "(a user of: pnagent permissions --role sidecar)"}}
	case strings.Contains(err.Error(), "tls") || strings.Contains(err.Error(), "x509"):
		return []Hint{d.flag("nats.tls-ca", "FILE")}
	}
	return []Hint{{"run", "systemctl start nats-server"}, d.flag("nats", "nats://HOST:4222")}
}

// dialer keeps why it reached no server, which the client does not pass on.
type dialer struct {
	within time.Duration
	err    error
}

// Dial implements nats.CustomDialer.
func (w *dialer) Dial(network, address string) (conn net.Conn, err error) {
	conn, err = (&net.Dialer{Timeout: w.within}).DialContext(context.Background(), network, address) // the client passes no context
	w.err = err
	return conn, err
}

// refusals are what the server refuses, once each. The client adds them from one goroutine.
type refusals struct{ all []string }

func (r *refusals) add(err error) {
	if reason := natslink.Reason(err); errors.Is(err, nats.ErrPermissionViolation) && !slices.Contains(r.all, reason) {
		r.all = append(r.all, reason)
	}
}

// allowed subscribes to each subject of a sidecar, and publishes to each with names that no engine
// has; a hello makes the sources answer, as after the start of a sidecar.
func (d *doctor) allowed(ctx context.Context, conn *nats.Conn, subjects telemetry.Subjects) Finding {
	deployment := permissions.Deployment{Subjects: subjects}
	u := deployment.Users(permissions.Sidecar)[0]
	if d.Sidecar.Up != nil && !d.Given["up.nats"] { // it subscribes only: the sidecar above would reject an empty snapshot
		deployment.Up = &d.Sidecar.Up.Subjects
		u.Subscribe = deployment.Users(permissions.Sidecar)[0].Subscribe
	}
	f := Finding{Check: "nats.permissions", Looked: fmt.Sprintf("%d subjects to subscribe and %d to publish below %s", len(u.Subscribe), len(u.Publish), subjects.Prefix()), Outcome: Unknown}
	for _, subject := range u.Subscribe {
		if _, err := conn.SubscribeSync(subject); err != nil {
			f.Cause = natslink.Reason(err)
			return f
		}
	}
	for _, subject := range u.Publish {
		if err := conn.Publish(strings.NewReplacer("*", own, ">", own).Replace(subject), nil); err != nil {
			f.Cause = natslink.Reason(err)
			return f
		}
	}
	if err := conn.FlushWithContext(ctx); err != nil {
		f.Cause = natslink.Reason(err)
		return f
	}
	f.Outcome, f.Cause = OK, "the server refuses none"
	return f
}

// jetStream looks at the store for the journals of engines, if there are any.
func (d *doctor) jetStream(ctx context.Context, conn *nats.Conn) []Finding {
	if !d.JetStream {
		return nil
	}
	f := Finding{Check: "nats.jetstream", Looked: "JetStream of " + natslink.Redact(d.NATS.URL), Outcome: Unknown}
	js, err := jetstream.New(conn)
	if err != nil {
		f.Cause = err.Error()
		return []Finding{f}
	}
	info, err := js.AccountInfo(ctx)
	switch {
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		f.Outcome, f.Cause = Fails, natslink.Reason(err)
		f.Hints = []Hint{{natsServer, `jetstream { store_dir: "/var/lib/nats" }`}}
	case err != nil:
		f.Cause = natslink.Reason(err)
	case near(info.Store, info.Limits.MaxStore) || near(uint64(max(info.Streams, 0)), int64(info.Limits.MaxStreams)):
		f.Outcome, f.Cause = Fails, fmt.Sprintf("the account uses %d of %d bytes and %d of %d streams", info.Store, info.Limits.MaxStore, info.Streams, info.Limits.MaxStreams)
		f.Hints = []Hint{{natsServer, "jetstream { max_file_store: " + fmt.Sprint(2*max(info.Limits.MaxStore, 1<<30)) + " }"}}
	default:
		f.Outcome, f.Cause = OK, fmt.Sprintf("%d streams of %d bytes", info.Streams, info.Store)
	}
	version := Finding{Check: "nats.version", Looked: f.Looked, Outcome: OK, Cause: "nats-server " + conn.ConnectedServerVersion()}
	var major, minor int
	if _, err := fmt.Sscanf(conn.ConnectedServerVersion(), "%d.%d", &major, &minor); err != nil {
		version.Outcome, version.Cause = Unknown, "the server says no version"
	} else if major < oldestMajor || major == oldestMajor && minor < oldestMinor {
		version.Outcome = Fails
		version.Cause += fmt.Sprintf("; journals need %d.%d or later", oldestMajor, oldestMinor)
		version.Hints = []Hint{{"run", "update nats-server"}}
	}
	return []Finding{f, version}
}

// near reports whether a limit is nearly reached; 0 and less are none.
func near(used uint64, limit int64) bool { return limit > 0 && float64(used) >= full*float64(limit) }
