// SPDX-License-Identifier: Apache-2.0

// Package dashboards generates files for Prometheus and Grafana: five dashboards,
// recording rules and alerts.
//
// A [Dashboard] is a value that is independent of Grafana, and so are the rules:
//
//	All() ──► []Dashboard ──► render ──► grafana/*.json
//	Recordings(), Alerts() ──────────► prometheus/*.yaml
//
// overview.go, net.go, place.go, sidecar.go and dispatch.go define the dashboards,
// recordings.go and alerts.go the rules. render.go and transforms.go convert a Dashboard
// to Grafana's model; expr.go has the parts of expressions. [Generate] writes the files,
// which are committed beside this one; a test compares them. Package report takes the
// same queries from [All] and [Variables.Expand].
//
// # Rules that hold for every expression
//
// Families are named by the constants of package metrics. Every selector of a
// dashboard has job=~"$job" and instance=~"$instance", the labels that
// Prometheus gives its target; pnagent's families have no such labels.
//
// A primary and its standby have the same engines and the same sums, so their values are
// never added: every expression first takes the max by the family's own labels.
// Recording rules and alerts drop job and instance in this way, too.
//
// Dwell percentiles have two expressions with "or" between, of classic and of native
// buckets, because a Prometheus has one or the other.
//
// Alerts about nets fire for the sidecar's own alarms, so that thresholds and exceptions
// are in one place, the file of --alarms. [Alert.Signal] and [Alert.Condition] are
// separate so that a test can check that the signal has series.
package dashboards
