// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package poll

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/pnagent/pnagent/attach/internal/ledger"
)

// mostOldest is how many tokens of a place look prints.
const mostOldest = 10

// look polls once and prints the tokens of each place.
func look(ctx context.Context, a Adapter, asJSON bool, out io.Writer) error {
	found, err := a.Look(ctx, mostOldest)
	switch {
	case err != nil:
		return err
	case asJSON:
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(append([]ledger.Standing{}, found...))
	case len(found) == 0:
		_, err = fmt.Fprintln(out, "No place has a token.")
		return err
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NET\tPLACE\tTOKENS\tINSTANCE\tAGE\tREASON\tWAITS FOR")
	for _, place := range found {
		for _, s := range place.Oldest {
			reason, text := "", ""
			for i, w := range s.Waits {
				if i > 0 {
					reason, text = reason+", ", text+"; "
				}
				reason, text = reason+w.Reason, text+w.What
				if w.Until != 0 {
					text += ", until " + time.UnixMicro(w.Until).UTC().Format(time.RFC3339)
				}
			}
			age := time.Duration(max(place.At-s.Injected, 0) * 1000).Round(time.Second)
			fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\t%s\t%s\n", place.Net, place.Place, place.Tokens, s.Instance, age, reason, text)
		}
	}
	return t.Flush()
}
