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

// Version is the kind and version of the answer; who asks refuses others.
const Version = "linerate.dev/reset.v1alpha1"

// The bounds of asking.
const (
	connectTime = 10 * time.Second // with the proof of the key
	mostAnswer  = 64 << 10         // bytes
	mostHeader  = 1 << 10          // bytes, of an answer
	mostWords   = 512              // bytes, of what the answer says
)

// Done is what a reset did.
type Done struct {
	Version string `json:"version"`
	// Did is what ran, or what was removed.
	Did  string        `json:"did"`
	Took time.Duration `json:"took"` // nanoseconds
}

// Handler has the device reset, one at a time.
type Handler struct {
	// Reset resets the device, and says what it did. It ends when its context does, which is when nobody waits for the answer any more.
	Reset func(context.Context) (did string, err error)

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
	did, err := h.Reset(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(Done{Version: Version, Did: did, Took: time.Since(began)}) // a caller that is gone needs no answer
}

// Ask has the device reset by the handler at host:port, to which it proves the key, and waits until it is. ctx bounds it.
func Ask(ctx context.Context, address string, key credential.Key) (done Done, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+Path, nil)
	if err != nil {
		return done, fmt.Errorf("ask %s to reset the device: %w", address, err)
	}
	dial := func(ctx context.Context, _, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, connectTime)
		defer cancel()
		return key.Dial(ctx, credential.Vitals, address)
	}
	transport := &http.Transport{DialContext: dial, DisableKeepAlives: true, MaxResponseHeaderBytes: mostHeader}
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(request)
	if err != nil {
		return done, fmt.Errorf("ask %s to reset the device: %w; can the runner's pod reach that port?", address, plainly(err))
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswer))
	switch {
	case err != nil:
		return done, fmt.Errorf("ask %s to reset the device: %w", address, plainly(err))
	case answer.StatusCode == http.StatusInternalServerError:
		return done, errors.New(short(string(body))) // the reset's own words
	case answer.StatusCode != http.StatusOK:
		return done, fmt.Errorf("ask %s to reset the device: it answered %s: %.200q", address, short(answer.Status), body)
	}
	if err := intake.JSON(body, &done, intake.Limits{Bytes: mostAnswer, Memory: 16 * mostAnswer, Depth: 4}); err != nil {
		return Done{}, fmt.Errorf("ask %s to reset the device: its answer can't be read: %w", address, err)
	}
	if done.Version != Version {
		return Done{}, fmt.Errorf("ask %s to reset the device: it answers in %.80q, and %q is wanted: use one linerate for both", address, done.Version, Version)
	}
	done.Did = short(done.Did)
	return done, nil
}

// short is what somebody else's pod says, without what would drive a terminal, and no longer than it is of use.
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
	if at, ok := errors.AsType[*net.OpError](err); ok {
		return fmt.Errorf("%s: %w", at.Op, at.Err)
	}
	return err
}
