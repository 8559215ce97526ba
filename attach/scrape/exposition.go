// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"google.golang.org/protobuf/encoding/protodelim"
)

// Errors of scrapes that are not used.
var (
	errTooLarge = errors.New("too large")
	errCut      = errors.New("cut off")
	errGarbage  = errors.New("not a Prometheus format")
)

// families is one scrape, by name. A family without series is one that the target
// declares: it has none of these now.
type families map[string]*dto.MetricFamily

// parse parses a whole scrape. The error wraps errTooLarge, errCut or errGarbage.
func parse(body []byte, contentType string, maxSeries int) (families, error) {
	var all families
	var err error
	switch mediaType, _, _ := mime.ParseMediaType(contentType); {
	case mediaType == expfmt.ProtoType:
		all, err = parseProtobuf(body)
	case mediaType == expfmt.OpenMetricsType || bytes.HasSuffix(bytes.TrimRight(body, "\n"), []byte("\n# EOF")):
		if !bytes.HasSuffix(bytes.TrimRight(body, "\n"), []byte("# EOF")) {
			return nil, fmt.Errorf("OpenMetrics without # EOF at the end: %w", errCut)
		}
		all, err = parseText(openMetricsAsText(body))
	case mediaType == "text/html" || mediaType == "application/json":
		return nil, fmt.Errorf("%s: %w", mediaType, errGarbage)
	default:
		all, err = parseText(body)
	}
	if err != nil {
		return nil, err
	}
	series := 0
	for _, f := range all {
		series += len(f.GetMetric())
	}
	if series > maxSeries {
		return nil, fmt.Errorf("%d series, of at most %d: %w", series, maxSeries, errTooLarge)
	}
	return all, nil
}

func parseText(body []byte) (families, error) {
	p := expfmt.NewTextParser(model.UTF8Validation)
	all, err := p.TextToMetricFamilies(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errGarbage, err)
	}
	declare(all, body)
	return all, nil
}

// declare adds the families that have a type and no series, which the parser leaves out.
func declare(all families, body []byte) {
	for line := range bytes.Lines(body) {
		if !bytes.HasPrefix(line, []byte("# TYPE ")) {
			continue
		}
		words := strings.Fields(string(line))
		if len(words) == 4 && all[words[2]] == nil {
			all[words[2]] = &dto.MetricFamily{Name: &words[2]}
		}
	}
}

// parseProtobuf parses messages that each begin with their length. The parser
// of expfmt would allocate any length.
func parseProtobuf(body []byte) (families, error) {
	all := families{}
	r := bufio.NewReader(bytes.NewReader(body))
	opts := protodelim.UnmarshalOptions{MaxSize: int64(len(body)) + 1}
	for {
		f := &dto.MetricFamily{}
		err := opts.UnmarshalFrom(r, f)
		switch {
		case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			return all, nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return nil, fmt.Errorf("protobuf after %d families: %w", len(all), errCut)
		case err != nil:
			return nil, fmt.Errorf("protobuf after %d families: %w: %w", len(all), errGarbage, err)
		}
		if was := all[f.GetName()]; was != nil {
			was.Metric = append(was.Metric, f.GetMetric()...)
			continue
		}
		all[f.GetName()] = f
	}
}

// openMetricsAsText removes what the text format does not have: exemplars, and
// timestamps, which have another unit.
func openMetricsAsText(body []byte) []byte {
	var out bytes.Buffer
	out.Grow(len(body))
	for line := range bytes.Lines(body) {
		line = bytes.TrimRight(line, "\r\n")
		if bytes.HasPrefix(line, []byte("#")) {
			line = plainType(line)
		} else if end := endOfLabels(line); end < len(line) {
			value := bytes.TrimLeft(line[end:], " ")
			if i := bytes.IndexByte(value, ' '); i >= 0 {
				line = line[:len(line)-len(value)+i]
			}
		}
		out.Write(line)
		out.WriteByte('\n')
	}
	return out.Bytes()
}

// plainType removes comments that the text format does not have, and gives the
// type of a counter the name of its series.
func plainType(line []byte) []byte {
	words := strings.Fields(string(line))
	if len(words) != 4 || words[1] != "TYPE" {
		return nil
	}
	switch words[3] {
	case "counter":
		return []byte("# TYPE " + words[2] + "_total counter")
	case "gauge", "histogram", "summary":
		return line
	}
	return nil
}

// endOfLabels returns the end of the name and the labels of a line.
func endOfLabels(line []byte) int {
	quoted, braces := false, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			braces = true
		case c == '}':
			return i + 1
		case c == ' ' && !braces:
			return i
		}
	}
	return len(line)
}

// find returns the family of a selector's name, and whether the name is that of
// the count of a histogram or summary.
func (f families) find(name string) (fam *dto.MetricFamily, count bool) {
	if fam = f[name]; fam != nil {
		return fam, false
	}
	if base, is := strings.CutSuffix(name, "_count"); is {
		if fam = f[base]; fam != nil && (fam.GetType() == dto.MetricType_HISTOGRAM || fam.GetType() == dto.MetricType_SUMMARY) {
			return fam, true
		}
	}
	return nil, false
}
