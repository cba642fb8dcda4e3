package vitals

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/document/intake"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/host/credential"
)

// The bounds of asking.
const (
	askEvery   = 125 * time.Millisecond // a window of a second has samples within a quarter of it
	askTimeout = time.Second            // a late answer does no harm, as its clock says when it was read
	mostAnswer = 1 << 20                // bytes, enough for several thousand processors
)

// ofAnswers are the limits of an answer, since two bytes of it could become a hundred of memory.
var ofAnswers = intake.Limits{Bytes: mostAnswer, Memory: 16 << 20, Depth: 16}

// Follower asks a machine for its vital signs, again and again, until it is closed. Newest returns the last
// answer without waiting.
type Follower struct {
	address string
	signs   func() []string // the types to ask for now, nil for none
	client  *http.Client
	end     context.CancelFunc
	ended   chan struct{}

	mu      sync.Mutex
	newest  Reading
	heard   time.Time // when last arrived
	trouble error     // why the last question got no answer, nil if it got one
}

// Follow follows the server at host:port until ctx ends, or Close. It proves the key to the server, unless the
// key is zero. signs returns the types of vital signs to ask for, each time anew. Nil asks for none.
func Follow(ctx context.Context, address string, key credential.Key, signs func() []string) *Follower {
	ctx, end := context.WithCancel(ctx)
	f := &Follower{address: address, signs: signs, end: end, ended: make(chan struct{}),
		trouble: errors.New("it has not answered yet"),
		client: &http.Client{Timeout: askTimeout, CheckRedirect: func(*http.Request,
			[]*http.Request) error {
			return http.ErrUseLastResponse
		},
			Transport: &http.Transport{DialContext: dialer(key), MaxConnsPerHost: 1,
				MaxResponseHeaderBytes: mostHeader}}}
	go f.follow(ctx)
	return f
}

func dialer(key credential.Key) func(ctx context.Context, _, address string) (net.Conn, error) {
	return func(ctx context.Context, _, address string) (net.Conn, error) {
		return key.Dial(ctx, credential.Vitals, address)
	}
}

// Close ends the asking.
func (f *Follower) Close() {
	f.end()
	<-f.ended
	f.client.CloseIdleConnections()
}

// Refresh asks at once, and waits for the answer until ctx ends.
func (f *Follower) Refresh(ctx context.Context) {
	if reading, err := f.ask(ctx); err == nil { // an error is found by the next question, too
		f.keep(reading, nil)
	}
}

// Newest returns the last answer, how long ago it arrived, and why there is no newer one. The reason is empty
// if the machine answers.
func (f *Follower) Newest() (r Reading, age time.Duration, missing string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.trouble != nil {
		missing = fmt.Sprintf("%s did not answer: %v", f.address, f.trouble)
	}
	if f.newest.Version == "" {
		return Reading{}, 0, missing
	}
	return f.newest, time.Since(f.heard), missing
}

func (f *Follower) follow(ctx context.Context) {
	defer close(f.ended)
	for ctx.Err() == nil {
		asked := time.Now()
		reading, err := f.ask(ctx)
		f.keep(reading, err)
		if bounded.PauseUntil(ctx, asked.Add(askEvery)) != nil {
			return
		}
	}
}

func (f *Follower) keep(r Reading, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.trouble = err
	if err == nil {
		f.newest, f.heard = r, time.Now()
	}
}

// ask is one question.
func (f *Follower) ask(ctx context.Context) (r Reading, err error) {
	target := url.URL{Scheme: "http", Host: f.address, Path: path}
	var asked []string
	if f.signs != nil {
		asked = f.signs()
	}
	if len(asked) > 0 {
		target.RawQuery = wanted + "=" + strings.Join(asked, ",")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return r, err
	}
	answer, err := f.client.Do(request)
	if err != nil {
		return r, plainly(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswer+1))
	switch {
	case err != nil:
		return r, plainly(err)
	case len(body) > mostAnswer:
		return r, fmt.Errorf("its answer has more than %d bytes", mostAnswer)
	case answer.StatusCode != http.StatusOK:
		return r, fmt.Errorf("it answered %s: %.200q", answer.Status, body)
	}
	if err := intake.JSON(body, &r, ofAnswers); err != nil {
		return Reading{}, fmt.Errorf("its answer can't be read: %w", err)
	}
	if r.Version != Version {
		return Reading{}, fmt.Errorf("its answer is of version %.80q, and %q is wanted: use one linerate for both",
			r.Version, Version)
	}
	r.Asked = asked
	return r, nil
}

// plainly is why a question got no answer, in words that stay the same. A client's own error names another port
// each time.
func plainly(err error) error {
	var operation *net.OpError
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no answer within %s; can the runner's pod reach that port?", askTimeout)
	case errors.As(err, &operation):
		return fmt.Errorf("%s: %w", operation.Op, operation.Err)
	}
	return err
}
