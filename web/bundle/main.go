// SPDX-License-Identifier: Apache-2.0

// Command bundle writes what the live page loads: each script and each style sheet of its
// two documents with all that it imports, as one packed file without comments and space. It
// runs in its own folder, reads ../page, and writes into the folder of its argument, or
// into ../dist. Names stay as they are, so that a stack trace names functions of ../page.
//
// It is a module of its own, so that esbuild is not among the dependencies of pnagent.
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"

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
		EntryPoints: entries, Outdir: to,
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
	for _, file := range result.OutputFiles {
		if err := write(filepath.Join(to, filepath.Base(file.Path)+".gz"), file.Contents); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// write writes a file packed, as the program has it.
func write(name string, text []byte) error {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(name, packed.Bytes(), 0o644)
}
