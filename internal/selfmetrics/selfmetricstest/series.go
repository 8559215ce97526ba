// SPDX-License-Identifier: Apache-2.0

// Package selfmetricstest compares the series of a part's metrics in tests.
package selfmetricstest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/internal/selfmetrics"
)

// Show compares the series that families read from a value with those wanted, in
// any order. A series is written as "name value", or "name label value …" with the
// values of its labels.
func Show[T any](t *testing.T, families []selfmetrics.Family[T], from T, want ...string) {
	t.Helper()
	var got []string
	for _, f := range families {
		f.Read(from, func(value float64, labels ...string) {
			if len(labels) != len(f.Labels) {
				t.Errorf("%s has labels %q with values %q", f.Name, f.Labels, labels)
			}
			got = append(got, strings.Join(append(append([]string{f.Name}, labels...), fmt.Sprint(value)), " "))
		})
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +shown\n%s", diff)
	}
}
