// SPDX-License-Identifier: Apache-2.0

package query

import (
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/petri/explore"
)

// Report is the answer to one property of a net.
type Report struct {
	Net      string         `json:"net"`
	Property string         `json:"property"`
	Holds    *bool          `json:"holds,omitempty"`   // of reachability; absent if it is not known
	Bound    *int64         `json:"bound,omitempty"`   // of an upper bound; absent if it is not known
	AtLeast  *int64         `json:"atLeast,omitempty"` // instead of a bound that is not known
	Stopped  explore.Reason `json:"stopped,omitempty"` // why it is not known
}

// ReportOf returns the report of an answer. stopped is why the visit ended, if it was not
// complete.
func ReportOf(net string, r *Result, stopped explore.Reason) *Report {
	a := &Report{Net: net, Property: r.Property.ID}
	bound := r.Property.Kind == Bound
	switch {
	case !r.Known:
		a.Stopped = stopped
		if bound {
			a.AtLeast = &r.Most
		}
	case bound:
		a.Bound = &r.Most
	default:
		a.Holds = &r.Holds
	}
	return a
}

// Contest returns the line of the Model Checking Contest for an answer.
func (a *Report) Contest() string {
	answer := "CANNOT_COMPUTE"
	switch {
	case a.Holds != nil:
		answer = strings.ToUpper(strconv.FormatBool(*a.Holds)) + " TECHNIQUES EXPLICIT"
	case a.Bound != nil:
		answer = strconv.FormatInt(*a.Bound, 10) + " TECHNIQUES EXPLICIT"
	}
	return "FORMULA " + a.Property + " " + answer
}
