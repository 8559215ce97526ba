// SPDX-License-Identifier: Apache-2.0

package top

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pnagent/pnagent/web/api"
)

var attributes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// checkHarmless checks that a terminal only shows a text.
func checkHarmless(t *testing.T, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Fatalf("%q is not UTF-8", text)
	}
	for _, r := range text {
		if !unicode.IsGraphic(r) {
			t.Fatalf("%q has %U", text, r)
		}
	}
}

// keys are those that mean something, and some that do not.
func keys() []string {
	return []string{"q", "?", "p", "1", "2", "3", "4", "5", "tab", "shift+tab", "left", "right", "j", "k", "up", "down", "pgup", "pgdown",
		"g", "G", "home", "end", "enter", "esc", "s", "S", "r", "n", "/", "backspace", "ctrl+u", "space", "x", "订", "\x1b", "f5", "ctrl+c"}
}

// FuzzModel plays anything that users, terminals and sidecars may do: nothing
// panics, and every screen keeps its promises.
func FuzzModel(f *testing.F) {
	f.Add([]byte("\x00\x01\x02\x03\x04\x05"))
	f.Add([]byte("\x80\x10\x16\x81\x08\x16\x82\x07\x16\x16\x83\xc0\x01"))
	f.Fuzz(func(t *testing.T, script []byte) {
		m := New(Options{URL: "u\x1b", Colour: len(script)%2 == 0, Now: begun()})
		for i, b := range script[:min(len(script), 200)] {
			second := i + int(b%7) - 3
			now := begun().Add(time.Duration(second) * time.Second)
			switch {
			case b < 0x80:
				m.Press(keys()[int(b)%len(keys())])
			case b < 0xa0:
				m.Update(manyNets(max(second, 0)), scriptedAlarms(second), now)
			case b < 0xc0:
				m.Update(scripted(max(second, 0)), nil, now)
			case b < 0xe0:
				m.Resize(int(b-0xc0)*int(b-0xc0), int(b)%40)
			case b < 0xf0:
				m.Fail(errors.New("away\n\x1b"), now)
			default:
				m.Update(&api.View{At: timeOf(now), Generation: uint64(b)}, nil, now)
			}
			checkFrame(t, m)
		}
		for l := range strings.Lines(m.Plain()) {
			checkHarmless(t, strings.TrimSuffix(l, "\n"))
		}
	})
}

// FuzzDecode shows whatever a sidecar may answer, on every tab, opened too.
func FuzzDecode(f *testing.F) {
	for _, file := range []string{"../web/testdata/view.json"} {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, []byte(`{"active":[{"index":1,"net":"a","place":"b","age_seconds":-1e300}]}`))
	}
	f.Add([]byte(`{"at":"2026-01-01T00:00:00Z","generation":1,"nets":[{"places":[{"stuck":[{"age_seconds":1e308}],"older_than":{}}],"transitions":[null]}]}`), []byte(`{}`))
	f.Fuzz(func(t *testing.T, view, alarms []byte) {
		v, err := api.Decode[api.View](strings.NewReader(string(view)))
		if err != nil {
			return
		}
		a, _ := api.Decode[api.Alarms](strings.NewReader(string(alarms)))
		m := New(Options{Now: begun(), Colour: true})
		m.Update(v, a, begun())
		for _, key := range []string{"1", "2", "enter", "esc", "3", "enter", "4", "enter", "5", "enter", "enter"} {
			m.Press(key)
			checkFrame(t, m)
		}
	})
}

// FuzzClean holds clean text and its cuts to what they promise.
func FuzzClean(f *testing.F) {
	f.Add("crates", 3)
	f.Add("订单处理流程", 4)
	f.Add("e\u0301\u0301\u0301\u0301 \u202e \x1b[2J \xff \ufe0f \u00ad", 9)
	f.Fuzz(func(t *testing.T, s string, w int) {
		c := clean(s)
		checkHarmless(t, c)
		if clean(c) != c {
			t.Errorf("clean text %q is cleaned to %q", c, clean(c))
		}
		w = min(max(w, 0), 200)
		if n := width(ellipsis(c, w)); n > w {
			t.Errorf("%q in %d cells takes %d", c, w, n)
		}
		if n := width(fit(c, w, true)); n != w {
			t.Errorf("%q in exactly %d cells takes %d", c, w, n)
		}
		if joined := strings.Join(wrap(c, w), ""); strings.ReplaceAll(joined, " ", "") != strings.ReplaceAll(c, " ", "") {
			t.Errorf("%q wraps to %q", c, wrap(c, w))
		}
	})
}
