package reset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/linerate-dev/linerate/internal/document/intake"
	"github.com/linerate-dev/linerate/internal/host/credential"
)

// Path is where a reset is asked for, by POST.
const Path = "/reset"

// Version is the kind and version of the answer. A client refuses others.
const Version = "linerate.dev/reset.v1alpha1"

// The bounds of asking.
const (
	connectTime = 10 * time.Second // with the proof of the key
	mostAnswer  = 64 << 10         // bytes
	mostHeader  = 1 << 10          // bytes, of an answer
	mostWords   = 512              // bytes, of what the answer says
)

// Result is what a reset did.
type Result struct {
	Version string `json:"version"`
	// Report is what ran, or what was removed.
	Report string        `json:"did"`
	Took   time.Duration `json:"took"` // nanoseconds
}

// Handler has the device reset, one at a time.
type Handler struct {
	// Reset resets the device, and says what it did. Its context ends when the client no longer waits for the answer.
	Reset func(context.Context) (report string, err error)

	busy sync.Mutex
}

// ServeHTTP resets, and answers when that is done.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.busy.TryLock() {
		http.Error(w, "it is being reset already", http.StatusConflict)
		return
	}
	defer h.busy.Unlock()
	// The reset has a bound of its own, which those of a short question don't know.
	control := http.NewResponseController(w)
	if err := errors.Join(control.SetReadDeadline(time.Time{}), control.SetWriteDeadline(time.Time{})); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	began := time.Now()
	report, err := h.Reset(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	// a caller that is gone needs no answer
	_ = json.NewEncoder(w).Encode(Result{Version: Version, Report: report, Took: time.Since(began)})
}

// Ask has the device reset by the handler at host:port, to which it proves the key, and waits until the reset
// is done. ctx bounds it.
func Ask(ctx context.Context, address string, key credential.Key) (result Result, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+Path, nil)
	if err != nil {
		return result, fmt.Errorf("ask %s to reset the device: %w", address, err)
	}
	dial := func(ctx context.Context, _, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, connectTime)
		defer cancel()
		return key.Dial(ctx, credential.Vitals, address)
	}
	transport := &http.Transport{DialContext: dial, DisableKeepAlives: true, MaxResponseHeaderBytes: mostHeader}
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request,
		[]*http.Request) error {
		return http.ErrUseLastResponse
	}}
	answer, err := client.Do(request)
	if err != nil {
		return result, fmt.Errorf("ask %s to reset the device: %w; can the runner's pod reach that port?", address,
			plainly(err))
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswer))
	switch {
	case err != nil:
		return result, fmt.Errorf("ask %s to reset the device: %w", address, plainly(err))
	case answer.StatusCode == http.StatusInternalServerError:
		return result, errors.New(short(string(body))) // the reset's own words
	case answer.StatusCode != http.StatusOK:
		return result, fmt.Errorf("ask %s to reset the device: it answered %s: %.200q", address, short(answer.Status),
			body)
	}
	if err := intake.JSON(body, &result, intake.Limits{Bytes: mostAnswer, Memory: 16 * mostAnswer,
		Depth: 4}); err != nil {
		return Result{}, fmt.Errorf("ask %s to reset the device: its answer can't be read: %w", address, err)
	}
	if result.Version != Version {
		return Result{}, fmt.Errorf("ask %s to reset the device: it answers in %.80q, and %q is wanted: use one "+
			"linerate for both", address, result.Version, Version)
	}
	result.Report = short(result.Report)
	return result, nil
}

// short is another pod's text, bounded, and without what would drive a terminal.
func short(words string) string {
	words = strings.TrimSpace(strings.Map(func(c rune) rune {
		switch {
		case unicode.IsSpace(c):
			return ' '
		case unicode.IsControl(c):
			return -1
		}
		return c
	}, words))
	if len(words) <= mostWords {
		return words
	}
	return strings.ToValidUTF8(words[:mostWords-len("…")], "") + "…"
}

// plainly is an error of asking without the address, which stands before it.
func plainly(err error) error {
	if operation, ok := errors.AsType[*net.OpError](err); ok {
		return fmt.Errorf("%s: %w", operation.Op, operation.Err)
	}
	return err
}
