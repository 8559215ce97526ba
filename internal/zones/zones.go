// SPDX-License-Identifier: Apache-2.0

// Package zones has the rules of time zones of the IANA data base, as Go has them, in 75 kB.
// It is pure: unlike time.LoadLocation it reads no file of the machine, so the same program
// gives the same times everywhere. time/tzdata has the same in 450 kB.
package zones

import (
	"bytes"
	"compress/flate"
	_ "embed"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

//go:generate go run ./write

// packed is a sequence of blocks of some zones each: a line of names for each zone, which spaces separate,
// and a DEFLATE stream of the data of these zones. Lines, stream and data come after their lengths as unsigned varints
// of encoding/binary.
//
//go:embed zones.bin
var packed []byte

// piece takes a length and as many bytes of a text.
func piece(text []byte) (first, rest []byte) {
	n, size := binary.Uvarint(text)
	if size <= 0 || n > uint64(len(text)-size) {
		return nil, nil
	}
	return text[size : size+int(n)], text[size+int(n):]
}

// Load returns a zone by its name in the data base, such as Europe/Berlin or UTC. It takes about
// 0.1 ms.
func Load(name string) (*time.Location, error) {
	for rest := packed; len(rest) > 0; {
		var names, data []byte
		names, rest = piece(rest)
		data, rest = piece(rest)
		i := slices.IndexFunc(strings.Split(string(names), "\n"), func(line string) bool { return slices.Contains(strings.Fields(line), name) })
		if i < 0 {
			continue
		}
		text, err := io.ReadAll(flate.NewReader(bytes.NewReader(data)))
		if err != nil {
			return nil, fmt.Errorf("unpacking time zones: %w", err)
		}
		var zone []byte
		for range i + 1 {
			zone, text = piece(text)
		}
		return time.LoadLocationFromTZData(name, zone)
	}
	return nil, fmt.Errorf("unknown time zone %q", name)
}
