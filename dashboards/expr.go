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

// of is a selector of a family at the chosen sidecars.
func of(family string, matchers ...string) string {
	return family + "{" + strings.Join(append([]string{target}, matchers...), ",") + "}"
}

// unfinished is a selector of a family of places without those places that are
// final: how old the tokens there are is no problem.
func unfinished(family string, matchers ...string) string {
	return Unfinished(of(family, matchers...), of(metrics.PlaceFinal, matchers[0]))
}

// Unfinished returns what a selector of places selects without the places that
// final, a selector of metrics.PlaceFinal, does.
func Unfinished(selector, final string) string {
	return selector + " unless on(net, place) " + final
}

// rate is the rate of a counter, a second.
func rate(family string, matchers ...string) string {
	return "rate(" + of(family, matchers...) + "[$__rate_interval])"
}

// increase is what a counter rose by since the last point of the picture.
func increase(family string, matchers ...string) string {
	return "increase(" + of(family, matchers...) + "[$__rate_interval])"
}

// most takes what several sidecars show alike once, and drops other labels.
func most(labels, expr string) string { return "max by (" + labels + ") (" + expr + ")" }

// sum adds over what is not among labels.
func sum(labels, expr string) string {
	if labels == "" {
		return "sum(" + expr + ")"
	}
	return "sum by (" + labels + ") (" + expr + ")"
}

// orNone returns expr, or 0 with the label "none" while there is no series, so
// that a picture says "none" and not "no data".
func orNone(expr, label string) string {
	return expr + ` or on() label_replace(vector(0), "` + label + `", "none", "", "")`
}

// orZero returns expr, or 0 without labels.
func orZero(expr string) string { return expr + " or vector(0)" }

// percentile is that of a histogram, of classic buckets or of native ones.
func percentile(q float64, labels, family string, matchers ...string) string {
	classic := sum(strings.Join([]string{labels, "le"}, ", "), rate(family+"_bucket", matchers...))
	native := sum(labels, rate(family, matchers...))
	return fmt.Sprintf("histogram_quantile(%v, %s) or histogram_quantile(%v, %s)", q, classic, q, native)
}

// Variables are what Grafana puts into an expression, by name without the $.
// Several chosen values are one regular expression, as Grafana makes of them.
// What people choose for net, place, job and instance must not be empty;
// __rate_interval is a Prometheus duration of at least four scrape intervals.
type Variables map[string]string

var variable = regexp.MustCompile(`\$\{?([A-Za-z_]+)\}?`)

// Expand puts values into an expression. A variable without a value stays as it
// is, which Prometheus refuses. Values are taken for the inside of a quoted
// text of PromQL; quotes and backslashes in them are escaped.
func (v Variables) Expand(expr string) string {
	return variable.ReplaceAllStringFunc(expr, func(found string) string {
		value, ok := v[variable.FindStringSubmatch(found)[1]]
		if !ok {
			return found
		}
		return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value)
	})
}
