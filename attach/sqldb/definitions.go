// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/pnagent/pnagent/attach/internal/diagram"
)

// errVanished is returned if the database has no definition any more. An engine keeps those
// that it stores a model of, so the rows are hidden, or of another schema or database.
var errVanished = errors.New("the database has none of the definitions that it had")

// readDefinitions reads the list of definitions.
func (s *Adapter) readDefinitions(ctx context.Context, take func(diagram.Definition)) error {
	listed := 0
	err := s.each(ctx, "definitions", nil, func(row []any) error {
		if listed == diagram.MaxDefinitions {
			s.Drop("definition")
			return nil
		}
		listed++
		d := diagram.Definition{ID: asText(row[0]), Key: asText(row[1]), Net: asText(row[1]), Version: asNumber(row[2]), Name: asText(row[3])}
		if s.cfg.ByVersion {
			d.Net += ":" + strconv.FormatInt(d.Version, 10)
		}
		take(d)
		return nil
	})
	if err == nil && listed == 0 && len(s.definitions.All) > 0 && s.cfg.Mapping.queries["model"] != nil {
		err = fmt.Errorf("query definitions: %w, of %d", errVanished, len(s.definitions.All))
	}
	return err
}

// readModel reads the model of a definition. unfit is about the model, err about the database.
func (s *Adapter) readModel(ctx context.Context, d *diagram.Definition) (n *diagram.Process, unfit, err error) {
	read := s.readDiagram
	if s.definitions.Tasks {
		read = s.readTasks
	}
	if n, unfit, err = read(ctx, d); err == nil {
		n.Def.ID = d.Net
		n.SetColumns(s.columns)
	}
	return n, unfit, err
}
