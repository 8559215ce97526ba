// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"bytes"
	"log/slog"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/common/expfmt"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/accept"
)

// answerFor is how long an answer is reused: its ages are older by that.
const answerFor = time.Second

// answers are the scrapes of the newest View, encoded and compressed once for all
// clients: several Prometheus servers of a redundant pair, and people.
type answers struct {
	mu     sync.Mutex
	view   *merge.View
	alarms *alarm.ActiveSet
	kept   map[answerKey]*answer
}

// answerKey identifies an answer of a View.
type answerKey struct {
	target target
	format expfmt.Format
	gzip   bool
}

// answer is one scrape. The first request makes it, and the others wait for it.
type answer struct {
	made   sync.Mutex
	at     time.Time // zero until it is made
	status int
	header http.Header
	body   *body
}

// body is memory for an answer, or for what becomes one. The last one who uses it gives it back.
type body struct {
	octets []byte
	users  atomic.Int32
}

// newBody returns an empty body with one user.
func (e *Exporter) newBody() *body {
	b, ok := e.bodies.Get().(*body)
	if !ok {
		b = &body{}
	}
	b.octets = b.octets[:0]
	b.users.Store(1)
	return b
}

// release ends a use of a body; nil is no body.
func (e *Exporter) release(b *body) {
	if b != nil && b.users.Add(-1) == 0 {
		e.bodies.Put(b)
	}
}

// size is the size of an answer, in bytes.
type size struct{ text, sent int }

// answerTo returns the entry of an answer, and drops those of an earlier View.
func (e *Exporter) answerTo(key answerKey) *answer {
	view, alarms := e.cfg.View(), e.cfg.Alarms()
	a := &e.answers
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.kept == nil || view != a.view || alarms != a.alarms {
		for _, dropped := range a.kept {
			if dropped.made.TryLock() { // otherwise it is being made, and its body is left to the garbage collector
				e.release(dropped.body)
				dropped.body, dropped.at = nil, time.Time{}
				dropped.made.Unlock()
			}
		}
		a.view, a.alarms, a.kept = view, alarms, make(map[answerKey]*answer)
	}
	found := a.kept[key]
	if found == nil {
		found = &answer{}
		a.kept[key] = found
	}
	return found
}

// serve returns a handler for the scrapes of a target.
func (e *Exporter) serve(t target) http.Handler {
	open := t
	open.openMetrics = true
	other, openMetrics := e.promhttp(t), e.promhttp(open)
	return e.kept(t, func(w *recorder, r *http.Request) {
		format, t, library := negotiated(r), t, other
		if format.FormatType() == expfmt.TypeOpenMetrics {
			t, library = open, openMetrics
		}
		if r.URL.Query().Has(filter) || !isOwnText(format) {
			library.ServeHTTP(w, r)
			return
		}
		e.writeText(w, format, t)
	})
}

// filter is the parameter of a query with the only families to show, which promhttp reads.
const filter = "name[]"

// isOwnText reports whether a format is written here. No escaping scheme changes our names.
func isOwnText(format expfmt.Format) bool {
	typ := format.FormatType()
	return typ == expfmt.TypeTextPlain || typ == expfmt.TypeOpenMetrics
}

// writeText writes the families of a target as text. Those that are not made from a View are
// encoded by package expfmt.
func (e *Exporter) writeText(w *recorder, format expfmt.Format, t target) {
	others, err := e.others(t)
	if err != nil {
		e.cfg.Log.Error("a collector failed; the rest is shown", "err", err)
	}
	form := e.texts[0]
	if t.openMetrics {
		form = e.texts[1]
	}
	w.body.octets = e.appendText(w.body.octets, form, t)
	var options []expfmt.EncoderOption
	if e.cfg.CreatedSamples {
		options = append(options, expfmt.WithCreatedLines())
	}
	encoder := expfmt.NewEncoder(w, format, options...)
	for _, family := range others {
		if err := encoder.Encode(family); err != nil {
			e.cfg.Log.Error("a family is not shown", "family", family.GetName(), "err", err)
		}
	}
	if last, is := encoder.(expfmt.Closer); is {
		_ = last.Close() // the recorder takes all
	}
	w.header.Set("Content-Type", string(format))
}

// appendText appends the families that are made from a View.
func (e *Exporter) appendText(dst []byte, form *textForm, t target) []byte {
	e.mu.Lock()
	defer e.mu.Unlock()
	form.buf = dst
	e.read(t, form, form)
	dst, form.buf = form.buf, nil
	return dst
}

// negotiated returns the format of the answer to a request.
func negotiated(r *http.Request) expfmt.Format {
	return expfmt.NegotiateAccept(r.Header, expfmt.DefaultOpenMetricsAcceptedFormats()...)
}

// kept returns a handler that reuses what encode made while it is fresh.
func (e *Exporter) kept(t target, encode func(*recorder, *http.Request)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := answerKey{t, negotiated(r), accept.Gzip(r.Header)}
		a := &answer{} // of some families, not kept
		if !r.URL.Query().Has(filter) {
			a = e.answerTo(key)
		}
		a.made.Lock()
		if now := e.cfg.Now(); a.at.IsZero() || now.Sub(a.at) >= answerFor || now.Before(a.at) || wantsFresh(r.Header) {
			text := e.answer(a, encode, r, key.gzip)
			a.at = now
			if t.allNets {
				e.answered.Store(&size{text, len(a.body.octets)})
			}
		}
		status, header, body := a.status, a.header, a.body
		body.users.Add(1)
		a.made.Unlock()
		defer e.release(body)
		maps.Copy(w.Header(), header)
		w.WriteHeader(status)
		if r.Method != http.MethodHead {
			_, _ = w.Write(body.octets) // fails only if the client is gone
		}
	})
}

// promhttp returns a handler that negotiates the format of a target's families and
// encodes them.
func (e *Exporter) promhttp(t target) http.Handler {
	return promhttp.HandlerForTransactional(gatherer{e, t}, promhttp.HandlerOpts{
		ErrorLog:                            slog.NewLogLogger(e.cfg.Log.Handler(), slog.LevelError),
		ErrorHandling:                       promhttp.ContinueOnError,
		EnableOpenMetrics:                   true,
		EnableOpenMetricsTextCreatedSamples: e.cfg.CreatedSamples,
		DisableCompression:                  true, // pack does that, faster
	})
}

// answer makes a again and returns its size before compression. Only a successful
// answer is compressed.
func (e *Exporter) answer(a *answer, encode func(*recorder, *http.Request), r *http.Request, packed bool) (text int) {
	w := &recorder{header: make(http.Header), status: http.StatusOK, body: e.newBody()}
	encode(w, r)
	e.release(a.body)
	a.status, a.header, a.body = w.status, w.header, w.body
	a.header.Add("Vary", "Accept-Encoding")
	a.header.Add("Vary", "Accept")
	text = len(w.body.octets)
	if packed && w.status == http.StatusOK {
		a.header.Set("Content-Encoding", "gzip")
		a.body = e.pack(w.body.octets)
		e.release(w.body)
	}
	a.header.Set("Content-Length", strconv.Itoa(len(a.body.octets)))
	return text
}

// pack compresses text for speed: the result is twice as large as the smallest
// one, in a quarter of the time.
func (e *Exporter) pack(text []byte) *body {
	packed := e.newBody()
	out := bytes.NewBuffer(packed.octets)
	zip, ok := e.zips.Get().(*gzip.Writer)
	if ok {
		zip.Reset(out)
	} else {
		zip, _ = gzip.NewWriterLevel(out, gzip.BestSpeed) // fails only for an invalid level
	}
	_, _ = zip.Write(text) // a Buffer never fails
	_ = zip.Close()
	e.zips.Put(zip)
	packed.octets = out.Bytes()
	return packed
}

// wantsFresh reports whether a client rejects a reused answer (RFC 9111 section
// 5.2.1.4).
func wantsFresh(h http.Header) bool {
	for _, line := range h.Values("Cache-Control") {
		for part := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(part), "no-cache") {
				return true
			}
		}
	}
	return false
}

// recorder is a ResponseWriter that keeps what is written to it.
type recorder struct {
	header http.Header
	status int
	body   *body
}

func (r *recorder) Header() http.Header    { return r.header }
func (r *recorder) WriteHeader(status int) { r.status = status }
func (r *recorder) Write(p []byte) (int, error) {
	r.body.octets = append(r.body.octets, p...)
	return len(p), nil
}
