// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"context"

	"github.com/pnagent/pnagent/web/api"
)

// FromSidecar asks a sidecar for its View and its active alarms; these are nil if
// it does not serve them.
func FromSidecar(c api.Client) Ask {
	return func(ctx context.Context) (*api.View, *api.Alarms, error) {
		view, err := c.View(ctx)
		if err != nil {
			return nil, nil, err
		}
		alarms, _ := api.Get[api.Alarms](ctx, c, "alarms", nil) // the View is worth showing without them
		return view, alarms, nil
	}
}
