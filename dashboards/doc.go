// SPDX-License-Identifier: Apache-2.0

// Package dashboards makes what people look at with Prometheus and Grafana:
// five dashboards, recording rules, alerts.
//
// What is on a dashboard is a value, in our own few words, and so are the
// rules:
//
//	All() ──► []Dashboard ──► render ──► grafana/*.json
//	Recordings(), Alerts() ──────────► prometheus/*.yaml
//
// overview.go, net.go, place.go, sidecar.go and dispatch.go say what each
// dashboard shows, recordings.go and alerts.go what Prometheus makes of the
// families; render.go and transforms.go turn a Dashboard into Grafana's model,
// expr.go has what expressions are made of. [Generate] writes the files that are
// committed beside this one, and a test holds them against it. Whoever draws the
// same queries elsewhere takes them from [All] and [Variables.Expand].
//
// # Rules that hold for every expression
//
// Families are named by the constants of package metrics. Every selector of a
// dashboard has job=~"$job" and instance=~"$instance", the labels that
// Prometheus gives its target; our families have no such labels.
//
// A primary and its stand-by hear the same engines and show the same sums, so
// what both show is never added: it goes through max by the family's own labels
// first. Recording rules and alerts drop job and instance in this way, too.
//
// Dwell percentiles are asked for twice, of classic and of native buckets, with
// "or" between: a Prometheus keeps the one or the other.
//
// Alerts about nets repeat what the sidecar's own alarms say, so thresholds and
// exceptions are in one place, the file of --alarms. [Alert.Signal] is apart from
// [Alert.Condition] so that a test can see that there is something to compare.
package dashboards
