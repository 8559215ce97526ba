// SPDX-License-Identifier: Apache-2.0

// Package regiontest supports tests of nets in parts: logs in memory that
// several owners and standbys share ([Server]), and [Count], which reads the
// logs of all parts of a net and returns where every token is.
package regiontest
