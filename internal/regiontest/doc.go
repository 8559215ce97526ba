// SPDX-License-Identifier: Apache-2.0

// Package regiontest is what tests of nets in parts need: logs in memory that
// several owners and stand-bys share ([Server]), and [Count], which reads the logs
// of all parts of a net and says where every token is.
package regiontest
