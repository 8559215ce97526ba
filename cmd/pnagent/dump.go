// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

type dumpCmd struct{ apiFlags }

// dumpTimeout bounds the whole request.
const dumpTimeout = 30 * time.Second

// Run prints the sidecar's View.
func (c *dumpCmd) Run(ctx context.Context, s streams) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, dumpTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(c.URL, "/")+"/api/v1/view", nil)
	if err != nil {
		return usageError{fmt.Errorf("--url: %w", err)}
	}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("asking the sidecar: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("asking the sidecar at %s: %s", c.shown(), resp.Status)
	}
	if _, err := io.Copy(s.out, resp.Body); err != nil {
		return fmt.Errorf("reading the sidecar's view: %w", err)
	}
	return nil
}
