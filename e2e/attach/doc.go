// SPDX-License-Identifier: Apache-2.0

// Package attach holds end-to-end tests of engines that are not pnagent's: logs, scrapes,
// brokers, queues, engines in Java, and programs that publish on the wire by themselves.
package attach
