// SPDX-License-Identifier: Apache-2.0

// Command write packs the time zones of the Go distribution that runs it for package zones.
package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	out, err := pack()
	if err == nil {
		err = os.WriteFile("zones.bin", out, 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func pack() ([]byte, error) {
	root, err := exec.CommandContext(context.Background(), "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	file, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it is only read
	names := map[string][]string{}      // by data
	for _, f := range file.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		names[string(data)] = append(names[string(data)], f.Name)
	}
	var zones []string
	for data := range names {
		zones = append(zones, data)
	}
	slices.Sort(zones) // zones that are alike are neighbours
	var out []byte
	for block := range slices.Chunk(zones, perBlock) {
		var lines []string
		var text []byte
		for _, data := range block {
			slices.Sort(names[data])
			lines = append(lines, strings.Join(names[data], " "))
			text = append(text, piece([]byte(data))...)
		}
		var packed bytes.Buffer
		w, err := flate.NewWriter(&packed, flate.BestCompression)
		if err != nil {
			return nil, err
		}
		_, err = w.Write(text)
		if err := errors.Join(err, w.Close()); err != nil {
			return nil, err
		}
		out = append(append(out, piece([]byte(strings.Join(lines, "\n")))...), piece(packed.Bytes())...)
	}
	return out, nil
}

// perBlock is how many zones are packed together: more take fewer bytes, and longer to unpack.
const perBlock = 32

// piece returns a length and as many bytes.
func piece(p []byte) []byte { return append(binary.AppendUvarint(nil, uint64(len(p))), p...) }
