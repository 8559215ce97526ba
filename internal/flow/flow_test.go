// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// "go generate ./internal/flow" writes the pictures.
func TestThePicturesOfTheDocumentsAreCurrent(t *testing.T) {
	texts, err := filepath.Glob("../../docs/pictures/*.flow")
	if err != nil || len(texts) == 0 {
		t.Fatal(texts, err)
	}
	for _, path := range texts {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want, err := draw(path, string(text))
		if err != nil {
			t.Error(err)
			continue
		}
		if got, err := os.ReadFile(strings.TrimSuffix(path, ".flow") + ".svg"); err != nil || string(got) != want {
			t.Errorf("%s: its SVG is not current, %v; run go generate ./internal/flow", path, err)
		}
	}
}

func TestAPictureIsWellFormedAndHasAllBoxesAndArrows(t *testing.T) {
	svg, err := draw("a.flow", "title A & B\nbox a 0 0 one <1>|more\nbox b 1 1.5 two\narrow a b to\narrow b a")
	if err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
	}
	for part, n := range map[string]int{`class="box"`: 2, `class="tip"`: 2, "A &amp; B": 1, ">to<": 1, ">one &lt;1&gt;<": 1, `class="small"`: 1, "prefers-color-scheme:dark": 1} {
		if strings.Count(svg, part) != n {
			t.Errorf("%d times %s; want %d: %s", strings.Count(svg, part), part, n, svg)
		}
	}
}

func TestAWrongLineIsNamed(t *testing.T) {
	for _, line := range []string{"bax a 0 0 one", "box a", "box a x 0 one", "box b 0 0 twice", "arrow a b", "arrow b b", ""} {
		_, err := draw("a.flow", "box b 0 0 two\n"+line+"\nbox c 0 0 three")
		if err == nil || !strings.HasPrefix(err.Error(), "a.flow:2: ") {
			t.Errorf("%q: %v", line, err)
		}
	}
}
