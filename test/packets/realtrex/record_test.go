//go:build trex

package realtrex

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"sync"
)

// recorder writes each exchange as one line of JSON. A client logs a request and then its answer, and has one under way at a time.
type recorder struct {
	mu      sync.Mutex
	out     io.Writer
	note    string
	request json.RawMessage
}

type line struct {
	Note     string          `json:"note,omitempty"`
	Request  json.RawMessage `json:"req"`
	Response json.RawMessage `json:"resp"`
}

func (r *recorder) head(note string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note = note
}

func (r *recorder) Enabled(context.Context, slog.Level) bool { return true }
func (r *recorder) WithAttrs([]slog.Attr) slog.Handler       { return r }
func (r *recorder) WithGroup(string) slog.Handler            { return r }

func (r *recorder) Handle(_ context.Context, record slog.Record) error {
	body := json.RawMessage("null")
	record.Attrs(func(a slog.Attr) bool {
		if a.Key == "body" {
			body = json.RawMessage(a.Value.String())
		}
		return true
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	if record.Message == "rpc request" {
		r.request = body
		return nil
	}
	text, err := json.Marshal(line{r.note, r.request, body})
	if err == nil {
		_, err = r.out.Write(append(text, '\n'))
	}
	return err
}
