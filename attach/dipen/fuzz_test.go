// SPDX-License-Identifier: Apache-2.0

package dipen

import (
	"strings"
	"testing"
)

func FuzzReadWatch(f *testing.F) {
	for _, line := range []string{created, answer(true, putJSON("p/pl/1/1", "x", 3), delJSON("p/pl/1/1", 3, 4)), `{"error":{"code":11,"message":"compacted"}}`,
		`{"result":{"canceled":true,"compact_revision":"5"}}`} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		a, err := readWatch(line)
		if err != nil {
			return
		}
		for i := range a.Result.Events {
			revision, e, ok := a.Result.Events[i].event("p/")
			if ok && (revision <= 0 || !e.Delete && (e.Create <= 0 || e.Create > revision)) {
				t.Errorf("revision %d, event %+v", revision, e)
			}
		}
	})
}

func FuzzReadRange(f *testing.F) {
	f.Add([]byte(`{"header":{"cluster_id":"1","revision":"5"},"kvs":[` + kvJSON("p/pl/1/1", "x", 3, 4) + `],"more":true}`))
	f.Add([]byte(`{"header":{"revision":5},"kvs":[{"key":"cC8="}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		a, err := readRange(body, "p/")
		if err != nil {
			return
		}
		for _, kv := range a.Kvs {
			if !strings.HasPrefix(string(kv.Key), "p/") || kv.Create <= 0 || kv.Create > kv.Mod {
				t.Errorf("key %+v", kv)
			}
		}
	})
}

func FuzzParseJournal(f *testing.F) {
	f.Add("pnagent-dipen 1 7 \"p/\"\nmark 5 1000000 1\npublished 12 1000\nmark")
	f.Fuzz(func(t *testing.T, text string) {
		k, err := parseJournal(strings.NewReader(text))
		if err == nil && (k.published < 0 || k.epoch < 0 || len(k.marks) > strings.Count(text, "mark")) {
			t.Errorf("%+v", k)
		}
	})
}
