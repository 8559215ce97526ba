// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/engine/guard/scan"
)

// own is the name under which expressions find what is not data of tokens.
const own = "pnagent"

// input is what the expressions of one call read.
type input struct {
	tokens  []coloured.Placed
	now     int64
	places  []string
	data    *data
	missing bool // an expression of UEL read a variable that does not exist
}

// data is the data of tokens, decoded with numbers as json.Number. A variable that has a text of its own
// is decoded when it is read.
type data struct {
	fields map[string]any // of all objects; of the youngest token that has it
	all    []any          // by token; nil without data
	size   int            // in bytes, of what is decoded
}

// value returns the value of a variable, if there is one.
func (d *data) value(name string) (v any, ok bool, err error) {
	v, ok = d.fields[name]
	if _, text := v.(json.RawMessage); text {
		v, err = d.read(v)
		d.fields[name] = v
	}
	return v, ok, err
}

// read decodes the texts of variables in a value.
func (d *data) read(v any) (out any, err error) {
	switch v := v.(type) {
	case json.RawMessage:
		d.size += len(v)
		if d.size > MaxData {
			return nil, fmt.Errorf("the variables that are read have more than %d bytes; expected less", MaxData)
		}
		return decode(v)
	case map[string]json.RawMessage:
		object := map[string]any{}
		for name, text := range v {
			value, err := d.read(text)
			if err != nil {
				return nil, err
			}
			object[name] = value
		}
		return object, nil
	}
	return v, nil
}

func (in *input) time() time.Time { return time.UnixMicro(in.now).UTC() }

func (in *input) seconds(injected int64) float64 { return max(0, float64(in.now-injected)/1e6) }

// age returns the age of the oldest token, in seconds.
func (in *input) age() float64 {
	oldest := in.now
	for i := range in.tokens {
		oldest = min(oldest, in.tokens[i].Token.Injected)
	}
	return in.seconds(oldest)
}

// decoded returns the data of the tokens, which it decodes once.
func (in *input) decoded() (*data, error) {
	if in.data != nil {
		return in.data, nil
	}
	all, err := decodeAll(in.tokens)
	if err != nil {
		return nil, err
	}
	d := &data{all: all}
	for _, i := range byAge(in.tokens) {
		if d.fields == nil {
			d.fields = map[string]any{}
		}
		switch object := all[i].(type) {
		case map[string]json.RawMessage:
			for name, text := range object {
				d.fields[name] = text
			}
			continue
		case map[string]any:
			maps.Copy(d.fields, object)
		}
		d.size += len(in.tokens[i].Token.Data)
	}
	in.data = d
	return d, nil
}

// define makes a value a variable.
func (in *input) define(name string, value any) error {
	d, err := in.decoded()
	if err != nil {
		return err
	}
	text, err := appendJSON(nil, value)
	if err != nil {
		return err
	}
	if value, err = decode(text); err != nil {
		return err
	}
	if d.fields == nil {
		d.fields = map[string]any{}
	}
	d.fields[name] = value
	d.size += len(text)
	return nil
}

// offers returns what expressions find under pnagent, with the tokens if fields is set.
func (in *input) offers(fields bool) (map[string]any, error) {
	out := map[string]any{"now": in.time(), "age": in.age()}
	if !fields {
		return out, nil
	}
	data, err := in.decoded()
	if err != nil {
		return nil, err
	}
	list := make([]any, len(in.tokens))
	for i := range in.tokens {
		t := &in.tokens[i].Token
		value, err := data.read(data.all[i])
		if err != nil {
			return nil, err
		}
		data.all[i] = value
		list[i] = map[string]any{"place": in.place(in.tokens[i].Place), "id": json.Number(strconv.FormatUint(t.ID, 10)),
			"age": in.seconds(t.Injected), "data": data.all[i]}
	}
	out["tokens"], out["token"] = list, nil
	if len(data.all) > 0 {
		out["token"] = data.all[0]
	}
	return out, nil
}

func (in *input) place(i int32) string {
	if i >= 0 && int(i) < len(in.places) {
		return in.places[i]
	}
	return ""
}

// byAge returns the indexes of tokens, the oldest first.
func byAge(tokens []coloured.Placed) []int {
	order := make([]int, len(tokens))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := tokens[a].Token, tokens[b].Token
		return cmp.Or(cmp.Compare(x.Injected, y.Injected), cmp.Compare(x.ID, y.ID))
	})
	return order
}

// decodeAll decodes the data of tokens; without data the result is nil.
func decodeAll(tokens []coloured.Placed) ([]any, error) {
	out := make([]any, len(tokens))
	size := 0
	for i := range tokens {
		data := tokens[i].Token.Data
		if fields := tokens[i].Token.Fields; fields != nil {
			out[i] = fields
			continue
		}
		if size += len(data); size > MaxData {
			return nil, fmt.Errorf("the tokens carry more than %d bytes; expected less for a guard that reads them", MaxData)
		}
		if len(data) == 0 {
			continue
		}
		v, err := decode(data)
		if err != nil {
			return nil, fmt.Errorf("the data of token %d: %w", tokens[i].Token.ID, err)
		}
		out[i] = v
	}
	return out, nil
}

// decode decodes JSON.
func decode(data []byte) (any, error) {
	if scan.Deep(data) {
		return nil, fmt.Errorf("nested more than %d deep", MaxDepth)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("not JSON: more after the first value")
	}
	return v, nil
}

// numbers returns decoded JSON with numbers that can be compared: int if that is exact,
// else float64.
func numbers(v any) any {
	return scan.Numbers(v, func(n json.Number) any {
		if i, err := strconv.Atoi(string(n)); err == nil {
			return i
		}
		f, _ := strconv.ParseFloat(string(n), 64) // a number that is too large is infinite, and compares as that
		return f
	})
}

// Merge returns the data of a token that replaces several. If their data are
// JSON objects, it is one with the fields of all; a field of a later one
// replaces that of an earlier one. Otherwise, or if the result exceeds
// coloured.MaxData, it is the first data that is not empty. Merge can be used
// as coloured.Config.Merge.
func Merge(data [][]byte) []byte {
	some := make([][]byte, 0, len(data))
	for _, d := range data {
		if len(d) > 0 && (len(some) == 0 || !bytes.Equal(some[len(some)-1], d)) {
			some = append(some, d)
		}
	}
	switch len(some) {
	case 0:
		return nil
	case 1:
		return some[0]
	}
	all, size := map[string]json.RawMessage{}, 0
	for _, d := range some {
		var object map[string]json.RawMessage
		if size += len(d); size > coloured.MaxData || json.Unmarshal(d, &object) != nil || object == nil {
			return some[0]
		}
		maps.Copy(all, object)
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if e.Encode(all) != nil || out.Len() > coloured.MaxData {
		return some[0]
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
