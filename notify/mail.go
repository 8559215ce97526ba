// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"net"
	"strings"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// mail sends events over SMTP. All mails about an alarm are one thread, and the same event has the
// same Message-ID, which receivers may know.
type mail struct {
	from           string
	to             []string
	addr           string
	implicit       bool        // TLS from the first byte
	tls            *tls.Config // nil sends in the clear
	user, password string      // "" for none
}

func (m *mail) send(ctx context.Context, _ *Site, e *Event) error {
	return m.login(ctx, func(c *smtp.Client) error { return m.submit(c, e) })
}

// reach asks the server for each address as for a mail, and sends none.
func (m *mail) reach(ctx context.Context) (said string, err error) {
	err = m.login(ctx, func(c *smtp.Client) error {
		if err := c.Mail(m.from, nil); err != nil {
			return err
		}
		var faults []error
		for _, to := range m.to {
			if err := c.Rcpt(to, nil); err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", to, err))
			}
		}
		_ = c.Reset() // without a mail there is nothing that the server could lose
		_ = c.Quit()
		return errors.Join(faults...)
	})
	return "the server takes mails for these addresses", err
}

// login connects to the server and calls do with the client, which may submit mails.
func (m *mail) login(ctx context.Context, do func(*smtp.Client) error) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", m.addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })() // the client has time-outs of its own, which are longer
	c, err := m.client(conn)
	if err != nil {
		return err
	}
	if m.user != "" {
		auth := sasl.NewPlainClient("", m.user, m.password)
		if !c.SupportsAuth(sasl.Plain) && c.SupportsAuth(sasl.Login) {
			auth = sasl.NewLoginClient(m.user, m.password)
		}
		if err := c.Auth(auth); err != nil {
			return fmt.Errorf("%w: %w", ErrLogin, err)
		}
	}
	return do(c)
}

func (m *mail) client(conn net.Conn) (*smtp.Client, error) {
	switch {
	case m.implicit:
		return smtp.NewClient(tls.Client(conn, m.tls)), nil
	case m.tls != nil:
		return smtp.NewClientStartTLS(conn, m.tls)
	}
	return smtp.NewClient(conn), nil
}

// submit sends the mail to all addresses that the server takes. What it refuses for one address is
// no reason to send it again to the others.
func (m *mail) submit(c *smtp.Client, e *Event) error {
	if err := c.Mail(m.from, nil); err != nil {
		return permanent(err)
	}
	var faults []error
	for _, to := range m.to {
		if err := c.Rcpt(to, nil); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", to, err))
		}
	}
	if len(faults) == len(m.to) {
		return permanent(errors.Join(faults...))
	}
	w, err := c.Data()
	if err != nil {
		return permanent(err)
	}
	_, err = w.Write(m.message(e))
	if err := errors.Join(err, w.Close()); err != nil {
		return permanent(err)
	}
	_ = c.Quit() // the server has the mail
	if len(faults) > 0 {
		return refused(fmt.Errorf("not to all addresses: %w", errors.Join(faults...)))
	}
	return nil
}

// permanent returns an answer of the server that will be the same the next time as refused.
func permanent(err error) error {
	var answer *smtp.SMTPError
	if errors.As(err, &answer) && answer.Code >= 500 {
		return refused(err)
	}
	return err
}

// message returns an event as a mail.
func (m *mail) message(e *Event) []byte {
	var out bytes.Buffer
	header := func(name, value string) { fmt.Fprintf(&out, "%s: %s\r\n", name, value) }
	domain := m.from[strings.LastIndexByte(m.from, '@')+1:]
	header("From", "<"+m.from+">")
	header("To", "<"+strings.Join(m.to, ">,\r\n <")+">")
	header("Subject", strings.ReplaceAll(mime.QEncoding.Encode("utf-8", e.Title()), "?= =?", "?=\r\n =?"))
	header("Date", e.At.Format(time.RFC1123Z))
	header("Message-ID", "<"+e.ID+"@"+domain+">")
	if e.Alarm != nil && e.What != raised {
		thread := fmt.Sprintf("<%d.raised@%s>", e.Index, domain)
		header("In-Reply-To", thread)
		header("References", thread)
	}
	if e.active() && (e.Severity == "critical" || e.Severity == "major") {
		header("Importance", "high")
	}
	header("Auto-Submitted", "auto-generated") // RFC 3834: no program answers it
	header("X-Pnagent-Event", e.What)
	header("MIME-Version", "1.0")
	header("Content-Type", "text/plain; charset=utf-8")
	header("Content-Transfer-Encoding", "quoted-printable")
	out.WriteString("\r\n")
	w := quotedprintable.NewWriter(&out)
	_, _ = w.Write([]byte(e.Body())) // a Buffer takes all
	_ = w.Close()
	return out.Bytes()
}
