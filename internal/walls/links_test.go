// SPDX-License-Identifier: Apache-2.0

package walls

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// linked are the packages whose tests may have a heavy module in their program. Others
// would link it, and be linked again after each of their changes, for a helper.
var linked = map[string][]string{
	"go.temporal.io/api":             {"attach/temporal", "cmd/pnagent"},
	"google.golang.org/grpc":         {"attach/temporal", "cmd/pnagent", "otlp/export"},
	"k8s.io/client-go":               {"attach/kubernetes", "cmd/pnagent"},
	"modernc.org/sqlite":             {"attach/sqldb", "cmd/pnagent"},
	"github.com/redis/go-redis/v9":   {"attach/redis", "cmd/pnagent"},
	"github.com/jackc/pgx/v5":        {"attach/sqldb", "cmd/pnagent"},
	"github.com/go-sql-driver/mysql": {"attach/sqldb", "cmd/pnagent"},
	"github.com/google/go-jsonnet":   {"dashboards"},
	"github.com/chromedp/chromedp":   {"e2e/page", "web/pagetest"},
	"github.com/nats-io/nats-server/v2/server": {"act", "attach/camunda8", "attach/dipen", "attach/internal/ledger", "attach/kubernetes", "attach/redis", "attach/scrape", "attach/sqldb",
		"cmd/pnagent", "collector", "collector/counts", "collector/standby", "collector/uplink", "dashboards", "e2e/fleetsim", "e2e/logs", "e2e/simulation", "e2e/suites",
		"engine", "engine/action", "engine/journal/stream", "engine/region", "internal/natstest", "model", "sidecar", "telemetry", "telemetry/natslink", "telemetry/wirecheck"},
}

// named are the packages that may import a package whose types take the compiler long
// to read. Tests of others use what hides the types: internal/natstest.
var named = map[string][]string{
	"github.com/nats-io/nats-server/v2/server": {"cmd/pnagent", "e2e/fleetsim", "e2e/logs", "e2e/simulation", "engine/journal/stream", "internal/natstest", "telemetry/natslink"},
}

// listed is a package, or the program of its tests, as go list -test has it.
type listed struct {
	ImportPath, ForTest string
	Imports, Deps       []string
}

// heavy returns which tables a package breaks.
func heavy(p listed) (faults []string) {
	path, _, _ := strings.Cut(p.ImportPath, " ")
	if p.ForTest != "" {
		path = p.ForTest
	}
	name, program := strings.CutSuffix(strings.TrimPrefix(path, module), ".test")
	for of, allowed := range linked {
		if program && slices.ContainsFunc(p.Deps, func(d string) bool { return d == of || strings.HasPrefix(d, of+"/") }) && !slices.Contains(allowed, name) {
			faults = append(faults, "the program of the tests of "+name+" links "+of)
		}
	}
	for of, allowed := range named {
		if slices.Contains(p.Imports, of) && !slices.Contains(allowed, name) {
			faults = append(faults, name+" imports "+of)
		}
	}
	return faults
}

func TestHeavyModulesAreLinkedOnlyWhereTheyAreNeeded(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-test", "-tags", "peers", "-json=ImportPath,ForTest,Imports,Deps", module+"...").Output()
	if err != nil {
		t.Fatalf("listing packages: %v", err)
	}
	programs := 0
	for d := json.NewDecoder(strings.NewReader(string(out))); ; programs++ {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		for _, fault := range heavy(p) {
			t.Error(fault)
		}
	}
	if programs < len(rooms) {
		t.Errorf("%d packages are listed; want the %d rooms and the programs of their tests", programs, len(rooms))
	}
}

// A program with the tag slim has the flags of adapters, and nothing that adapters import.
func TestTheSmallProgramHasNoAdapter(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-tags", "slim", module+"cmd/pnagent")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("listing packages: %v", err)
	}
	flags := 0
	for _, path := range strings.Fields(string(out)) {
		name, ours := strings.CutPrefix(path, module+"attach/")
		switch {
		case ours && strings.HasSuffix(name, "/command"):
			flags++
		case ours && name != "internal/poll":
			t.Errorf("it has attach/%s", name)
		}
		for of := range linked {
			if path == of || strings.HasPrefix(path, of+"/") {
				t.Errorf("it has %s", path)
			}
		}
	}
	if flags == 0 {
		t.Error("it has no adapter's flags")
	}
}

func TestAHeavyModuleIsSeen(t *testing.T) {
	const server = "github.com/nats-io/nats-server/v2/server"
	for want, p := range map[string]listed{
		"the program of the tests of mib links modernc.org/sqlite": {ImportPath: module + "mib.test", Deps: []string{"modernc.org/sqlite/lib"}},
		"mib imports " + server:            {ImportPath: module + "mib_test [" + module + "mib.test]", ForTest: module + "mib", Imports: []string{server}},
		"telemetry/wire imports " + server: {ImportPath: module + "telemetry/wire", Imports: []string{server}},
	} {
		if got := heavy(p); !slices.Equal(got, []string{want}) {
			t.Errorf("%q; want %q", got, want)
		}
	}
}
