// SPDX-License-Identifier: Apache-2.0

// Package sidecar is the sidecar as one value: it collects the snapshots of engines and serves
// their sum over SNMP, HTTP and AgentX. A program or a test embeds it; pnagent serve and pnagent
// demo do nothing else.
//
//	side, err := sidecar.New(ctx, sidecar.Config{Link: link, Root: root, Web: "127.0.0.1:9797", Log: log})
//	if err != nil {
//		return err
//	}
//	log.Info("the sidecar serves", "http", side.WebAddress())
//	return side.Run(ctx)
//
// # Contract
//
//   - [New] opens: it reads the files of state, locks Config.StateDir and binds the sockets. With
//     port 0 the system selects a port; [Sidecar.WebAddress] and [Sidecar.SNMPAddress] return it.
//     After an error nothing is left open. An error about the configuration is one of [cli.IsUsage].
//   - [Sidecar.Run] serves until its context ends, and returns nil then. All goroutines are its own
//     and have ended when it returns. The last counters and alarms are then in the files, and the
//     sockets are closed. Run is called once.
//   - The caller owns the links to NATS, which may be unreachable: [Config].Link, [Config].UpLink and
//     the connection of [Config].Up. It closes them after Run.
//   - The package keeps no state of its own. A process may run several sidecars; each needs its own
//     files and addresses.
//   - [Sidecar.Reload] reads the configuration again with Config.Reread, and uses its rules for alarms with
//     their sinks, the credentials of SNMP and the keys of a pair. It may be called at any
//     time. Signals and systemd are matters of the program.
//
// # Inside
//
//	natslink ──► collector ──► View ──► metrics, web
//	                │            └────► mib.Builder ──► agentx, snmp
//	                └──► watch, alarms ──► AgentX master, trap sinks
//
// The rooms do the work, and this package connects them: it has no rule about tokens, alarms or
// OIDs of its own.
package sidecar
