// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// program returns the path of a program, or skips the test.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
		if len(found) == 0 {
			t.Skipf("%s is not installed; make deps installs it", name)
		}
		path = found[len(found)-1]
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// cluster is a PostgreSQL server in a temporary directory.
type cluster struct {
	t               *testing.T
	dir, port, ctl  string
	as              *syscall.SysProcAttr // who runs it: it refuses root
	address, driver string               // for pnagent, and for Java
}

// newCluster starts a server, or skips the test.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	initdb := program(t, "initdb")
	c := &cluster{t: t, port: freePort(t), ctl: program(t, "pg_ctl")}
	var err error
	if c.dir, err = os.MkdirTemp("", "pnagent-pg-"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(c.dir) })
	if os.Getuid() == 0 {
		u, err := user.Lookup("postgres")
		if err != nil {
			t.Skip("there is no user postgres to run PostgreSQL, which refuses root")
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		if err := os.Chown(c.dir, uid, gid); err != nil {
			t.Skip("PostgreSQL refuses root, and its directory cannot be given to another user")
		}
		c.as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	c.run(initdb, "-D", c.dir+"/data", "-A", "trust", "-U", "pn", "--no-sync", "-E", "UTF8", "--locale=C")
	c.start()
	t.Cleanup(func() { c.stop("immediate") })
	c.address = "postgres://pn@127.0.0.1:" + c.port + "/postgres?sslmode=disable"
	c.driver = "jdbc:postgresql://127.0.0.1:" + c.port + "/postgres"
	return c
}

func (c *cluster) run(name string, args ...string) {
	c.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.SysProcAttr, cmd.Dir = c.as, c.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

func (c *cluster) start() {
	c.run(c.ctl, "-D", c.dir+"/data", "-w", "-l", c.dir+"/log", "start", "-o",
		"-p "+c.port+" -c listen_addresses=127.0.0.1 -c unix_socket_directories="+c.dir+" -c fsync=off -c shared_buffers=32MB")
}

func (c *cluster) stop(mode string) {
	c.run(c.ctl, "-D", c.dir+"/data", "-w", "-m", mode, "stop")
}

// engine is the Java program of testdata.
type engine struct {
	t     *testing.T
	in    io.Writer
	lines chan string
}

// newEngine starts an engine of a directory of testdata, or skips the test.
func newEngine(t *testing.T, kind, driver string) *engine {
	t.Helper()
	java, mvn := program(t, "java"), program(t, "mvn")
	dir := filepath.Join("testdata", kind)
	lib := t.TempDir()
	cmd := exec.Command(mvn, "-q", "-B", "-f", filepath.Join(dir, "pom.xml"), "dependency:copy-dependencies", "-DoutputDirectory="+lib)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("Maven cannot fetch the engine: %v: %.300s", err, out)
	}
	cmd = exec.Command(java, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-Duser.timezone=UTC", "-cp", lib+"/*", filepath.Join(dir, "Engine.java"), driver, "pn", dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	e := &engine{t: t, in: in, lines: make(chan string, 1000)}
	go func() {
		defer close(e.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			e.lines <- s.Text()
		}
	}()
	t.Cleanup(func() {
		in.Close()
		for range e.lines {
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("the engine: %v", err)
		}
	})
	e.answer("start")
	return e
}

// do runs a command and returns its answer.
func (e *engine) do(command string) []string {
	e.t.Helper()
	if _, err := io.WriteString(e.in, command+"\n"); err != nil {
		e.t.Fatal(err)
	}
	return e.answer(command)
}

func (e *engine) answer(command string) []string {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(e.t.Context(), time.Minute)
	defer cancel()
	var out []string
	for {
		select {
		case line, open := <-e.lines:
			switch {
			case !open:
				e.t.Fatalf("%s: the engine has ended", command)
			case line == "ok":
				return out
			case strings.HasPrefix(line, "error "):
				e.t.Fatalf("%s: %s", command, line)
			}
			out = append(out, line)
		case <-ctx.Done():
			e.t.Fatalf("%s: %v", command, errors.Join(ctx.Err(), errors.New(strings.Join(out, "; "))))
		}
	}
}
