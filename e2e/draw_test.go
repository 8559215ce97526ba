// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDrawWritesAPictureOfANet(t *testing.T) {
	t.Parallel()
	net := write(t, "claims.pnml", stuckNet)
	r := pnagent(t, "draw", net)
	if r.code != 0 || r.err != "" || !strings.HasPrefix(r.out, "<svg ") {
		t.Fatalf("got exit code %d, stderr %q, stdout %.60q; want 0 and a picture", r.code, r.err, r.out)
	}
	for d := xml.NewDecoder(strings.NewReader(r.out)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the picture is no XML: %v", err)
		}
	}
	path := filepath.Join(t.TempDir(), "claims.svg")
	if quiet := pnagentWith(t, stuckNet, "draw", "-o", path, "-"); quiet.code != 0 || quiet.out != "" {
		t.Fatalf("got exit code %d, stderr %q, stdout %q; want 0 and nothing", quiet.code, quiet.err, quiet.out)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != r.out {
		t.Errorf("the file is not what is written to standard output: %v", err)
	}
}

func TestDrawRequiresOneNet(t *testing.T) {
	t.Parallel()
	two := write(t, "two.pnml", `<pnml><net id="a" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="p"/></net><net id="b" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="q"/></net></pnml>`)
	wantFailure(t, pnagent(t, "draw", two), 1, "2 nets; expected one, or --net")
	wantFailure(t, pnagent(t, "draw", "--net", "c", two), 1, `no net "c"`)
	if r := pnagent(t, "draw", "--net", "b", two); r.code != 0 || !strings.Contains(r.out, "<title>b</title>") {
		t.Errorf("got exit code %d, stderr %q, stdout %.200q; want 0 and net b", r.code, r.err, r.out)
	}
	wantFailure(t, pnagent(t, "draw", "-o", filepath.Join(two, "x.svg"), "--net", "b", two), 1, "not a directory")
}
