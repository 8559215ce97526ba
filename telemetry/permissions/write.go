// SPDX-License-Identifier: Apache-2.0

package permissions

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// WriteServer writes users as a configuration of nats-server, which takes each password
// from its environment.
func (d *Deployment) WriteServer(w io.Writer, users []User) error {
	var b strings.Builder
	b.WriteString("# Passwords come from the environment of nats-server.\n")
	if d.JetStream {
		d.writeAccounts(&b, users)
	} else {
		b.WriteString("authorization {\n")
		writeUsers(&b, users)
		b.WriteString("}\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeAccounts writes both accounts with their users and what crosses.
func (d *Deployment) writeAccounts(b *strings.Builder, users []User) {
	of := func(account string) (out []User) {
		for _, u := range users {
			if u.Account == account {
				out = append(out, u)
			}
		}
		return out
	}
	fmt.Fprintf(b, "accounts {\n%s {\n  jetstream: enabled\n", Engines)
	writeUsers(b, of(Engines))
	b.WriteString("  exports = [\n")
	for _, c := range d.Crossings() {
		response := ""
		if c.Several {
			response = ", response_type: stream"
		}
		fmt.Fprintf(b, "    { %s: %q, accounts: [%s]%s }\n", c.kind(), c.Subject, Monitor, response)
	}
	fmt.Fprintf(b, "  ]\n}\n%s {\n", Monitor)
	writeUsers(b, of(Monitor))
	b.WriteString("  imports = [\n")
	for _, c := range d.Crossings() {
		fmt.Fprintf(b, "    { %s: { account: %s, subject: %q } }\n", c.kind(), Engines, c.Subject)
	}
	b.WriteString("  ]\n}\n}\n")
}

// kind is what NATS calls a crossing.
func (c *Crossing) kind() string {
	if c.Requests {
		return "service"
	}
	return "stream"
}

func writeUsers(b *strings.Builder, users []User) {
	b.WriteString("  users = [\n")
	for i := range users {
		u := &users[i]
		fmt.Fprintf(b, "    # %s\n    {\n      user: %s, password: $%s\n      permissions {\n", u.Role, quoted(u.Name), u.Password())
		list(b, "publish", u.Publish)
		list(b, "subscribe", u.Subscribe)
		if u.Answers {
			fmt.Fprintf(b, "        allow_responses: { max: %d, expires: \"1m\" }\n", maxAnswers)
		}
		b.WriteString("      }\n    }\n")
	}
	b.WriteString("  ]\n")
}

// quoted returns a text as a string of nats-server's configuration, which has escapes
// of bytes, and none of code points as %q writes them.
func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteString("\\" + string(r))
		case !strconv.IsPrint(r):
			for _, c := range []byte(string(r)) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func list(b *strings.Builder, name string, subjects []string) {
	fmt.Fprintf(b, "        %s: { allow: [\n", name)
	for _, s := range subjects {
		fmt.Fprintf(b, "          %q\n", s)
	}
	b.WriteString("        ] }\n")
}

// WriteNSC writes users as commands of nsc, which add them to its current account, or
// with JetStream add both accounts with what crosses.
func (d *Deployment) WriteNSC(w io.Writer, users []User) error {
	var b strings.Builder
	if d.JetStream {
		d.accountsOfNSC(&b)
	}
	for i := range users {
		u := &users[i]
		account := ""
		if u.Account != "" {
			account = "--account " + u.Account + " "
		}
		fmt.Fprintf(&b, "nsc add user %s--name '%s' \\\n  --allow-pub '%s' \\\n  --allow-sub '%s'", account, strings.ReplaceAll(u.Name, "'", `'\''`), strings.Join(u.Publish, ","), strings.Join(u.Subscribe, ","))
		if u.Answers {
			fmt.Fprintf(&b, " \\\n  --allow-pub-response=%d --response-ttl 1m", maxAnswers)
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (d *Deployment) accountsOfNSC(b *strings.Builder) {
	fmt.Fprintf(b, "nsc add account --name %s\nnsc edit account --name %[1]s --js-disk-storage -1 --js-mem-storage -1\nnsc add account --name %s\n", Engines, Monitor)
	fmt.Fprintf(b, "engines=$(nsc describe account --name %s --field sub | tr -d '\"')\n", Engines)
	for _, c := range d.Crossings() {
		service, response := "", ""
		if c.Requests {
			service = " --service"
		}
		if c.Several {
			response = " --response-type Stream"
		}
		fmt.Fprintf(b, "nsc add export --account %s --name '%s' --subject '%[2]s'%s%s\n", Engines, c.Subject, service, response)
		fmt.Fprintf(b, "nsc add import --account %s --name '%s' --src-account \"$engines\" --remote-subject '%[2]s'%s\n", Monitor, c.Subject, service)
	}
}
