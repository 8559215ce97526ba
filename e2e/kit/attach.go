// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Attached is "pnagent attach" that runs.
type Attached struct{ *Process }

// listens matches what is logged of each place where HTTP is served.
var listens = regexp.MustCompile(`"msg":"Listening on","address":"([^"]*)"`)

// Web is the address of its own metrics, which is not that of posted events.
func (a Attached) Web(t *testing.T, posts ...string) (at Web) {
	t.Helper()
	Until(t, "it listens", func() error {
		for _, m := range listens.FindAllStringSubmatch(a.Err.String(), -1) {
			if !slices.Contains(posts, m[1]) {
				at.URL = "http://" + m[1]
				return nil
			}
		}
		return errors.New("not yet")
	})
	return at
}

// AttachLines attaches to the order-fulfilment example.
func AttachLines(t *testing.T, natsURL string, args ...string) Attached {
	t.Helper()
	shop, err := filepath.Abs(filepath.Join("..", "..", "examples", "order-fulfilment.pnml"))
	if err != nil {
		t.Fatal(err)
	}
	args = append([]string{"attach", "lines", "--nats", natsURL, "--source", "shop", "--web.listen-address", "127.0.0.1:0", "--poll", "20ms",
		"--interval", "200ms", "--log.format", "json"}, append(args, shop)...)
	return Attached{Start(t, Built().Pnagent, args...)}
}

// OrderEvent is one line.
func OrderEvent(at time.Time, customer, transition string) string {
	return fmt.Sprintf(`{"time":%q,"net":"order-fulfilment","instance":%q,"transition":%q}`+"\n", at.Format(time.RFC3339Nano), customer, transition)
}

// AppendTo writes at the end of a file.
func AppendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// Has checks the value of one series.
func (w Web) Has(family string, want float64, labels ...string) error {
	s, err := w.ReadMetrics()
	if err != nil {
		return err
	}
	if is, _ := s.Value(family, labels...); is != want {
		return fmt.Errorf("%s%s is %v, want %v", family, strings.Join(labels, " "), is, want)
	}
	return nil
}

// ScrapeEvery is how often the adapter scrapes, and how long a scrape may take.
const ScrapeEvery = 200 * time.Millisecond

// AttachScrape runs the adapter on one target.
func AttachScrape(t *testing.T, natsURL, mapping, url string, args ...string) Attached {
	t.Helper()
	args = append([]string{"attach", "scrape", "--nats", natsURL, "--mapping", mapping, "--source", "scraped", "--interval", ScrapeEvery.String(),
		"--web.listen-address", "127.0.0.1:0", "--log.format", "json"}, append(args, url)...)
	return Attached{Start(t, Built().Pnagent, args...)}
}

// Differ returns an error that names both where two values are not equal.
func Differ(want, got any) error {
	if d := cmp.Diff(want, got); d != "" {
		return fmt.Errorf("-want +got\n%s", d)
	}
	return nil
}
