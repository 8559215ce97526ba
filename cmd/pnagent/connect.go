// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"net/netip"
	"net/url"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/act"
	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/web/api"
)

// Words of command lines that the user replaces.
const (
	netFile  = "NET.pnml"
	logFile  = "EVENTS.json"
	credFile = "ENGINE.creds"
	nkeyFile = "ENGINE.nk"
	tokFile  = "ENGINE.token"
	certFile = "ENGINE.crt"
	keyFile  = "ENGINE.key"
)

// document returns how an engine connects to the NATS servers of these flags. It holds no
// secret: an engine has its own login, for which the command lines have words to replace.
func document(f cli.NATS) *api.Connect {
	servers, login := withoutLogins(f.URL)
	d := &api.Connect{Servers: strings.Join(servers, ","), Prefix: f.Subjects}
	start := "pnagent"
	flags, files := connecting(f)
	var fill []api.Blank
	switch login {
	case oneToken:
		fill = append(fill, api.Blank{Word: "TOKEN", Means: "the token of the NATS server"})
	case userPassword:
		fill = append(fill, api.Blank{Word: "USER", Means: "the engine's user at the NATS server; pnagent permissions prints what it must be allowed"}, api.Blank{Word: "PASSWORD", Means: "its password"})
	}
	if login != "" { // the environment hides it from the list of processes
		start = "PNAGENT_NATS_URL=" + act.Quote(withLogin(servers, login)) + " pnagent"
	} else {
		flags = append([]string{"--nats", act.Quote(d.Servers)}, flags...)
	}
	fill = append(fill, files...)
	if local(servers) {
		fill = append(fill, api.Blank{Word: d.Servers, Means: "right for an engine on the host of this sidecar; elsewhere, the address of the NATS server"})
	}
	line := func(command string, more ...string) string {
		words := append([]string{start, command}, flags...)
		for _, w := range more {
			words = append(words, act.Quote(w))
		}
		return strings.Join(words, " ")
	}
	net := api.Blank{Word: netFile, Means: "a PNML or BPMN file with the net"}
	d.Commands = []api.CommandLine{
		{Does: "Run a net in an engine", Line: line("engine", netFile), Fill: append([]api.Blank{net}, fill...)},
		{Does: "Or follow the log of an engine that runs already", Line: line("attach lines", "--follow", logFile, netFile),
			Fill: append([]api.Blank{net, {Word: logFile, Means: "the log of the engine, with an event a line"}}, fill...)},
	}
	return d
}

// connecting returns the flags, quoted, of an engine that connects as this process does, and the
// files that it needs as this process needs its own.
func connecting(f cli.NATS) (flags []string, fill []api.Blank) {
	for _, one := range []struct{ flag, given, shown, means string }{
		{"--nats.creds", f.Creds, credFile, "file with the engine's NATS credentials"},
		{"--nats.nkey", f.NKey, nkeyFile, "file with the engine's NKey seed"},
		{"--nats.token-file", f.Token, tokFile, "file with the token of the NATS server"},
		{"--nats.tls-ca", f.CA, f.CA, "the certificate authorities of the NATS server, a file on the host of this sidecar"},
		{"--nats.tls-cert", f.Cert, certFile, "file with the engine's client certificate"},
		{"--nats.tls-key", f.Key, keyFile, "file with its key"},
	} {
		if one.given != "" {
			flags, fill = append(flags, one.flag, act.Quote(one.shown)), append(fill, api.Blank{Word: one.shown, Means: one.means})
		}
	}
	if f.Subjects != telemetry.DefaultPrefix {
		flags = append(flags, "--nats.prefix", act.Quote(f.Subjects))
	}
	return flags, fill
}

// login is what the URL of a NATS server holds of a login.
type login string

const (
	oneToken     login = "TOKEN"
	userPassword login = "USER:PASSWORD"
)

// withoutLogins returns the addresses of NATS servers without what a secret may be in, and
// which login they had.
func withoutLogins(urls string) (servers []string, had login) {
	urls = cmp.Or(urls, nats.DefaultURL)
	for one := range strings.SplitSeq(urls, ",") {
		if one = strings.TrimSpace(one); !strings.Contains(one, "://") {
			one = "nats://" + one
		}
		u, err := url.Parse(one)
		if err != nil || u.Host == "" {
			continue
		}
		if _, has := u.User.Password(); has {
			had = userPassword
		} else if u.User != nil {
			had = oneToken
		}
		servers = append(servers, u.Scheme+"://"+u.Host)
	}
	return servers, had
}

// withLogin returns servers with the words of a login that the user replaces.
func withLogin(servers []string, l login) string {
	all := make([]string, len(servers))
	for i, s := range servers {
		all[i] = strings.Replace(s, "://", "://"+string(l)+"@", 1)
	}
	return strings.Join(all, ",")
}

// local reports whether one of the servers has an address that is another host elsewhere.
func local(servers []string) bool {
	for _, s := range servers {
		u, err := url.Parse(s)
		if err != nil {
			continue
		}
		if ip, err := netip.ParseAddr(u.Hostname()); err == nil && ip.Unmap().IsLoopback() || u.Hostname() == "localhost" {
			return true
		}
	}
	return false
}
