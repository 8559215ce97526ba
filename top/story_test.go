// SPDX-License-Identifier: Apache-2.0

package top

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/web/api"
)

// TestStories plays testdata/stories. A story is lines:
//
//	# …           a comment
//	size W H      the screen's size
//	view N        the sidecar answers with its View of second N, and it is then
//	quiet N       likewise, without the alarms
//	lost N        likewise, after sources were lost
//	many N        likewise, with more places
//	finished N    likewise, with a place where the net ends
//	cut N TEXT    likewise, and says that it is cut off from NATS since second 0
//	above N TEXT  likewise, and says that the sidecar above is cut off since second 0
//	agentx N TEXT likewise, and says that there is no AgentX session since second 0
//	away TEXT     the sidecar does not answer
//	wait N        N seconds go by
//	key K…        keys, in order
//	done          the user has quit
//	plain         the table as text is as the lines below
//	screen        the screen, without colours, is as the lines below, each
//	              between bars: what is right of the last one is outside
//
// With -update, screens are written as they are.
func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/stories/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d stories, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			seen := play(t, string(text))
			if *update {
				if err := os.WriteFile(file, []byte(seen), 0o600); err != nil {
					t.Fatal(err)
				}
			} else if diff := cmp.Diff(strings.Split(string(text), "\n"), strings.Split(seen, "\n")); diff != "" {
				t.Errorf("-the story +what happens\n%s", diff)
			}
		})
	}
}

var update = flag.Bool("update", false, "write the screens of stories as they are")

// play runs a story and returns it with the current screens.
func play(t *testing.T, story string) string {
	m := New(Options{URL: "http://sidecar:9797", Tab: Places, Now: begun()})
	var seen strings.Builder
	for text := range strings.Lines(story) {
		if strings.HasPrefix(text, "|") {
			continue
		}
		seen.WriteString(text)
		verb, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
		switch verb {
		case "", "#":
		case "screen", "plain":
			shown := ansi.Strip(m.Frame())
			if verb == "plain" {
				shown = strings.TrimSuffix(m.Plain(), "\n")
			}
			for l := range strings.SplitSeq(shown, "\n") {
				pad := 0
				if verb == "screen" {
					pad = m.width - width(l)
				}
				fmt.Fprintf(&seen, "|%s%s|\n", l, strings.Repeat(" ", pad))
			}
		default:
			act(t, m, verb, rest)
		}
		checkFrame(t, m)
	}
	return seen.String()
}

func act(t *testing.T, m *Model, verb, rest string) {
	t.Helper()
	n, _ := strconv.Atoi(rest)
	at := begun().Add(time.Duration(n) * time.Second)
	switch verb {
	case "size":
		var w, h int
		if _, err := fmt.Sscan(rest, &w, &h); err != nil {
			t.Fatal(err)
		}
		m.Resize(w, h)
	case "view":
		m.Update(scripted(n), scriptedAlarms(n), at)
	case "quiet":
		m.Update(scripted(n), nil, at)
	case "lost":
		m.Update(scripted(n), lostAlarms(n), at)
	case "many":
		m.Update(manyNets(n), scriptedAlarms(n), at)
	case "cut", "above", "agentx":
		second, reason, _ := strings.Cut(rest, " ")
		n, _ = strconv.Atoi(second)
		v := scripted(n)
		v.NATS = &api.Connection{Since: timeOf(begun()), Reason: reason}
		if verb == "agentx" {
			v.NATS, v.AgentX = &api.Connection{Connected: true, Since: timeOf(begun())}, v.NATS
		}
		if verb == "above" {
			v.NATS, v.Up = &api.Connection{Connected: true, Since: timeOf(begun())}, v.NATS
		}
		m.Update(v, scriptedAlarms(n), v.At.Time())
	case "finished":
		m.Update(finished(n), scriptedAlarms(n), at)
	case "away":
		m.Fail(errors.New(rest), m.now)
	case "wait":
		m.Tick(m.now.Add(time.Duration(n) * time.Second))
	case "key":
		for key := range strings.FieldsSeq(rest) {
			m.Press(key)
		}
	case "done":
		if !m.Done() {
			t.Error("top has not ended; want its end after the user has quit")
		}
	default:
		t.Fatalf("unknown command %q in a story", verb)
	}
}

// checkFrame checks what every screen promises.
func checkFrame(t *testing.T, m *Model) {
	t.Helper()
	lines := strings.Split(m.Frame(), "\n")
	if len(lines) != m.height {
		t.Fatalf("a screen of %d lines has %d", m.height, len(lines))
	}
	for _, l := range lines {
		text := attributes.ReplaceAllString(l, "")
		if n := ansi.StringWidthWc(text); n > m.width {
			t.Fatalf("a line of a screen of %d cells has %d: %q", m.width, n, l)
		}
		checkHarmless(t, text)
	}
}
