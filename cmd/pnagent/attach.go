// SPDX-License-Identifier: Apache-2.0

package main

// attachCmd are the ways to attach to an engine that is not ours.
type attachCmd struct {
	Lines  attachLinesCmd  `cmd:"" help:"Follow what an engine writes down, one event a line, and replay it on the net."`
	Scrape attachScrapeCmd `cmd:"" help:"Scrape the Prometheus metrics of an engine, and publish what they tell of its nets."`
	Dipen  attachDipenCmd  `cmd:"" help:"Read the state of DiPeN in etcd, without writing, and publish where its tokens are."`
}
