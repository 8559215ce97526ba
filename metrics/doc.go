// SPDX-License-Identifier: Apache-2.0

// Package metrics shows a View to Prometheus.
//
// [Families] is the one list of what there is: name, type, help, labels, and
// the column of [stats.Rows] that a family needs. An [Exporter] reads a View
// along that list at each scrape:
//
//	View ──► families, kept between scrapes ──► promhttp ──► text, OpenMetrics or protobuf ──► gzip
//
// The dto structures of a series are made once, when its place, transition or
// source is first seen, and are updated in place; label pairs are shared by
// all series of a place. A scrape of the same View again only brings the ages
// up to date. While a scrape is written the structures are locked.
//
// # What is shown, and what is not
//
// An age is as of the scrape, so it rises between Views and while a source is
// silent. A place without a token has an age of 0; a transition that never
// fired has no last-firing time. A column that no source of a net fills in is
// an absent series, not a zero. Label values are the ids of the net; octets
// that are no UTF-8 are shown as \xNN. There is no label for an instance: an instance
// is named by exemplars only.
//
// Active alarms are one series each, of the net that they are about; those
// about a source are of no net.
//
// Counters and histograms of a net carry the time since when they are added
// up here as their created timestamp. In OpenMetrics text that is a _created
// line for each, in protobuf a field, in the classic text format nothing.
//
// A histogram has Prometheus' native buckets, for protobuf, and classic ones
// for text. The classic bounds are powers of four, in seconds, which are bounds
// of the native buckets too, so both count the same durations exactly.
//
// A histogram of a place or transition has one exemplar, of the instance whose
// token stayed longest or whose firing took longest in the minute that runs and
// the two before it: how long, when that was over, and the label [ExemplarLabel] with the
// instance's name, cut so that name and value have the 128 characters that
// OpenMetrics allows. It is at the classic bucket that the duration falls into,
// in OpenMetrics text and in protobuf. The classic text format has no exemplars.
// One that took longer may have been over earlier, if sources are heard at other
// times: Prometheus drops an exemplar that is older than the last of its series.
//
// The series budget of a net, [Config].SeriesBudget, is spent along the list. A
// family that no longer fits is left out as a whole, since with only some of
// its places it would add up to a wrong sum. A histogram counts as its classic
// buckets, sum and count. What was left out is in pnagent_series_dropped_total.
//
// # Serving
//
// [Exporter.Handler] has everything at /metrics, one net at
// /metrics/nets/{net}, the sidecar itself at /metrics/self, all of these as
// targets of Prometheus' HTTP service discovery at /sd, /-/healthy, /-/ready,
// and a landing page at /endpoints. An answer is encoded and packed once for all who ask in
// the second of a View, so an age in it is that of the first who asked;
// Cache-Control: no-cache asks for one made anew. [Serve] serves it, with TLS and basic
// authentication as the web configuration file of exporter-toolkit says.
// Counters of other packages come in as [Config].Collectors, pages of others
// as [Config].Mounts.
package metrics
