// SPDX-License-Identifier: Apache-2.0

// Package page holds end-to-end tests of the live page in a browser beside real processes.
package page
