// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/pnagent/pnagent/attach/internal/diagram"
)

// maxModel bounds a model that is not compressed, in bytes.
const maxModel = 16 << 20

// readTasks returns the net of the mapping's only task, or reads the rows of the query tasks: a
// task, one that follows it, and its name. unfit is about the model, err about the database.
func (s *Adapter) readTasks(ctx context.Context, d *diagram.Definition) (n *diagram.Process, unfit, err error) {
	if task := s.cfg.Mapping.task; task != "" {
		n, unfit = diagram.NewTasks(d.Key, d.Name, []diagram.Task{{ID: task}})
		return n, unfit, nil
	}
	var tasks []diagram.Task
	at := map[string]int{}
	err = s.each(ctx, "tasks", map[string]any{"definition": d.ID}, func(row []any) error {
		id := asText(row[0])
		i, known := at[id]
		if !known {
			i, at[id] = len(tasks), len(tasks)
			tasks = append(tasks, diagram.Task{ID: id})
		}
		tasks[i].Name = cmp.Or(tasks[i].Name, asText(row[2]))
		if next := asText(row[1]); next != "" {
			tasks[i].Next = append(tasks[i].Next, next)
		}
		return nil
	})
	n, unfit = diagram.NewTasks(d.Key, d.Name, tasks)
	return n, unfit, err
}

// readDiagram reads the model of a definition: BPMN, or a DAG that Airflow stored. If
// it is unfit, the net has no nodes. err is about the database.
func (s *Adapter) readDiagram(ctx context.Context, d *diagram.Definition) (n *diagram.Process, unfit, err error) {
	var model []byte
	err = s.each(ctx, "model", map[string]any{"definition": d.ID}, func(row []any) error {
		model = []byte(asText(row[0]))
		if row[0] == nil && row[1] != nil {
			model, unfit = inflate([]byte(asText(row[1])))
		}
		return nil
	})
	if unfit == nil && !bytes.HasPrefix(bytes.TrimSpace(model), []byte("{")) {
		n, unfit = diagram.New(d.Key, d.Name, model)
		return n, unfit, err
	}
	var tasks []diagram.Task
	if unfit == nil {
		tasks, d.Delays, unfit = readAirflow(model)
	}
	n, full := diagram.NewTasks(d.Key, d.Name, tasks)
	return n, errors.Join(unfit, full), err
}

// inflate returns a text that zlib compressed, of at most the size of a model.
func inflate(compressed []byte) ([]byte, error) {
	r, err := zlib.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(r, maxModel+1))
	if len(text) > maxModel {
		return nil, fmt.Errorf("a model of more than %d bytes", maxModel)
	}
	return text, err
}

// airflowTask is what Airflow stores of a task, or of the arguments of tasks that are
// made from one.
type airflowTask struct {
	ID         string          `json:"task_id"`
	Downstream []string        `json:"downstream_task_ids"`
	Delay      json.RawMessage `json:"retry_delay"` // seconds, or these with their type
	Backoff    any             `json:"retry_exponential_backoff"`
	Partial    *airflowTask    `json:"partial_kwargs"`
}

// airflowDelay is the time between tries if a task does not set it, in seconds.
const airflowDelay = 300

// readAirflow reads the DAG that Airflow 2 and 3 store in the table serialized_dag,
// and the time between tries of a task in microseconds, unless it grows.
func readAirflow(text []byte) (tasks []diagram.Task, delays map[string]int64, err error) {
	var in struct {
		DAG struct {
			Tasks []struct {
				Var *airflowTask `json:"__var"`
				airflowTask
			} `json:"tasks"`
		} `json:"dag"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, nil, fmt.Errorf("reading the DAG: %w", err)
	}
	if in.DAG.Tasks == nil {
		return nil, nil, errors.New("reading the DAG: no member dag.tasks")
	}
	delays = map[string]int64{}
	for i := range in.DAG.Tasks {
		t := cmp.Or(in.DAG.Tasks[i].Var, &in.DAG.Tasks[i].airflowTask)
		tasks = append(tasks, diagram.Task{ID: t.ID, Next: t.Downstream})
		if delay := cmp.Or(t.Partial, t).delay(); delay >= 0 {
			delays[t.ID] = delay
		}
	}
	return tasks, delays, nil
}

// delay returns the time between tries in microseconds; -1 if it grows from try to try.
func (t *airflowTask) delay() int64 {
	if t.Backoff != nil && t.Backoff != false && t.Backoff != 0.0 {
		return -1
	}
	var typed struct {
		Var float64 `json:"__var"`
	}
	seconds := float64(airflowDelay)
	if t.Delay != nil && json.Unmarshal(t.Delay, &seconds) != nil && json.Unmarshal(t.Delay, &typed) == nil {
		seconds = typed.Var
	}
	if seconds < 0 || seconds > 1e9 {
		return -1
	}
	return int64(seconds * 1e6)
}

// runTask is a task in a run.
type runTask struct{ key, instance, node string }

// done is which tasks of open runs have ended.
type done struct {
	at   map[runTask]int64
	open map[runTask]bool
}

// readDone reads which tasks of open runs have ended, if the mapping has that query. Those
// of which a part is open have not.
func (s *Adapter) readDone(ctx context.Context, open []openRow, with map[string]any) (*done, error) {
	if s.cfg.Mapping.queries["done"] == nil {
		return nil, nil
	}
	out := &done{at: map[runTask]int64{}, open: map[runTask]bool{}}
	for i := range open {
		if d := open[i].version; d != nil {
			out.open[runTask{d.Key, open[i].Instance, open[i].node}] = true
		}
	}
	err := s.each(ctx, "done", with, func(row []any) error {
		if d := s.definitions.All[asText(row[0])]; d != nil && len(out.at) < MaxTokens {
			key := runTask{d.Key, asText(row[1]), asText(row[2])}
			out.at[key] = max(out.at[key], s.time(row[3]))
		}
		return nil
	})
	return out, err
}

// before returns how many of the tasks before that of a row have not ended, of how
// many, and when the first one ended.
func (d *done) before(r *openRow) (left, of int, first int64) {
	before := r.model().Before(r.node)
	for _, node := range before {
		key := runTask{r.version.Key, r.Instance, node}
		switch t, ended := d.at[key]; {
		case !ended || d.open[key]:
			left++
		case first == 0 || t < first:
			first = t
		}
	}
	return left, len(before), first
}
