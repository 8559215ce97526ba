// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/telemetry/permissions"
)

type permissionsCmd struct {
	Roles     []string `name:"role" placeholder:"ROLE" enum:"engine,adapter,sidecar,leaf,operator,observer" help:"Roles to print, comma-separated: engine, adapter, sidecar (also of a pair), leaf (the connection of a sidecar to the one above), operator (inject, fire, messages), observer (wire check, regions). Default: engine, sidecar, operator, observer."`
	Sources   []string `name:"source" placeholder:"NAME" help:"Names of the sources, comma-separated; each gets a user that may publish under this name only. Default: one user for any name."`
	Nets      []string `name:"net" placeholder:"NET" help:"Ids of the nets, comma-separated. Default: any."`
	Events    []string `name:"event" placeholder:"NAME" help:"Names of the messages and signals that engines take and throw, comma-separated. Default: any."`
	JetStream bool     `name:"jetstream" help:"The engines keep their journal in JetStream (--journal jetstream) and take over from each other, so each may publish as any source of its nets. They get an account of their own, because JetStream publishes at any subject of the account for them."`
	Up        string   `name:"up" placeholder:"PREFIX" help:"The sidecar publishes to the one above at this subject space by the same connection (serve --up without --up.nats)."`
	Prefix    string   `name:"nats.prefix" default:"petrinet.v1" help:"Subject space of the engines."`
	Format    string   `default:"server" enum:"server,nsc" help:"How to print: server (configuration of nats-server) or nsc (commands)."`
}

// Run prints what each role may do on NATS.
func (c *permissionsCmd) Run(s streams) error {
	subjects, err := telemetry.NewSubjects(c.Prefix)
	if err != nil {
		return cli.Usage(fmt.Errorf("--nats.prefix: %w", err))
	}
	d := permissions.Deployment{Subjects: subjects, Sources: c.Sources, Nets: c.Nets, Events: c.Events, JetStream: c.JetStream}
	if c.Up != "" {
		above, err := telemetry.NewSubjects(c.Up)
		if err != nil {
			return cli.Usage(fmt.Errorf("--up: %w", err))
		}
		d.Up = &above
	}
	for _, name := range slices.Concat(c.Sources, c.Nets, c.Events) {
		if err := telemetry.CheckName(name); err != nil {
			return cli.Usage(err)
		}
	}
	roles := c.Roles
	if len(roles) == 0 {
		roles = []string{"engine", "sidecar", "operator", "observer"}
	}
	var users []permissions.User
	for _, role := range roles {
		users = append(users, d.Users(permissions.Role(role))...)
	}
	seen := map[string]bool{}
	for i := range users {
		if seen[users[i].Password()] {
			return cli.Usage(errors.New("two users named " + users[i].Name + "; expected names that differ in letters and digits"))
		}
		seen[users[i].Password()] = true
	}
	if c.Format == "nsc" {
		return d.WriteNSC(s.out, users)
	}
	return d.WriteServer(s.out, users)
}
