// SPDX-License-Identifier: Apache-2.0

// Command bundle writes what the live page loads: each script and each style sheet of its
// two documents with all that it imports, as one file without comments and space. It
// runs in its own folder, reads ../page, and writes into the folder of its argument, or
// into ../dist. Names stay as they are, so that a stack trace names functions of ../page.
//
// It is a module of its own, so that esbuild is not among the dependencies of pnagent.
package main

import (
	"fmt"
	"os"

	"github.com/evanw/esbuild/pkg/api"
)

// entries are what the documents load: index.html main, embed.html embed.
var entries = []string{"../page/main.js", "../page/main.css", "../page/embed.js", "../page/embed.css"}

// notice is the first line of each file.
const notice = "/* SPDX-License-Identifier: Apache-2.0; made of web/page by go generate ./web */"

func main() {
	to := "../dist"
	if len(os.Args) > 1 {
		to = os.Args[1]
	}
	result := api.Build(api.BuildOptions{
		EntryPoints: entries, Outdir: to, Write: true,
		Bundle: true, Format: api.FormatESModule, Target: api.ES2022, Charset: api.CharsetUTF8,
		MinifyWhitespace: true, MinifySyntax: true, LineLimit: 160, // lines that a tool for differences can show
		LegalComments: api.LegalCommentsNone, Banner: map[string]string{"js": notice, "css": notice},
	})
	faults := api.FormatMessages(append(result.Errors, result.Warnings...), api.FormatMessagesOptions{Kind: api.ErrorMessage})
	for _, fault := range faults {
		fmt.Fprint(os.Stderr, fault)
	}
	if len(faults) > 0 {
		os.Exit(1)
	}
}
