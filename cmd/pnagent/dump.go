// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/pnagent/pnagent/web/api"
)

type dumpCmd struct{ apiFlags }

// Run prints the sidecar's View.
func (c *dumpCmd) Run(ctx context.Context, s streams) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	view, err := client.View(ctx)
	if err != nil {
		return fmt.Errorf("%w (%s)", err, c.shown())
	}
	return api.Encode(s.out, view)
}
