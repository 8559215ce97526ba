// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
)

// slowOnceBindings perform a check that takes no time but for one instance.
const slowOnceBindings = `nets:
  checks:
    transitions:
      check: {command: [sh, -c, 'test $PNAGENT_INSTANCE != 4 || sleep 5'], timeout: 1m}
`

const checksNet = `<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="checks" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g">
  <place id="open"><initialMarking><text>1</text></initialMarking></place><place id="checked"/><transition id="check"/>
  <arc id="a" source="open" target="check"/><arc id="b" source="check" target="checked"/>
</page></net></pnml>
`

// Of ten instances one takes long, once: the histograms of what it did name it,
// at the bucket of four seconds or more, and no label does.
func TestTheInstanceThatWasSlowOnceIsNamedByAnExemplar(t *testing.T) {
	t.Parallel()
	natsURL := kit.StartNATS(t)
	side := kit.Serve(t, natsURL, "--mib-dir", "")
	kit.RunEngine(t, natsURL, "desk", "--instances", "10", "--bindings", kit.Write(t, "b.yaml", slowOnceBindings), kit.Write(t, "checks.pnml", checksNet))
	for _, series := range []string{`petrinet_transition_duration_seconds_bucket{net="checks",transition="check"`, `petrinet_place_dwell_seconds_bucket{net="checks",place="open"`} {
		slow := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(series) + `,le="(16|64)\.0"\} 10 # \{case="desk/4"\} [0-9.]+ 1\.[0-9]+e\+09$`)
		kit.Until(t, series+" names the slow one", func() error {
			if text := openMetrics(t, side.Web); !slow.MatchString(text) {
				return fmt.Errorf("%v", regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(series)+`.*case.*$`).FindAllString(text, -1))
			}
			return nil
		})
	}
	if named := regexp.MustCompile(`(?m)^[^#]*desk/4.*$`).FindString(openMetrics(t, side.Web)); named != "" {
		t.Errorf("an instance in a label: %s", named)
	}
}

// openMetrics is /metrics as a Prometheus that stores exemplars asks for it.
func openMetrics(t *testing.T, w kit.Web) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.URL+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "application/openmetrics-text;version=1.0.0")
	client := http.Client{Timeout: kit.Patience, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
