// SPDX-License-Identifier: Apache-2.0

//go:build peers

package snmp

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/porttest"
)

// debianCacti is where Debian's package is.
const debianCacti = "/usr/share/cacti"

// cactiConfig is Cacti's include/config.php for the database at PORT, with files in DIR.
const cactiConfig = `<?php
$database_type = 'mysql'; $database_default = 'cacti'; $database_hostname = '127.0.0.1'; $database_username = 'cacti'; $database_password = 'cacti'; $database_port = 'PORT';
$database_retries = 5; $database_ssl = false; $database_ssl_key = ''; $database_ssl_cert = ''; $database_ssl_ca = ''; $database_persist = false;
$poller_id = 1; $url_path = '/cacti/'; $cacti_session_name = 'Cacti'; $cacti_db_session = false; $disable_log_rotation = true; $path_csrf_secret = 'DIR/csrf.php'; $proxy_headers = null;
`

// cactiClicks is what the page of the generated files has a person click: the data query, and
// templates of a data source and a graph of the tokens of a place.
const cactiClicks = `UPDATE version SET cacti = '1.2.24';
REPLACE INTO settings (name, value) VALUES ('path_php_binary', 'PHP'), ('path_snmpget', '/usr/bin/snmpget'), ('path_snmpwalk', '/usr/bin/snmpwalk'),
  ('path_snmpbulkwalk', '/usr/bin/snmpbulkwalk'), ('path_snmpgetnext', '/usr/bin/snmpgetnext'), ('path_cactilog', 'DIR/cacti.log'), ('poller_enabled', 'on');
INSERT INTO snmp_query (id, hash, xml_path, name, data_input_id) VALUES (1, MD5('query'), '<path_cacti>/resource/snmp_queries/pn_place.xml', 'Petri nets: places', 2);
INSERT INTO data_template (id, hash, name) VALUES (900, MD5('data'), 'Tokens');
INSERT INTO data_template_data (id, data_template_id, data_input_id, name, active, rrd_step, data_source_profile_id)
  VALUES (9000, 900, 2, '|host_description| |query_pnPlaceNet| |query_pnPlaceName|', 'on', 300, 1);
INSERT INTO data_template_rrd (id, hash, data_template_id, rrd_maximum, rrd_minimum, rrd_heartbeat, data_source_type_id, data_source_name)
  VALUES (9000, MD5('rrd'), 900, 'U', '0', 600, 1, 'tokens');
INSERT INTO data_input_data (data_input_field_id, data_template_data_id, t_value, value) SELECT id, 9000, 'on', '' FROM data_input_fields WHERE data_input_id = 2;
INSERT INTO graph_templates (id, hash, name) VALUES (900, MD5('graph'), 'Tokens');
INSERT INTO graph_templates_graph (graph_template_id, title, height, width, upper_limit, lower_limit, image_format_id, auto_scale, auto_scale_opts, base_value)
  VALUES (900, '|host_description| |query_pnPlaceNet| |query_pnPlaceName|', 150, 500, '100', '0', 1, 'on', 2, 1000);
INSERT INTO graph_templates_item (hash, graph_template_id, task_item_id, color_id, graph_type_id, consolidation_function_id, text_format, sequence)
  VALUES (MD5('item'), 900, 9000, 1, 5, 1, 'tokens', 1);
INSERT INTO snmp_query_graph (id, hash, snmp_query_id, name, graph_template_id) VALUES (900, MD5('associated'), 1, 'Tokens', 900);
INSERT INTO snmp_query_graph_rrd VALUES (900, 900, 9000, 'pnPlaceTokens');
`

// cacti is Debian's Cacti with a database of its own.
type cacti struct {
	t          *testing.T
	php, tree  string
	db         string // port of its database
	mibs       string
	dataSource map[string]kit.Key // what each data source was made for, by its id
}

// startCacti starts a database, and copies Cacti: it reads its configuration from its own
// directory. The data queries and the modules are those in files.
func startCacti(t *testing.T, files string) *cacti {
	t.Helper()
	if _, err := os.Stat(debianCacti); err != nil {
		t.Skip("Cacti is not installed (Debian package cacti)")
	}
	c := &cacti{t: t, php: kit.Need(t, "php", "php-cli"), tree: t.TempDir(), db: porttest.Port(t), mibs: filepath.Join(files, "mibs"), dataSource: map[string]kit.Key{}}
	client := c.startDatabase()
	c.runs("cp", "-r", debianCacti+"/site", debianCacti+"/cli", debianCacti+"/resource", c.tree)
	site := filepath.Join(c.tree, "site")
	for _, link := range []string{"rra", "log", "cache", "resource", "include/config.php"} { // to directories of the package
		if err := os.Remove(filepath.Join(site, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"rra", "log", "cache/boost", "cache/mibcache", "cache/realtime", "cache/spikekill"} {
		if err := os.MkdirAll(filepath.Join(site, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	own := strings.NewReplacer("PORT", c.db, "DIR", c.tree, "PHP", c.php)
	config := os.WriteFile(filepath.Join(site, "include", "config.php"), []byte(own.Replace(cactiConfig)), 0o600)
	if err := errors.Join(config, os.Symlink("../resource", filepath.Join(site, "resource"))); err != nil {
		t.Fatal(err)
	}
	queries, err := filepath.Glob(filepath.Join(files, "cacti", "*.xml"))
	if err != nil {
		t.Fatal(err)
	}
	c.runs("cp", append(queries, filepath.Join(c.tree, "resource", "snmp_queries"))...)
	c.runs(client, "--no-defaults", "-h", "127.0.0.1", "-P", c.db, "-u", "root", "-e",
		"CREATE DATABASE cacti CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci; CREATE USER cacti@'127.0.0.1' IDENTIFIED BY 'cacti'; GRANT ALL ON *.* TO cacti@'127.0.0.1'")
	tables, err := os.ReadFile(debianCacti + "/conf_templates/cacti.sql")
	if err != nil {
		t.Fatal(err)
	}
	c.sql(string(tables) + own.Replace(cactiClicks))
	return c
}

// startDatabase starts MariaDB, as the user that runs the test, and returns its client.
func (c *cacti) startDatabase() (client string) {
	c.t.Helper()
	install, daemon, client := kit.Need(c.t, "mariadb-install-db", "mariadb-server"), kit.Need(c.t, "mariadbd", "mariadb-server"), kit.Need(c.t, "mariadb", "mariadb-client")
	me, err := user.Current()
	if err != nil {
		c.t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "cacti") // the path of a socket is short
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = os.RemoveAll(dir) })
	// A MariaDB that starts removes all temporary tables in its temporary directory, those of another one too, so this one has its own.
	c.runs("env", "TMPDIR="+dir, install, "--no-defaults", "--user="+me.Username, "--datadir="+dir+"/data", "--auth-root-authentication-method=normal", "--skip-test-db")
	p := kit.Start(c.t, daemon, "--no-defaults", "--user="+me.Username, "--datadir="+dir+"/data", "--tmpdir="+dir, "--socket="+dir+"/s", "--port="+c.db, "--bind-address=127.0.0.1", "--skip-name-resolve")
	c.t.Cleanup(func() { p.Stop(c.t, syscall.SIGTERM) })
	kit.Until(c.t, "MariaDB answers", func() error {
		return exec.CommandContext(c.t.Context(), client, "--no-defaults", "-h", "127.0.0.1", "-P", c.db, "-u", "root", "-e", "SELECT 1").Run()
	})
	return client
}

// runs runs a program and returns what it prints.
func (c *cacti) runs(program string, args ...string) string {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), program, args...)
	cmd.Env = append(os.Environ(), append(private(c.t), "MIBDIRS="+c.mibs+":"+filepath.Join(c.mibs, "smi"), "MIBS=PETRINET-MIB")...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("%s %.300q: %v: %.3000s", program, args, err, out)
	}
	return string(out)
}

// script runs a script of Cacti.
func (c *cacti) script(name string, args ...string) string {
	c.t.Helper()
	return c.runs(c.php, append([]string{filepath.Join(c.tree, name)}, args...)...)
}

// sql returns the rows of a query, each as its columns.
func (c *cacti) sql(query string) (rows [][]string) {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), "mariadb", "--no-defaults", "-h", "127.0.0.1", "-P", c.db, "-u", "root", "--batch", "--skip-column-names", "--default-character-set=utf8mb4", "cacti")
	cmd.Stdin = strings.NewReader(query)
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("%.300s: %v: %s", query, err, out)
	}
	for line := range strings.Lines(string(out)) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return rows
}

// graph re-indexes the device, and makes graphs of the rows that have none.
func (c *cacti) graph() {
	c.t.Helper()
	c.script("cli/poller_reindex_hosts.php", "--id=1")
	if sorted := c.sql("SELECT sort_field FROM host_snmp_query"); len(sorted) != 1 || sorted[0][0] != "pnIndex" {
		c.t.Errorf("Cacti sorts by %v; want pnIndex", sorted)
	}
	c.script("cli/add_graphs.php", "--graph-type=ds", "--graph-template-id=900", "--host-id=1", "--snmp-query-id=1", "--snmp-query-type-id=900", "--snmp-field=pnIndex", "--snmp-value-regex=.*")
	for _, row := range c.sql(`SELECT d.id, net.field_value, place.field_value FROM data_local d
		JOIN host_snmp_cache net ON net.snmp_index = d.snmp_index AND net.field_name = 'pnPlaceNet' JOIN host_snmp_cache place ON place.snmp_index = d.snmp_index AND place.field_name = 'pnPlaceId'`) {
		if c.dataSource[row[0]] == (kit.Key{}) {
			c.dataSource[row[0]] = kit.Key{Net: row[1], ID: row[2]}
		}
	}
}

// poll returns what Cacti's poller reads for each data source that it has a number for, by what
// the data source was made for.
func (c *cacti) poll() map[kit.Key]string {
	c.t.Helper()
	c.sql("DELETE FROM poller_output")
	c.script("site/cmd.php", "--poller=1", "--first=0", "--last=1")
	got := map[kit.Key]string{}
	for _, row := range c.sql("SELECT local_data_id, output FROM poller_output WHERE rrd_name = 'tokens'") {
		if row[1] != "U" { // unknown
			got[c.dataSource[row[0]]] = row[1]
		}
	}
	return got
}

// homonyms returns a net whose places have the ids and names of those of other nets, and numbers
// of tokens of its own, from base.
func homonyms(id string, base int) string {
	var places strings.Builder
	for i := range 11 {
		fmt.Fprintf(&places, `<place id="p%d"><name><text>Läuft → fertig 完了 %d</text></name><initialMarking><text>%d</text></initialMarking></place>`, i, i, base+i)
	}
	return `<?xml version="1.0" encoding="UTF-8"?><pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="` + id + `" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="page">` +
		places.String() + `<transition id="t"/><arc id="a" source="p0" target="t"/></page></net></pnml>`
}

// Nets that share the names of their places come and go. After each re-index every data source of
// Cacti has the number of the net and place that it was made for, or none while the net is away.
func TestCactiKeepsEachGraphAtItsPlaceWhileNetsComeAndGo(t *testing.T) {
	t.Parallel()
	files, bus, mibs := t.TempDir(), kit.StartNATS(t), t.TempDir()
	if r := kit.Pnagent(t, "integrations", "cacti", "--dir", files); r.Code != 0 {
		t.Fatalf("pnagent integrations: got %+v", r)
	}
	c := startCacti(t, files)
	side := kit.Serve(t, bus, "--mib-dir", mibs, "--snmp", "127.0.0.1:0", "--forget-after", "1s", "--forget-nets-after", "1s")
	engines, nets := map[string]*kit.Engine{}, map[string]string{}
	for i, net := range []string{"mid", "alpha", "zulu", "beta"} {
		nets[net] = kit.Write(t, net+".pnml", homonyms(net, 1000*(i+1)))
	}
	play := func(net string) {
		bindings := kit.Write(t, "bindings.yaml", "nets: {"+net+": {transitions: {t: manual}}}\n")
		engines[net] = kit.RunEngine(t, bus, "engine-"+net, "--instances", "1", "--bindings", bindings, nets[net])
	}
	// compares waits until SNMP has the nets that play, and compares what Cacti reads after a re-index.
	compares := func(when string, playing ...string) {
		t.Helper()
		want := map[kit.Key]string{}
		side.UntilView(t, when, func(v kit.View) error {
			clear(want)
			var shown []string
			for i := range v.Nets {
				shown = append(shown, v.Nets[i].ID)
				for _, p := range v.Nets[i].Places {
					if p.Tokens != nil {
						want[kit.Key{Net: v.Nets[i].ID, ID: p.ID}] = fmt.Sprint(*p.Tokens)
					}
				}
			}
			slices.Sort(shown)
			if !slices.Equal(shown, playing) || len(want) != 11*len(playing) {
				return fmt.Errorf("%d places of %v", len(want), shown)
			}
			return nil
		})
		kit.Until(t, when+", Cacti reads the same", func() error {
			c.graph()
			if diff := cmp.Diff(want, c.poll()); diff != "" {
				return errors.New(diff)
			}
			return nil
		})
	}
	_, port, _ := strings.Cut(side.SNMP, ":")
	play("mid")
	side.UntilView(t, "a net is there", func(v kit.View) error {
		if len(v.Nets) == 0 {
			return errors.New("no net")
		}
		return nil
	})
	c.script("cli/add_device.php", "--description=sidecar", "--ip=127.0.0.1", "--template=0", "--version=2", "--community=public", "--port="+port, "--avail=none", "--timeout=5000")
	c.script("cli/add_data_query.php", "--host-id=1", "--data-query-id=1", "--reindex-method=2")
	compares("one net", "mid")
	play("alpha")
	play("zulu")
	compares("two more with the same names", "alpha", "mid", "zulu")
	engines["alpha"].Stop(t, os.Interrupt)
	compares("one has left", "mid", "zulu")
	play("beta")
	engines["mid"].Stop(t, os.Interrupt)
	compares("another one came, and the first has left", "beta", "zulu")
	play("mid")
	play("alpha")
	compares("both are back", "alpha", "beta", "mid", "zulu")
	if len(c.dataSource) != 44 {
		t.Errorf("%d data sources; want 44, one of each place", len(c.dataSource))
	}
	if names := c.sql("SELECT DISTINCT field_value FROM host_snmp_cache WHERE field_name = 'pnPlaceName' ORDER BY 1"); len(names) != 11 || names[0][0] != "Läuft → fertig 完了 0" {
		t.Errorf("the names of places are %q", names)
	}
}
