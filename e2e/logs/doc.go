// SPDX-License-Identifier: Apache-2.0

// Package logs holds end-to-end tests of what an engine keeps: journals on a disk, regions on
// JetStream, kill -9, lost power, servers that hang, and logs that were removed.
package logs
