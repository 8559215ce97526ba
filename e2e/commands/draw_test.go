// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
)

func TestDrawWritesAPictureOfANet(t *testing.T) {
	t.Parallel()
	net := kit.Write(t, "claims.pnml", kit.StuckNet)
	r := kit.Pnagent(t, "draw", net)
	if r.Code != 0 || r.Err != "" || !strings.HasPrefix(r.Out, "<svg ") {
		t.Fatalf("got exit code %d, stderr %q, stdout %.60q; want 0 and a picture", r.Code, r.Err, r.Out)
	}
	for d := xml.NewDecoder(strings.NewReader(r.Out)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the picture is no XML: %v", err)
		}
	}
	path := filepath.Join(t.TempDir(), "claims.svg")
	if quiet := kit.PnagentWith(t, kit.StuckNet, "draw", "-o", path, "-"); quiet.Code != 0 || quiet.Out != "" {
		t.Fatalf("got exit code %d, stderr %q, stdout %q; want 0 and nothing", quiet.Code, quiet.Err, quiet.Out)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != r.Out {
		t.Errorf("the file is not what is written to standard output: %v", err)
	}
}

func TestDrawRequiresOneNet(t *testing.T) {
	t.Parallel()
	two := kit.Write(t, "two.pnml", `<pnml><net id="a" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="p"/></net><net id="b" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="q"/></net></pnml>`)
	kit.WantFailure(t, kit.Pnagent(t, "draw", two), 2, `the nets are \["a" "b"\]; expected one, or --net with one of them`)
	kit.WantFailure(t, kit.Pnagent(t, "draw", "--net", "c", two), 2, `the nets are \["a" "b"\]; expected one, or --net with one of them`)
	if r := kit.Pnagent(t, "draw", "--net", "b", two); r.Code != 0 || !strings.Contains(r.Out, "<title>b</title>") {
		t.Errorf("got exit code %d, stderr %q, stdout %.200q; want 0 and net b", r.Code, r.Err, r.Out)
	}
	kit.WantFailure(t, kit.Pnagent(t, "draw", "-o", filepath.Join(two, "x.svg"), "--net", "b", two), 1, "not a directory")
}
