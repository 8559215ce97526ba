// SPDX-License-Identifier: Apache-2.0

//go:build peers

package snmp

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/porttest"
)

const (
	zabbixSQL      = "/usr/share/zabbix-server-pgsql" // Debian's package zabbix-server-pgsql
	zabbixFrontend = "/usr/share/zabbix"              // zabbix-frontend-php
)

// zabbix is a server of Zabbix with a frontend, whose API the test calls.
type zabbix struct {
	dir   string               // of the user that runs the servers
	as    *syscall.SysProcAttr // that user, as the servers refuse root; nil for the user of the test
	url   string               // of the API
	token string
}

// startZabbix starts PostgreSQL, the server and the frontend, or skips the test. The server reads
// notifications from the file traps in its directory.
func startZabbix(t *testing.T) *zabbix {
	t.Helper()
	server, php, psql := kit.Need(t, "zabbix_server", "zabbix-server-pgsql"), kit.Need(t, "php", "php-cli"), kit.Need(t, "psql", "postgresql-client")
	for path, debian := range map[string]string{zabbixSQL + "/schema.sql.gz": "zabbix-server-pgsql", zabbixFrontend + "/api_jsonrpc.php": "zabbix-frontend-php"} {
		if !exists(path) {
			t.Skipf("%s is not there (Debian package %s)", path, debian)
		}
	}
	if modules := kit.Tool(t, nil, php, "-m"); !strings.Contains(modules.Out, "\npgsql\n") {
		t.Skip("PHP has no pgsql (Debian package php-pgsql)")
	}
	z := &zabbix{}
	z.directory(t)
	database := z.postgres(t, psql)
	z.serve(t, server, php, database)
	return z
}

// directory makes the directory of the servers. Root gives it to another user.
func (z *zabbix) directory(t *testing.T) {
	t.Helper()
	var err error
	z.dir, err = os.MkdirTemp("", "pnagent-zabbix")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(z.dir) })
	if os.Getuid() != 0 {
		return
	}
	u, err := user.Lookup("nobody")
	if err != nil {
		t.Skipf("there is no user to run the servers, which refuse root: %v", err)
	}
	uid, _ := strconv.Atoi(u.Uid) // a number on all systems with Credential
	gid, _ := strconv.Atoi(u.Gid)
	if err := os.Chown(z.dir, uid, gid); err != nil {
		t.Skipf("the servers refuse root, and their directory cannot be given to another user: %v", err)
	}
	z.as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
}

// file writes a file that the servers can read, and returns its path.
func (z *zabbix) file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(z.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// command returns a command of the servers' user.
func (z *zabbix) command(path string, args ...string) *exec.Cmd {
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.SysProcAttr = z.dir, z.as
	return cmd
}

func (z *zabbix) run(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%.4000s", strings.Join(cmd.Args, " "), err, out)
	}
}

// postgres starts a database with Zabbix' tables, and returns its port.
func (z *zabbix) postgres(t *testing.T, psql string) (port string) {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // the pattern is valid
	if len(found) == 0 {
		t.Skip("PostgreSQL's server is not installed (Debian package postgresql)")
	}
	bin, data := found[len(found)-1], filepath.Join(z.dir, "data")
	port = porttest.Port(t)
	z.run(t, z.command(bin+"/initdb", "-D", data, "-A", "trust", "-U", "zabbix", "--no-sync", "-E", "UTF8", "--locale=C"))
	z.run(t, z.command(bin+"/pg_ctl", "-D", data, "-w", "-l", data+".log", "start", "-o", "-p "+port+" -c listen_addresses=127.0.0.1 -c unix_socket_directories="+z.dir+
		" -c fsync=off -c synchronous_commit=off -c full_page_writes=off -c shared_buffers=64MB"))
	t.Cleanup(func() { z.run(t, z.command(bin+"/pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")) })
	for _, name := range []string{"schema", "images", "data"} {
		f, err := os.Open(filepath.Join(zabbixSQL, name+".sql.gz"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		text, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		load := z.command(psql, "-q", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", port, "-U", "zabbix", "postgres")
		load.Stdin = text
		z.run(t, load)
	}
	return port
}

// serve starts the server and the frontend, and logs in.
func (z *zabbix) serve(t *testing.T, server, php, database string) {
	t.Helper()
	port := porttest.Port(t)
	z.file(t, "traps", "")
	conf := z.file(t, "zabbix_server.conf", strings.NewReplacer("DIR", z.dir, "DATABASE", database, "PORT", port).Replace(`ListenIP=127.0.0.1
ListenPort=PORT
LogType=console
PidFile=DIR/zabbix.pid
SocketDir=DIR
DBHost=127.0.0.1
DBPort=DATABASE
DBName=postgres
DBUser=zabbix
StartSNMPTrapper=1
SNMPTrapperFile=DIR/traps
CacheUpdateFrequency=1
StartPollers=2
StartPreprocessors=1
StartTrappers=1
StartPingers=0
StartDiscoverers=0
StartHTTPPollers=0
StartDBSyncers=1
StartLLDProcessors=1
StartHistoryPollers=1
FpingLocation=/bin/true
Fping6Location=/bin/true
`))
	running := kit.StartCommand(t, z.command(server, "-f", "-c", conf))
	t.Cleanup(func() { // killed, it would leave its processes behind
		_ = running.Cmd.Process.Signal(syscall.SIGTERM) // fails only where it has ended
		select {
		case <-running.Done:
		case <-time.After(kit.Patience):
		}
	})
	z.frontend(t, php, database, port)
	kit.Until(t, "the API answers", func() error {
		return z.try("user.login", map[string]string{"username": "Admin", "password": "zabbix"}, &z.token)
	})
}

// frontend serves a copy of the frontend: it has the path of its configuration in its code.
func (z *zabbix) frontend(t *testing.T, php, database, server string) {
	t.Helper()
	conf := kit.Write(t, "zabbix.conf.php", strings.NewReplacer("DB-PORT", database, "SERVER-PORT", server).Replace(`<?php
$DB = ['TYPE' => 'POSTGRESQL', 'SERVER' => '127.0.0.1', 'PORT' => 'DB-PORT', 'DATABASE' => 'postgres', 'USER' => 'zabbix', 'PASSWORD' => '', 'SCHEMA' => '',
  'ENCRYPTION' => false, 'KEY_FILE' => '', 'CERT_FILE' => '', 'CA_FILE' => '', 'VERIFY_HOST' => false, 'CIPHER_LIST' => '', 'DOUBLE_IEEE754' => true];
$ZBX_SERVER = '127.0.0.1';
$ZBX_SERVER_PORT = 'SERVER-PORT';
$ZBX_SERVER_NAME = '';
$IMAGE_FORMAT_DEFAULT = IMAGE_FORMAT_PNG;
`))
	tree := filepath.Join(t.TempDir(), "zabbix")
	if out, err := exec.Command("cp", "-R", zabbixFrontend, tree).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	class := filepath.Join(tree, "include/classes/core/CConfigFile.php")
	text, err := os.ReadFile(class)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, is := strings.Cut(string(text), "const CONFIG_FILE_PATH = '")
	_, after, closed := strings.Cut(rest, "'")
	if !is || !closed {
		t.Fatalf("%s has no constant CONFIG_FILE_PATH", class)
	}
	if err := os.WriteFile(class, []byte(before+"const CONFIG_FILE_PATH = '"+conf+"'"+after), 0o644); err != nil {
		t.Fatal(err)
	}
	addr := porttest.Addr(t)
	kit.Start(t, php, "-S", addr, "-t", tree)
	z.url = "http://" + addr + "/api_jsonrpc.php"
}

// call calls a method of the API.
func (z *zabbix) call(t *testing.T, method string, params, result any) {
	t.Helper()
	if err := z.try(method, params, result); err != nil {
		t.Fatal(err)
	}
}

func (z *zabbix) try(method string, params, result any) error {
	request := map[string]any{"jsonrpc": "2.0", "method": method, "params": params, "id": 1}
	if z.token != "" {
		request["auth"] = z.token
	}
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	client := http.Client{Timeout: kit.Patience, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Post(z.url, "application/json-rpc", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	var answer struct{ Result, Error json.RawMessage }
	if err := json.Unmarshal(text, &answer); err != nil {
		return fmt.Errorf("%s: %w: %.2000s", method, err, text)
	}
	if answer.Error != nil {
		return fmt.Errorf("%s: %.2000s", method, answer.Error)
	}
	return json.Unmarshal(answer.Result, result)
}
