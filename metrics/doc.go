// SPDX-License-Identifier: Apache-2.0

// Package metrics shows a View to Prometheus.
//
// [Families] is the list of all families: name, type, help, labels, and the
// number of a row that a family shows, or the column of [stats.Rows] that it needs. An [Exporter] reads a View along
// that list at each scrape:
//
//	View ──► families ──► own text: Prometheus 0.0.4, OpenMetrics ──► gzip
//	                  └─► messages ──► promhttp: protobuf, and answers to name[] ──┘
//
// As text, a scrape keeps the name and the labels of each series, and the whole text of families
// whose rows have not changed; octet for octet it is what package expfmt writes of the messages.
// The messages of a series are made once, when its place, transition or source is first seen, and
// are updated in place; label pairs are shared by all series of a place. What is kept is locked
// while a scrape is written.
//
// # What is shown, and what is not
//
// An age is as of the scrape, so it rises between Views and while a source is
// silent. A place without a token has an age of 0; a transition that never
// fired has no last-firing time. A column that no source of a net fills in is
// an absent series, not a zero. Label values are the ids of the net; octets
// that are not UTF-8 are shown as \xNN. No label has the name of an instance;
// only exemplars do.
//
// Each active alarm is one series of its net. Alarms about a source belong to
// no net; a scrape of the sidecar alone has them. [Alarms] and [PnagentAlarms] are shown
// only where no alarm is missing. An alarm that is not shown beside them is over.
//
// The created timestamp of a net's counters and histograms is the time at which
// the sidecar began to count. In protobuf that is a field. In OpenMetrics text it is a
// _created line for each, with [Config].CreatedSamples; the classic text format omits it.
//
// A histogram has Prometheus' native buckets, for protobuf, and classic ones
// for text. The classic bounds are powers of four, in seconds, which are bounds
// of the native buckets too, so both count the same durations exactly.
//
// A histogram of a place or transition has one exemplar: the instance whose
// token stayed longest, or whose firing took longest, in the current minute and
// the two before it, with the label [ExemplarLabel]. It belongs to the classic
// bucket of the duration. The classic text format has no exemplars.
//
// The series budget of a net, [Config].SeriesBudget, is spent in the order of the
// list. A family that no longer fits is omitted as a whole, since with only some
// of its places its sum would be wrong. A histogram counts as its classic buckets,
// sum and count, and a _created line counts too. pnagent_series_dropped_total counts what was omitted.
//
// # Serving
//
// [Exporter.Handler] has everything at /metrics, one net at
// /metrics/nets/{net}, the sidecar itself at /metrics/self, all of these as
// targets of Prometheus' HTTP service discovery at /sd, /-/healthy, /-/ready,
// and a landing page at /endpoints. An answer is encoded and compressed once for
// all requests within a second for the same View, so its ages are those of the
// first request; Cache-Control: no-cache requests a new answer. Other packages add counters by [Config].Collectors and pages
// by [Config].Mounts.
package metrics
