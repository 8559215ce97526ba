// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/pnagent/pnagent/metrics"
)

// Matchers of the variables.
const (
	target   = `job=~"$job",instance=~"$instance"`
	anyNet   = `net=~"$net"`
	thisNet  = `net="$net"`
	thisSpot = `net="$net",place="$place"`
)

// of returns the selector of a family at the chosen sidecars.
func of(family string, matchers ...string) string {
	return family + "{" + strings.Join(append([]string{target}, matchers...), ",") + "}"
}

// waiting returns the selector of a family of places without those in which old tokens are not a
// problem.
func waiting(family string, matchers ...string) string {
	return Waiting(of(family, matchers...), of("", matchers[0]))
}

// unfinished returns the selector of a family of places without final ones.
func unfinished(family string, matchers ...string) string {
	return of(family, matchers...) + " unless on(net, place) " + of(metrics.PlaceFinal, matchers[0])
}

// Waiting returns the expression of a selector of places without those in which tokens stay on
// purpose: final and resting ones. The matchers select the sidecars and nets of these.
func Waiting(selector, matchers string) string {
	return selector + " unless on(net, place) (" + metrics.PlaceFinal + matchers + " or " + metrics.PlaceResting + matchers + ")"
}

// rate returns the expression of a counter's rate a second.
func rate(family string, matchers ...string) string {
	return "rate(" + of(family, matchers...) + "[$__rate_interval])"
}

// increase returns the expression of a counter's increase since the last point of the
// picture.
func increase(family string, matchers ...string) string {
	return "increase(" + of(family, matchers...) + "[$__rate_interval])"
}

// most returns the maximum over sidecars, and drops other labels.
func most(labels, expr string) string { return "max by (" + labels + ") (" + expr + ")" }

// sum returns the sum over all labels but the given ones.
func sum(labels, expr string) string {
	if labels == "" {
		return "sum(" + expr + ")"
	}
	return "sum by (" + labels + ") (" + expr + ")"
}

// zero is 0 while a chosen sidecar is scraped. Otherwise it has no value: nothing is known.
func zero() string { return "0 * max(" + of(metrics.PnagentBuildInfo) + ")" }

// orNone returns expr, or 0 with the label "none" while there is no series, so
// that a picture shows "none" instead of "no data".
func orNone(expr, label string) string {
	return expr + " or on() label_replace(" + zero() + `, "` + label + `", "none", "", "")`
}

// called returns a query of this net with one series for each place or transition. In a process of
// BPMN, its legend is what the author drew, and the id elsewhere.
func called(label, info, expr string) Query {
	return Query{expr + " * on (" + label + ") group_left (called) " + most(label+", called", of(info, thisNet)) +
		" or on (" + label + ") label_replace(" + expr + `, "called", "$1", "` + label + `", "(.*)")`, "{{called}}"}
}

// counted returns a rate where something was counted, so that a legend lists only what has
// happened, or 0 with the label "none" while nothing is. It is for panels that are Rare.
func counted(expr, label string) string { return orNone(expr+" > 0", label) }

// orZero returns expr, or 0 without labels.
func orZero(expr string) string { return expr + " or " + zero() }

// percentile returns the expression of a percentile, of classic or native buckets. It has no
// value, not NaN, where nothing was counted.
func percentile(q float64, labels, family string, matchers ...string) string {
	classic := sum(strings.Join([]string{labels, "le"}, ", "), rate(family+"_bucket", matchers...))
	native := sum(labels, rate(family, matchers...))
	return fmt.Sprintf("(histogram_quantile(%v, %s) or histogram_quantile(%v, %s)) >= 0", q, classic, q, native)
}

// Variables are the values of Grafana's variables, by name without the $. Several chosen
// values are one regular expression. net, place, job and instance must not be empty;
// __rate_interval is a Prometheus duration of at least four scrape intervals.
type Variables map[string]string

var variable = regexp.MustCompile(`\$\{?([A-Za-z_]+)\}?`)

// Expand replaces variables in an expression by their values, escaped as inside of a
// quoted text of PromQL. It keeps a variable without a value, which Prometheus rejects.
func (v Variables) Expand(expr string) string {
	return variable.ReplaceAllStringFunc(expr, func(found string) string {
		value, ok := v[variable.FindStringSubmatch(found)[1]]
		if !ok {
			return found
		}
		return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value)
	})
}
