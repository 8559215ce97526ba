// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
)

// namedDuration is a duration as a help text or a default has it, such as 500ms or 7d.
var namedDuration = regexp.MustCompile(`\b\d+(\.\d+)?(ms|s|m|h|d|w)\b`)

// TestEachDurationOfTheCommandLineIsReadAlike takes each flag of each command whose value is a
// duration: it takes days and weeks, what its default, placeholder and help name, and refuses text.
func TestEachDurationOfTheCommandLineIsReadAlike(t *testing.T) {
	parser, err := kong.New(newCommandLine(), kong.Name("pnagent"), settings(&values{}))
	if err != nil {
		t.Fatal(err)
	}
	durations := 0
	for _, command := range parser.Model.Leaves(false) {
		for _, group := range command.AllFlags(false) {
			for _, f := range group {
				name := command.FullPath() + " --" + f.Name
				examples := namedDuration.FindAllString(f.PlaceHolder+" "+f.Help+" "+f.Default, -1)
				if f.Target.Type() != reflect.TypeFor[time.Duration]() {
					if strings.EqualFold(f.PlaceHolder, "duration") || f.PlaceHolder != "" && namedDuration.MatchString(f.PlaceHolder) {
						t.Errorf("%s has the placeholder %s and is a %v", name, f.PlaceHolder, f.Target.Type())
					}
					continue
				}
				durations++
				for text, want := range map[string]time.Duration{"7d": 168 * time.Hour, "2w": 336 * time.Hour, "1d12h": 36 * time.Hour, "1h30m": 90 * time.Minute, "500ms": time.Second / 2} {
					if got, err := decoded(f, text); err != nil || got != want {
						t.Errorf("%s=%s is %v, %v; want %v", name, text, got, err, want)
					}
				}
				for _, text := range examples {
					if _, err := decoded(f, text); err != nil {
						t.Errorf("%s names %s: %v", name, text, err)
					}
				}
				if got, err := decoded(f, "soon"); err == nil || !strings.Contains(err.Error(), "expected a duration such as") {
					t.Errorf("%s=soon is %v, %v", name, got, err)
				}
			}
		}
	}
	if durations < 20 {
		t.Errorf("only %d flags are durations", durations)
	}
}

// decoded returns the value of a flag that is given as a text.
func decoded(f *kong.Flag, text string) (time.Duration, error) {
	target := reflect.New(f.Target.Type()).Elem()
	err := f.Parse(kong.ScanFromTokens(kong.Token{Value: text, Type: kong.FlagValueToken}), target)
	return target.Interface().(time.Duration), err
}

func TestASilenceAndAReportTakeDays(t *testing.T) {
	for _, args := range [][]string{
		{"alarms", "silence", "--for", "7d", "--net", "*", "--url", "http://127.0.0.1:1"},
		{"report", "--since", "7d", "--url", "http://127.0.0.1:1", "--output", "-"},
	} {
		var out, log bytes.Buffer
		if code := run(t.Context(), args, streams{strings.NewReader(""), &out, &log}); code != exitFailed || !strings.Contains(log.String(), "connection refused") {
			t.Errorf("%v: exit status %d: %s", args, code, log.String())
		}
	}
}
