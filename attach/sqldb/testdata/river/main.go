// SPDX-License-Identifier: Apache-2.0

// Command river runs River for the tests: river DATABASE. It reads commands from standard
// input, and answers each with lines and "ok":
//
//	insert KIND...  inserts a job of each kind
//	work ID         starts a client in a process of its own, which is no leader
//	lead ID         the same for one that may lead, and rescues jobs that run for a second
//	kill ID         kills it
//	pause QUEUE     pauses a queue, and waits until the clients know
//	cancel KIND     cancels the job of a kind
//	retry KIND      retries it
//	report          jobs by River's API, as the other engines report theirs
//
// It is a module of its own, so that River is no dependency of pnagent.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	pool, err := pgxpool.New(ctx, args[0])
	if err != nil {
		return err
	}
	defer pool.Close()
	if len(args) > 1 {
		return work(ctx, pool, args[1], args[2])
	}
	driver := riverpgxv5.New(pool)
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	client, err := river.NewClient(driver, &river.Config{})
	if err != nil {
		return err
	}
	e := &engine{client: client, database: args[0], clients: map[string]*child{}}
	defer e.end()
	fmt.Println("ok")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		if err := e.do(ctx, strings.Fields(in.Text())); err != nil {
			fmt.Println("error", err)
			continue
		}
		fmt.Println("ok")
	}
	return in.Err()
}

// job is a job of any kind.
type job struct {
	Name string `json:"name"`
}

func (j job) Kind() string { return j.Name }

// worker does what the kind of a job says.
type worker struct {
	river.WorkerDefaults[job]
}

func (worker) Work(ctx context.Context, j *river.Job[job]) error {
	switch {
	case (j.Kind == "holds" || j.Kind == "held") && j.Attempt == 1:
		<-ctx.Done()
		return ctx.Err()
	case j.Kind == "flaky" || j.Kind == "dead":
		return errors.New("no route to Ann")
	case j.Kind == "snoozes":
		return river.JobSnooze(time.Hour)
	case j.Kind == "stops":
		return river.JobCancel(errors.New("not wanted"))
	}
	return nil
}

// NextRetry is an hour after a failure.
func (worker) NextRetry(*river.Job[job]) time.Time { return time.Now().Add(time.Hour) }

// work works the queues until the process is killed, or its input ends.
func work(ctx context.Context, pool *pgxpool.Pool, command, id string) error {
	workers := river.NewWorkers()
	for _, kind := range []string{"holds", "held", "flaky", "dead", "snoozes", "stops", "quick", "paused", "due", "tomorrow"} {
		river.AddWorkerArgs(workers, job{kind}, worker{})
	}
	cfg := &river.Config{ID: id, Workers: workers, JobTimeout: -1, Logger: slog.New(slog.DiscardHandler), FetchPollInterval: 50 * time.Millisecond,
		FetchCooldown: 20 * time.Millisecond, Queues: map[string]river.QueueConfig{"default": {MaxWorkers: 10}, "paused": {MaxWorkers: 1}}}
	cfg.LeaderElectionDisabled = command == "work"
	if command == "lead" {
		// River rescues no job of a kind without a timeout.
		cfg.JobTimeout, cfg.RescueStuckJobsAfter = 500*time.Millisecond, time.Second
	}
	client, err := river.NewClient(riverpgxv5.New(pool), cfg)
	if err != nil {
		return err
	}
	paused, _ := client.Subscribe(river.EventKindQueuePaused)
	if err := client.Start(ctx); err != nil {
		return err
	}
	fmt.Println("works")
	go func() {
		for range paused {
			fmt.Println("paused")
		}
	}()
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// child is a client in a process of its own. It prints a line when it works, and when it
// knows that a queue is paused.
type child struct {
	*exec.Cmd
	out *bufio.Reader
}

type engine struct {
	client   *river.Client[pgx.Tx]
	database string
	clients  map[string]*child
}

func (e *engine) do(ctx context.Context, words []string) error {
	switch command, args := words[0], words[1:]; command {
	case "insert":
		for _, kind := range args {
			if err := e.insert(ctx, kind); err != nil {
				return err
			}
		}
		return nil
	case "work", "lead":
		return e.start(command, args[0])
	case "kill":
		return e.kill(args[0])
	case "pause":
		return e.pause(ctx, args[0])
	case "cancel", "retry":
		return e.change(ctx, command, args[0])
	case "report":
		return e.report(ctx)
	}
	return fmt.Errorf("no command %q", words)
}

func (e *engine) insert(ctx context.Context, kind string) error {
	opts := &river.InsertOpts{}
	switch kind {
	case "idle", "paused":
		opts.Queue = kind
	case "flaky":
		opts.MaxAttempts = 3
	case "dead":
		opts.MaxAttempts = 1
	case "pends":
		opts.Pending = true
	case "due":
		opts.ScheduledAt = time.Now().Add(time.Second)
	case "tomorrow":
		opts.ScheduledAt = time.Now().Add(24 * time.Hour)
	}
	_, err := e.client.Insert(ctx, job{kind}, opts)
	return err
}

func (e *engine) start(command, id string) error {
	cmd := exec.Command(os.Args[0], e.database, command, id)
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil { // it ends with this process
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	e.clients[id] = &child{cmd, bufio.NewReader(out)}
	_, err = e.clients[id].out.ReadString('\n')
	return err
}

func (e *engine) pause(ctx context.Context, queue string) error {
	if err := e.client.QueuePause(ctx, queue, nil); err != nil {
		return err
	}
	for _, c := range e.clients {
		if _, err := c.out.ReadString('\n'); err != nil {
			return err
		}
	}
	return nil
}

func (e *engine) kill(id string) error {
	cmd := e.clients[id]
	delete(e.clients, id)
	if err := cmd.Process.Kill(); err != nil {
		return err
	}
	_ = cmd.Wait() // it was killed
	return nil
}

func (e *engine) end() {
	for id := range e.clients {
		_ = e.kill(id)
	}
}

// jobs are those of all states, by their ids.
func (e *engine) jobs(ctx context.Context) ([]*rivertype.JobRow, error) {
	all, err := e.client.JobList(ctx, river.NewJobListParams().First(1000))
	if err != nil {
		return nil, err
	}
	return all.Jobs, nil
}

func (e *engine) change(ctx context.Context, command, kind string) error {
	jobs, err := e.jobs(ctx)
	if err != nil {
		return err
	}
	for _, j := range jobs {
		if j.Kind != kind {
			continue
		}
		if command == "cancel" {
			_, err = e.client.JobCancel(ctx, j.ID)
		} else {
			_, err = e.client.JobRetry(ctx, j.ID)
		}
		return err
	}
	return fmt.Errorf("no job of the kind %s", kind)
}

// report prints tokens, the times of next tries, and counts. The adapter does not count the
// first job, which is inserted before it starts.
func (e *engine) report(ctx context.Context) error {
	jobs, err := e.jobs(ctx)
	if err != nil {
		return err
	}
	type flow struct{ in, out, fired, failed int }
	counts := map[string]*flow{}
	for i, j := range jobs {
		fmt.Println("state", j.Kind, j.ID, j.State)
		if j.FinalizedAt == nil && (j.AttemptedAt != nil || !j.ScheduledAt.After(time.Now())) {
			fmt.Println("at", j.Kind, j.ID, "job", came(j).UnixMilli())
		}
		if j.State == rivertype.JobStateRetryable || j.State == rivertype.JobStateScheduled {
			fmt.Println("job", j.Kind, j.ID, j.Kind, "due", j.ScheduledAt.UnixMilli())
		}
		c := counts[j.Kind]
		if c == nil {
			c = &flow{}
			counts[j.Kind] = c
		}
		if i > 0 {
			c.in++
		}
		switch {
		case j.State == rivertype.JobStateCompleted:
			c.out++
			c.fired++
		case j.FinalizedAt != nil:
			c.out++
			c.failed++
		}
	}
	for kind, c := range counts {
		fmt.Println("count", kind, "job", c.in, c.out, c.fired)
		fmt.Println("count", kind, "instances", c.in, c.fired, c.failed)
	}
	return nil
}

// came is when a job came, as the document has it.
func came(j *rivertype.JobRow) time.Time {
	var metadata struct{ Snoozes int }
	switch err := json.Unmarshal(j.Metadata, &metadata); {
	case err != nil:
		return time.Time{}
	case metadata.Snoozes > 0:
		return j.CreatedAt
	case len(j.Errors) > 0 && j.Errors[0].At.Before(*j.AttemptedAt):
		return j.Errors[0].At
	case len(j.Errors) > 0 || j.State == rivertype.JobStateRunning:
		return *j.AttemptedAt
	}
	return j.ScheduledAt
}
