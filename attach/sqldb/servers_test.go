// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"database/sql"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/pnagent/pnagent/attach/internal/enginetest"
	"github.com/pnagent/pnagent/internal/porttest"
)

// server is a database server in a temporary directory.
type server struct {
	t               *testing.T
	dir, port       string
	as              *syscall.SysProcAttr // who runs it: it refuses root
	address, driver string               // for pnagent, and for Java
	start, kill     func()

	reader    func() string // makes the user of the document, and returns its address
	replicate func() string // starts a replica, and returns its address for that user; nil if there is none
}

// newServer makes the directory, or skips the test. Root runs the server as
// another user.
func newServer(t *testing.T, owner string) *server {
	t.Helper()
	s := &server{t: t, port: porttest.Port(t)}
	var err error
	if s.dir, err = os.MkdirTemp("", "pnagent-sql-"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(s.dir) })
	if os.Getuid() != 0 {
		return s
	}
	u, err := user.Lookup(owner)
	if err != nil {
		t.Skipf("there is no user %s to run the server, which refuses root", owner)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	if err := os.Chown(s.dir, uid, gid); err != nil {
		t.Skipf("the server refuses root, and its directory cannot be given to another user: %v", err)
	}
	s.as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return s
}

// newPostgres starts PostgreSQL, or skips the test.
func newPostgres(t *testing.T) *server {
	t.Helper()
	initdb := enginetest.Program(t, "initdb")
	backup := filepath.Join(filepath.Dir(initdb), "pg_basebackup")
	s := newServer(t, "postgres")
	data := s.dir + "/data"
	s.run(initdb, "-D", data, "-A", "trust", "-U", "pn", "--no-sync", "-E", "UTF8", "--locale=C")
	s.withPassword(data, "pnagent")
	s.start, s.kill = s.postgres(data, s.port)
	s.address = "postgres://pn@127.0.0.1:" + s.port + "/postgres?sslmode=disable"
	s.driver = "jdbc:postgresql://127.0.0.1:" + s.port + "/postgres"
	s.start()
	t.Cleanup(s.kill)
	s.reader = func() string {
		change(t, s.open("pgx", s.address), enginetest.Block(t, document, "sql", "CREATE ROLE"))
		return "postgres://pnagent:secret@127.0.0.1:" + s.port + "/postgres?sslmode=disable"
	}
	s.replicate = func() string {
		port, standby := porttest.Port(t), s.dir+"/standby"
		s.run(backup, "-h", "127.0.0.1", "-p", s.port, "-U", "pn", "-D", standby, "-R", "-X", "stream", "-c", "fast", "--no-sync")
		start, kill := s.postgres(standby, port)
		start()
		t.Cleanup(kill)
		return "postgres://pnagent:secret@127.0.0.1:" + port + "/postgres?sslmode=disable"
	}
	return s
}

// open opens the database with a driver.
func (s *server) open(driver, address string) *sql.DB {
	s.t.Helper()
	db, err := sql.Open(driver, address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { db.Close() })
	return db
}

// withPassword makes PostgreSQL ask a user for the password, which is not asked otherwise.
func (s *server) withPassword(data, user string) {
	s.t.Helper()
	file := data + "/pg_hba.conf"
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, append([]byte("host all "+user+" 127.0.0.1/32 scram-sha-256\n"), text...), 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// postgres returns what starts and what kills a PostgreSQL.
func (s *server) postgres(data, port string) (start, kill func()) {
	ctl := enginetest.Program(s.t, "pg_ctl")
	return func() {
			s.run(ctl, "-D", data, "-w", "-l", data+".log", "start", "-o",
				"-p "+port+" -c listen_addresses=127.0.0.1 -c unix_socket_directories="+s.dir+" -c fsync=off -c shared_buffers=32MB")
		}, func() {
			s.run(ctl, "-D", data, "-w", "-m", "immediate", "stop")
		}
}

// newMariaDB starts MariaDB, or skips the test.
func newMariaDB(t *testing.T) *server {
	t.Helper()
	install, daemon, client := enginetest.Program(t, "mariadb-install-db"), enginetest.Program(t, "mariadbd"), enginetest.Program(t, "mariadb")
	s := newServer(t, "mysql")
	data, socket := "--datadir="+s.dir+"/data", "--socket="+s.dir+"/s"
	s.run(install, "--no-defaults", data, "--auth-root-authentication-method=normal", "--skip-test-db")
	var running *exec.Cmd
	s.start = func() {
		running = exec.Command(daemon, "--no-defaults", data, socket, "--port="+s.port, "--bind-address=127.0.0.1",
			"--transaction-isolation=READ-COMMITTED", "--skip-name-resolve")
		running.SysProcAttr, running.Dir = s.as, s.dir
		if err := running.Start(); err != nil {
			t.Fatal(err)
		}
		until(t, func() string {
			if err := exec.Command(client, "--no-defaults", socket, "-u", "root", "-e", "SELECT 1").Run(); err != nil {
				return "MariaDB does not start: " + err.Error()
			}
			return ""
		})
	}
	s.kill = func() {
		if err := running.Process.Kill(); err != nil {
			t.Error(err)
		}
		running.Wait()
	}
	s.start()
	t.Cleanup(s.kill)
	s.run(client, "--no-defaults", socket, "-u", "root", "-e", "CREATE DATABASE camunda CHARACTER SET utf8mb4; CREATE USER pn@'127.0.0.1'; GRANT ALL ON camunda.* TO pn@'127.0.0.1'")
	s.address = "mysql://pn@127.0.0.1:" + s.port + "/camunda"
	s.driver = "jdbc:mariadb://127.0.0.1:" + s.port + "/camunda"
	s.reader = func() string {
		s.run(client, "--no-defaults", socket, "-u", "root", "-e", "CREATE USER pnagent@'127.0.0.1' IDENTIFIED BY 'secret'; GRANT SELECT ON camunda.* TO pnagent@'127.0.0.1'")
		return "mysql://pnagent:secret@127.0.0.1:" + s.port + "/camunda"
	}
	return s
}

func (s *server) run(name string, args ...string) {
	s.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.SysProcAttr, cmd.Dir = s.as, s.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// engine is a program of testdata that runs an engine.
type engine struct{ *enginetest.Engine }

// newEngine starts an engine of a directory of testdata, or skips the test.
func newEngine(t *testing.T, kind, driver, history string, settings ...string) *engine {
	t.Helper()
	java, dir := enginetest.Program(t, "java"), filepath.Join("testdata", kind)
	lib := enginetest.Jars(t, filepath.Join(dir, "pom.xml"), settings...)
	cmd := exec.Command(java, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-Duser.timezone=UTC", "-cp", lib+"/*", filepath.Join(dir, "Engine.java"), driver, "pn", dir, history)
	return &engine{enginetest.Start(t, cmd)}
}
