// SPDX-License-Identifier: Apache-2.0

// Package prometheus holds end-to-end tests of what Prometheus scrapes and what is made of it:
// differences, exemplars, moments of the past, reports.
package prometheus
