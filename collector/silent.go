// SPDX-License-Identifier: Apache-2.0

package collector

import "time"

// Silent returns what Merger.Silent returns. Any goroutine may call it.
func (c *Collector) Silent() ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.merger.Silent(time.Now().UnixMicro())
}

// TakeSilent takes what Silent of another collector of the same subject space
// returned at this moment, see Merger.TakeSilent. Any goroutine may call it.
func (c *Collector) TakeSilent(silent []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.running {
		return nil
	}
	c.arrived()
	taken, err := c.merger.TakeSilent(silent, c.cfg.admission(), time.Now().UnixMicro())
	if taken > 0 {
		c.cfg.Log.Info("took silent sources from another sidecar", "sources", taken)
	}
	return err
}
