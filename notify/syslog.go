// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/pnagent/pnagent/internal/plaintext"
)

// refusalWithin is how long a closed port of UDP takes to say so.
const refusalWithin = 2 * time.Second

// syslog sends events to a server as messages of RFC 5424: one in a datagram (RFC 5426), or with
// their length before them over TCP (RFC 6587) and TLS (RFC 5425).
type syslog struct {
	network  string // udp, tcp or tls
	addr     string
	tls      *tls.Config
	facility int
	host     string
	conn     net.Conn // nil before the first event, and after an error
}

func (s *syslog) send(ctx context.Context, site *Site, e *Event) error {
	text := s.message(site, e)
	if s.network != "udp" {
		text = fmt.Sprintf("%d %s", len(text), text)
	}
	had := s.conn != nil
	err := s.write(ctx, text)
	if err != nil && had && ctx.Err() == nil { // the server closed a connection that was at rest
		err = s.write(ctx, text)
	}
	return err
}

// reach connects as for an event. Over UDP it sends an empty datagram, which a server drops: that
// the port is closed comes back, and that it is open does not.
func (s *syslog) reach(ctx context.Context) (said string, err error) {
	conn, err := s.dial(ctx)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if s.network != "udp" {
		return "it accepts connections", nil
	}
	if _, err = conn.Write(nil); err != nil {
		return "", err
	}
	by, _ := ctx.Deadline() // without one it waits for as long as the kernel takes
	if most := time.Now().Add(refusalWithin); by.IsZero() || by.After(most) {
		by = most
	}
	_ = conn.SetReadDeadline(by) // an error is that of the read
	if _, err = conn.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
		err = ErrUnacknowledged
	}
	return "it answers", err
}

func (s *syslog) write(ctx context.Context, text string) (err error) {
	if s.conn == nil {
		s.conn, err = s.dial(ctx)
		if err != nil {
			s.conn = nil
			return err
		}
	}
	if by, ok := ctx.Deadline(); ok {
		_ = s.conn.SetDeadline(by) // an error is that of the write
	}
	if s.network != "udp" {
		err = s.closed()
	}
	if err == nil {
		_, err = s.conn.Write([]byte(text))
	}
	if err != nil {
		_ = s.conn.Close()
		s.conn = nil
	}
	return err
}

// closed returns an error if the server has closed the connection: a write to it would succeed.
func (s *syslog) closed() error {
	by := time.Now().Add(time.Millisecond)
	_ = s.conn.SetReadDeadline(by)
	_, err := s.conn.Read(make([]byte, 1))
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	return err
}

func (s *syslog) dial(ctx context.Context) (net.Conn, error) {
	if s.network == "tls" {
		return (&tls.Dialer{Config: s.tls}).DialContext(ctx, "tcp", s.addr)
	}
	return new(net.Dialer).DialContext(ctx, s.network, s.addr)
}

// severity returns the severity of a message, as RFC 5674 maps those of alarms.
func (e *Event) syslogSeverity() int {
	if !e.active() {
		return 5 // notice
	}
	return map[string]int{"critical": 1, "major": 2, "minor": 3, "warning": 4}[e.Severity]
}

// message returns an event as RFC 5424 has it, with the structured data of RFC 5674.
func (s *syslog) message(site *Site, e *Event) string {
	data := fmt.Sprintf(`[pnagent@%d id="%s" event="%s"`, site.Enterprise, param(e.ID), e.What)
	if e.Alarm != nil {
		for _, p := range [][2]string{{"index", fmt.Sprint(e.Index)}, {"alarm", e.Kind}, {"net", e.Net}, {"place", e.Place}, {"transition", e.Transition}, {"source", e.Source},
			{"region", e.Region}, {"reason", e.Reason}, {"instance", e.Instance}, {"since", e.Since.Format(time.RFC3339)}, {"affected", fmt.Sprint(e.Affected)}, {"runbook", e.Runbook}} {
			if p[1] != "" {
				data += fmt.Sprintf(` %s="%s"`, p[0], param(p[1]))
			}
		}
		severity := e.Severity
		if e.What == cleared {
			severity = cleared
		}
		data += fmt.Sprintf(`][alarm resource="%s" probableCause="other" perceivedSeverity="%s"`, param(e.subject()), severity)
		if e.Page != "" {
			data += fmt.Sprintf(` resourceURI="%s"`, param(e.Page))
		}
	}
	text := e.Title()
	if e.Alarm != nil {
		text += ": " + plaintext.Escape(e.Text)
	}
	return fmt.Sprintf("<%d>1 %s %s pnagent %d %s %s] \ufeff%s", s.facility*8+e.syslogSeverity(), e.At.Format("2006-01-02T15:04:05.000000Z07:00"), s.host, os.Getpid(), e.What, data, text)
}

// param returns a value of structured data.
func param(value string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, `]`, `\]`).Replace(plaintext.Escape(value))
}

// hostName returns the name of this host for syslog; "-" if there is none that it takes.
func hostName() string {
	name, err := os.Hostname()
	if err != nil || name == "" || len(name) > 255 || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "-"
	}
	return name
}

// facilities are the names of the facilities of RFC 5424, by their numbers.
func facilities() []string {
	return []string{"kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv", "ftp", "ntp", "audit", "alert", "clock",
		"local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7"}
}
