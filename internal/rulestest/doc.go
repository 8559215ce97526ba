// SPDX-License-Identifier: Apache-2.0

// Package rulestest makes rules of Prometheus and routes of Alertmanager faster, for tests with
// the tag peers.
package rulestest
