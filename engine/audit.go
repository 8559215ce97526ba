// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/pnagent/pnagent/telemetry"
)

// keep keeps the result of a request, before it is answered. The request is done or refused in any
// case.
func keep(audit *telemetry.Auditor, a *telemetry.Action, failed error) {
	if a.Kind == "" {
		return
	}
	a.At, a.OK = time.Now().UTC(), failed == nil
	if failed != nil {
		refused := refusalOf(failed)
		a.Error, a.Unknown, a.Key = refused.Error, refused.Unknown, refused.Key
	}
	audit.Keep(a)
}
