// SPDX-License-Identifier: Apache-2.0

// Package model checks models in TLA+ of what pnagent promises, with TLC.
// docs/design/model.md describes the models, how to run them, and what they
// have found. The tests are built with the tag peers.
package model
