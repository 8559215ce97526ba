// SPDX-License-Identifier: Apache-2.0

// Command asynq runs asynq for the tests: asynq PORT.
//
// It reads commands from standard input, and answers each with lines and "ok":
//
//	add QUEUE NAME [SPEC]  adds a task; {"delay": milliseconds, "attempts": number}
//	work QUEUE             starts a server in a process of its own
//	kill                   kills the servers
//	pause QUEUE            pauses a queue
//	report                 at QUEUE PLACE ID SINCE of each task, by asynq's Inspector; 0 if it has no time
//
// A task whose name begins with "hold" never ends, one with "fail" fails, others end.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/hibiken/asynq"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: asynq PORT [QUEUE]")
		os.Exit(2)
	}
	to := asynq.RedisClientOpt{Addr: "127.0.0.1:" + os.Args[1]}
	if len(os.Args) > 2 {
		if err := work(to, os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	e := engine{client: asynq.NewClient(to), inspector: asynq.NewInspector(to)}
	fmt.Println("ok")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		if err := e.do(strings.Fields(in.Text())); err != nil {
			fmt.Println("error", strings.ReplaceAll(err.Error(), "\n", " "))
			continue
		}
		fmt.Println("ok")
	}
	e.kill()
}

// quiet logs nothing.
type quiet struct{}

func (quiet) Debug(...any) {}
func (quiet) Info(...any)  {}
func (quiet) Warn(...any)  {}
func (quiet) Error(...any) {}
func (quiet) Fatal(...any) {}

// work runs a server of a queue until it is killed.
func work(to asynq.RedisClientOpt, queue string) error {
	s := asynq.NewServer(to, asynq.Config{Concurrency: 5, Queues: map[string]int{queue: 1}, Logger: quiet{}, TaskCheckInterval: 100 * time.Millisecond,
		RetryDelayFunc: func(int, error, *asynq.Task) time.Duration { return time.Hour }})
	return s.Run(asynq.HandlerFunc(func(ctx context.Context, t *asynq.Task) error {
		switch {
		case strings.HasPrefix(t.Type(), "hold"):
			<-ctx.Done()
		case strings.HasPrefix(t.Type(), "fail"):
			return errors.New("out of paper")
		}
		return nil
	}))
}

type engine struct {
	client    *asynq.Client
	inspector *asynq.Inspector
	servers   []*exec.Cmd
}

func (e *engine) do(command []string) error {
	switch command[0] {
	case "add":
		return e.add(command[1], command[2], strings.Join(command[3:], " "))
	case "work":
		server := exec.Command(os.Args[0], os.Args[1], command[1])
		e.servers = append(e.servers, server)
		return server.Start()
	case "kill":
		e.kill()
		return nil
	case "pause":
		return e.inspector.PauseQueue(command[1])
	case "report":
		return e.report()
	}
	return fmt.Errorf("command %q", command[0])
}

func (e *engine) add(queue, name, spec string) error {
	var with struct{ Delay, Attempts int }
	if spec != "" {
		if err := json.Unmarshal([]byte(spec), &with); err != nil {
			return err
		}
	}
	options := []asynq.Option{asynq.Queue(queue), asynq.MaxRetry(max(with.Attempts, 1) - 1), asynq.Timeout(time.Hour)}
	if with.Delay > 0 {
		options = append(options, asynq.ProcessIn(time.Duration(with.Delay)*time.Millisecond))
	}
	_, err := e.client.Enqueue(asynq.NewTask(name, nil), options...)
	return err
}

// kill kills the servers.
func (e *engine) kill() {
	for _, s := range e.servers {
		_ = s.Process.Kill()
		_ = s.Wait()
	}
	e.servers = nil
}

func (e *engine) report() error {
	started := map[string]int64{}
	servers, err := e.inspector.Servers()
	if err != nil {
		return err
	}
	for _, s := range servers {
		for _, w := range s.ActiveWorkers {
			started[w.TaskID] = w.Started.UnixMilli()
		}
	}
	queues, err := e.inspector.Queues()
	if err != nil {
		return err
	}
	for _, q := range queues {
		for place, list := range map[string]func(string, ...asynq.ListOption) ([]*asynq.TaskInfo, error){"waiting": e.inspector.ListPendingTasks, "running": e.inspector.ListActiveTasks,
			"delayed": e.inspector.ListScheduledTasks, "retry": e.inspector.ListRetryTasks, "failed": e.inspector.ListArchivedTasks} {
			tasks, err := list(q)
			if err != nil {
				return err
			}
			for _, t := range tasks {
				since := started[t.ID]
				if !t.LastFailedAt.IsZero() {
					since = t.LastFailedAt.UnixMilli()
				}
				fmt.Println("at", q, place, t.ID, since)
			}
		}
	}
	return nil
}
