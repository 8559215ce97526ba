// SPDX-License-Identifier: Apache-2.0

//go:build peers

package lines

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/attach/internal/enginetest"
)

// TestAirflowSendsItsRunsAndTasks runs the example in Airflow itself: each price is right
// at the second try, and the order "bad" waits for another try to charge it. The end of a
// run is answered only when the scheduler has ended its step: it does not wait for that.
func TestAirflowSendsItsRunsAndTasks(t *testing.T) {
	if testing.Short() {
		t.Skip("starts Airflow")
	}
	absolute := func(path string) string {
		path, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	engine, dags, example := absolute("../sqldb/testdata/airflow"), absolute("testdata/airflow"), absolute("../../examples/attach/airflow")
	text, err := os.ReadFile(filepath.Join(example, "orders.pnml"))
	if err != nil {
		t.Fatal(err)
	}
	nets := compiled(t, string(text))
	a := attach(t, func(c *Config) { c.Nets = nets })
	stepped, ended := make(chan struct{}), make(chan struct{}, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if bytes.Contains(body, []byte(`"end": true`)) {
			select {
			case <-stepped:
				ended <- struct{}{}
			case <-r.Context().Done():
				t.Error("the plugin gave up before the scheduler had ended its step")
				return
			}
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		a.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	home := t.TempDir()
	cmd := exec.Command(enginetest.Python(t, filepath.Join(engine, "airflow3.txt")), filepath.Join(engine, "engine.py"), dags)
	cmd.Env = append(cmd.Environ(), "AIRFLOW_HOME="+home, "PYTHONPATH="+engine, "PYTHONDONTWRITEBYTECODE=1", "TZ=UTC", "PNAGENT_LINES="+server.URL,
		"AIRFLOW__DATABASE__SQL_ALCHEMY_CONN=sqlite:///"+home+"/airflow.db", "AIRFLOW__CORE__EXECUTOR=engine.Executor", "AIRFLOW__CORE__LOAD_EXAMPLES=False",
		"AIRFLOW__CORE__DAGS_FOLDER="+dags, "AIRFLOW__CORE__PLUGINS_FOLDER="+example, "AIRFLOW__LOGGING__LOGGING_LEVEL=CRITICAL", "AIRFLOW__API_AUTH__JWT_SECRET="+strings.Repeat("k", 64))
	e := enginetest.Start(t, cmd)
	e.Do("run orders good")
	e.Do("run orders bad")
	want := map[string]uint64{"begin > 2": 0, "price/running > 4": 0, "price/failed > 2": 0, "priced > 2": 0, "charge/running > 2": 0, "charge/failed > 1": 1, "charged > 1": 0}
	deadline := time.Now().Add(3 * time.Minute)
	for {
		e.Do("step")
		select {
		case stepped <- struct{}{}:
		default:
		}
		rows, got := seen(t, a, time.Now().UnixMicro()), map[string]uint64{}
		for i := range rows.Places {
			got[fmt.Sprintf("%s > %d", nets[0].Net.Places[i].ID, rows.Places[i].Arrivals)] = rows.Places[i].Tokens
		}
		diff := cmp.Diff(want, got)
		if diff == "" && rows.Net.Finished == 1 && len(ended) > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d runs ended; arrivals and tokens, - expected, + there:\n%s", rows.Net.Finished, diff)
		}
	}
	n, rows := a.Nets()[0], seen(t, a, time.Now().UnixMicro())
	if stuck := rows.Places[5].Stuck; n.Unfit != 0 || dropped(a) != "" || len(stuck) != 1 || stuck[0].Instance != "bad" {
		t.Errorf("%+v; dropped %s; %+v; expected the run bad in charge/failed", n, dropped(a), stuck)
	}
}
