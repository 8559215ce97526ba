// SPDX-License-Identifier: Apache-2.0

// Package attach is the contract of the adapters: what each folder beside this file offers.
//
// An adapter is a telemetry source for engines that are not of pnagent. Its folder has
//
//   - a package that reads the engine and publishes, with its configuration, its metrics and its
//     tests. It knows nothing of flags.
//   - a package command: the flags and help texts of pnagent attach NAME, as fields of a struct
//     Command with kong's tags, in a file that every program has. A file with the constraint !slim
//     has what the command does, and makes *Command an [Adapter].
//   - what comes with it, such as mappings. A mapping is a file in the folder mappings: lists,
//     documents and tests follow from it, so a new one is the file and a test with the real engine.
//
// One list in cmd/pnagent names the adapters; help, completion, the reference and the table of
// docs/attach/README.md follow from it. What adapters share is in the folder internal: the flags
// and the life of an adapter that polls (poll), its tokens, cursors, back-off and state file
// (ledger), nets of models (diagram), mappings that come with pnagent (shipped). Adapters do not
// import each other.
package attach

// Adapter is what the documents show of an adapter.
type Adapter interface {
	// Rows returns its rows of the table of ways in docs/attach/README.md.
	Rows() []Row

	// Looks returns its rows of the table of commands there.
	Looks() []Look
}

// Look is a command that prints what is stuck in an engine, with nothing else installed. A test types it with that
// engine.
type Look struct{ Engine, Command string }

// Row is a way to attach an engine, in Markdown: which engine the reader has, a link to the page,
// what the reader must do, what is known then, and what is not.
type Row [5]string
