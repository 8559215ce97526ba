// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"bufio"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/pnagent/pnagent/attach/internal/enginetest"
	"github.com/pnagent/pnagent/internal/cachetest"
	"github.com/pnagent/pnagent/internal/porttest"
)

// server is a database server in a temporary directory, or a database of one.
type server struct {
	t               *testing.T
	dir, port       string
	as              *syscall.SysProcAttr // who runs it: it refuses root
	address, driver string               // for pnagent, and for Java
	database, role  string               // for tests, and the user of the document
	start, kill     func()               // nil if other tests use it, too

	reader    func() string // makes the user of the document, and returns its address
	replicate func() string // starts a replica, and returns its address for that user; nil if there is none
}

// cluster is a server that tests share. Each has a database of its own.
type cluster struct {
	*server
	databases atomic.Int64
}

var clusters shared[*cluster]

// newServer makes the directory, or skips the test. Root runs the server as
// another user.
func newServer(t *testing.T, owner string) *server {
	t.Helper()
	s := &server{t: t, port: porttest.Port(t), role: "pnagent"}
	var err error
	if s.dir, err = os.MkdirTemp("", "pnagent-sql-"); err != nil {
		t.Fatal(err)
	}
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

// untilTheEnd runs a server until the process of the tests ends, and removes its directory then.
func (s *server) untilTheEnd(program string, args ...string) {
	s.t.Helper()
	const script = `"$@" >server.log 2>&1 & cat; kill -KILL $!; wait $!; rm -rf "$PWD"`
	cmd := exec.Command("sh", append([]string{"-c", script, "sh", program}, args...)...)
	cmd.SysProcAttr, cmd.Dir = s.as, s.dir
	startShared(s.t, cmd)
}

// of returns a database of a cluster for a test.
func (c *cluster) of(t *testing.T) *server {
	s := *c.server
	s.t, s.database = t, fmt.Sprint("test", c.databases.Add(1))
	s.role += "_" + s.database
	return &s
}

// newPostgres makes a database in a PostgreSQL, which runs until the process of the
// tests ends, or skips the test.
func newPostgres(t *testing.T) *server {
	t.Helper()
	if testing.Short() {
		t.Skip("starts PostgreSQL, and most often an engine")
	}
	s := clusters.Get("PostgreSQL", func() *cluster {
		s := postgresDir(t)
		s.untilTheEnd(enginetest.Program(t, "postgres"), s.postgresFlags(s.dir+"/data", s.port)...)
		s.pings("pgx", s.url("pn@", "postgres"))
		return &cluster{server: s}
	}).of(t)
	change(t, s.open("pgx", s.url("pn@", "postgres")), "CREATE DATABASE "+s.database)
	s.inPostgres()
	return s
}

// startPostgres starts PostgreSQL for a test that kills it, or skips the test.
func startPostgres(t *testing.T) *server {
	t.Helper()
	s := postgresDir(t)
	t.Cleanup(func() { os.RemoveAll(s.dir) })
	backup := filepath.Join(filepath.Dir(enginetest.Program(t, "initdb")), "pg_basebackup")
	s.start, s.kill = s.postgres(s.dir+"/data", s.port)
	s.start()
	t.Cleanup(s.kill)
	s.database = "postgres"
	s.inPostgres()
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

// postgresDir makes the directory of a PostgreSQL, which asks all users but pn for a password.
func postgresDir(t *testing.T) *server {
	t.Helper()
	initdb := enginetest.Program(t, "initdb")
	s := newServer(t, "postgres")
	s.run(initdb, "-D", s.dir+"/data", "-A", "trust", "-U", "pn", "--no-sync", "-E", "UTF8", "--locale=C")
	file := s.dir + "/data/pg_hba.conf"
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, append([]byte("host all pn 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n"), text...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// url returns the address of a database of a PostgreSQL for a user.
func (s *server) url(user, database string) string {
	return "postgres://" + user + "127.0.0.1:" + s.port + "/" + database + "?sslmode=disable"
}

// inPostgres sets the addresses.
func (s *server) inPostgres() {
	s.address = s.url("pn@", s.database)
	s.driver = "jdbc:postgresql://127.0.0.1:" + s.port + "/" + s.database
	s.reader = func() string {
		change(s.t, s.open("pgx", s.address), strings.ReplaceAll(enginetest.Block(s.t, document, "sql", "CREATE ROLE"), "pnagent", s.role))
		return s.url(s.role+":secret@", s.database)
	}
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

// word waits until a query has a row, and returns its text.
func (s *server) word(driver, query string) (out string) {
	s.t.Helper()
	db := s.open(driver, s.address)
	until(s.t, func() string {
		if err := db.QueryRow(query).Scan(&out); err != nil {
			return query + ": " + err.Error()
		}
		return ""
	})
	return out
}

// pings waits until a server answers.
func (s *server) pings(driver, address string) {
	s.t.Helper()
	db := s.open(driver, address)
	until(s.t, func() string {
		if err := db.Ping(); err != nil {
			return "the server does not start: " + err.Error()
		}
		return ""
	})
}

func (s *server) postgresFlags(data, port string) []string {
	return []string{"-D", data, "-p", port, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=" + s.dir, "-c", "fsync=off", "-c", "shared_buffers=32MB"}
}

// postgres returns what starts and what kills a PostgreSQL.
func (s *server) postgres(data, port string) (start, kill func()) {
	ctl := enginetest.Program(s.t, "pg_ctl")
	return func() {
			s.run(ctl, "-D", data, "-w", "-l", data+".log", "start", "-o", strings.Join(s.postgresFlags(data, port)[2:], " "))
		}, func() {
			s.run(ctl, "-D", data, "-w", "-m", "immediate", "stop")
		}
}

// newMariaDB makes a database in a MariaDB, which runs until the process of the tests
// ends, or skips the test. Its time zone is UTC.
func newMariaDB(t *testing.T) *server {
	t.Helper()
	s := clusters.Get("MariaDB", func() *cluster {
		s := mariaDir(t)
		s.untilTheEnd("env", append([]string{"TZ=UTC", enginetest.Program(t, "mariadbd")}, s.mariaFlags()...)...)
		s.answers()
		return &cluster{server: s}
	}).of(t)
	s.inMaria()
	return s
}

// startMariaDB starts MariaDB in a time zone for a test that kills it, or skips the test.
func startMariaDB(t *testing.T, zone string) *server {
	t.Helper()
	s := mariaDir(t)
	t.Cleanup(func() { os.RemoveAll(s.dir) })
	daemon := enginetest.Program(t, "mariadbd")
	var running *exec.Cmd
	s.start = func() {
		running = exec.Command(daemon, s.mariaFlags()...)
		running.SysProcAttr, running.Dir, running.Env = s.as, s.dir, append(os.Environ(), "TZ="+zone)
		if err := running.Start(); err != nil {
			t.Fatal(err)
		}
		s.answers()
	}
	s.kill = func() {
		if err := running.Process.Kill(); err != nil {
			t.Error(err)
		}
		running.Wait()
	}
	s.start()
	t.Cleanup(s.kill)
	s.database = "camunda"
	s.inMaria()
	return s
}

// mariaDir makes the directory of a MariaDB. A MariaDB that starts removes all temporary tables in its temporary directory,
// those of another one too, so each has its own.
func mariaDir(t *testing.T) *server {
	t.Helper()
	install := enginetest.Program(t, "mariadb-install-db")
	enginetest.Program(t, "mariadb")
	s := newServer(t, "mysql")
	s.run("env", "TMPDIR="+s.dir, install, "--no-defaults", "--datadir="+s.dir+"/data", "--auth-root-authentication-method=normal", "--skip-test-db", "--innodb-log-file-size=16M")
	return s
}

func (s *server) mariaFlags() []string {
	return []string{"--no-defaults", "--datadir=" + s.dir + "/data", "--tmpdir=" + s.dir, "--socket=" + s.dir + "/s", "--port=" + s.port, "--bind-address=127.0.0.1",
		"--transaction-isolation=READ-COMMITTED", "--skip-name-resolve", "--innodb-log-file-size=16M", "--innodb-flush-log-at-trx-commit=2"}
}

// asRoot runs statements as MariaDB's root.
func (s *server) asRoot(statements string) error {
	out, err := exec.Command("mariadb", "--no-defaults", "--socket="+s.dir+"/s", "-u", "root", "-e", statements).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// answers waits until MariaDB answers.
func (s *server) answers() {
	s.t.Helper()
	until(s.t, func() string {
		if err := s.asRoot("SELECT 1"); err != nil {
			return "MariaDB does not start: " + err.Error()
		}
		return ""
	})
}

// inMaria makes the database and a user pn that may do anything in it, and sets the addresses.
func (s *server) inMaria() {
	s.t.Helper()
	of := s.database + ".* TO "
	err := s.asRoot("CREATE DATABASE " + s.database + " CHARACTER SET utf8mb4; CREATE USER IF NOT EXISTS pn@'127.0.0.1'; GRANT ALL ON " + of + "pn@'127.0.0.1'")
	if err != nil {
		s.t.Fatal(err)
	}
	s.address = "mysql://pn@127.0.0.1:" + s.port + "/" + s.database
	s.driver = "jdbc:mariadb://127.0.0.1:" + s.port + "/" + s.database
	s.reader = func() string {
		if err := s.asRoot("CREATE USER " + s.role + "@'127.0.0.1' IDENTIFIED BY 'secret'; GRANT SELECT ON " + of + s.role + "@'127.0.0.1'"); err != nil {
			s.t.Fatal(err)
		}
		return "mysql://" + s.role + ":secret@127.0.0.1:" + s.port + "/" + s.database
	}
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

// javas are the addresses of programs that run engines.
var javas shared[string]

// newEngine starts an engine of a directory of testdata, or skips the test.
func newEngine(t *testing.T, kind, driver, history string, settings ...string) *engine {
	t.Helper()
	java, dir := enginetest.Program(t, "java"), filepath.Join("testdata", kind)
	address := javas.Get(fmt.Sprint(kind, settings), func() string {
		lib := cachetest.Jars(t, filepath.Join(dir, "pom.xml"), settings...)
		return startEngines(t, exec.Command(java, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx384m", "-Duser.timezone=UTC",
			"-cp", lib+"/*", filepath.Join(dir, "Engine.java"), "pn", dir))
	})
	return &engine{enginetest.Dial(t, address, "open "+driver+" "+history)}
}

// newJava starts a program of testdata that has a library of jobs, or skips the test. It is
// compiled once for all runs, and ends with the test.
func newJava(t *testing.T, kind string, args ...string) *engine {
	t.Helper()
	java, javac, dir := enginetest.Program(t, "java"), enginetest.Program(t, "javac"), filepath.Join("testdata", kind)
	lib := cachetest.Jars(t, filepath.Join(dir, "pom.xml"))
	sources := []string{filepath.Join("testdata", "java", "Peer.java"), filepath.Join(dir, "Engine.java")}
	of := []byte(lib)
	for _, file := range sources {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		of = append(of, text...)
	}
	classes := cachetest.Dir(t, "classes-", of, func(to string) error {
		if out, err := exec.CommandContext(t.Context(), javac, append([]string{"-cp", lib + "/*", "-d", to}, sources...)...).CombinedOutput(); err != nil {
			t.Errorf("compiling %s: %v: %s", dir, err, out)
			return err
		}
		return nil
	})
	flags := []string{"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx192m", "-Duser.timezone=UTC", "-cp", classes + ":" + lib + "/*", "Engine"}
	return &engine{enginetest.Start(t, exec.Command(java, append(flags, args...)...))}
}

// shared are things that tests of a process share, by key. Each is made for the first test
// that asks for it.
type shared[V any] struct {
	mu   sync.Mutex
	made map[string]*once[V]
}

type once[V any] struct {
	mu    sync.Mutex
	done  bool
	value V
}

// Get returns the thing of a key, which made makes. If it is not made, because that test
// fails or is skipped, the next test has it made.
func (s *shared[V]) Get(key string, made func() V) V {
	s.mu.Lock()
	if s.made == nil {
		s.made = map[string]*once[V]{}
	}
	if s.made[key] == nil {
		s.made[key] = &once[V]{}
	}
	one := s.made[key]
	s.mu.Unlock()
	one.mu.Lock()
	defer one.mu.Unlock()
	if !one.done {
		one.value, one.done = made(), true
	}
	return one.value
}

// inputs are the ends to which nothing is written of the inputs of programs that end with
// this process.
var inputs struct {
	mu   sync.Mutex
	ends []*os.File
}

// startShared starts a program with an input that ends when the process of the tests does,
// however that ends. The program has to end then.
func startShared(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	in, end, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	cmd.Stdin = in
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	inputs.mu.Lock()
	defer inputs.mu.Unlock()
	inputs.ends = append(inputs.ends, end)
}

// startEngines starts a program that runs an engine for each connection, as
// startShared does, and returns its address. It prints the port of 127.0.0.1 at
// which it listens, and nothing else.
func startEngines(t *testing.T, cmd *exec.Cmd) (address string) {
	t.Helper()
	out, printed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = printed, os.Stderr
	startShared(t, cmd)
	printed.Close()
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(fmt.Errorf("the program of the engines prints no port: %w", err))
	}
	return "127.0.0.1:" + strings.TrimSpace(port)
}
