package sessions

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/linerate-dev/linerate/internal/document/intake"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/host/credential"
)

// answerTimeout is how long an end may take to answer a request that needs no network. Other requests have
// connectTimeout in addition.
const answerTimeout = 3 * time.Second

// longestLine bounds a request and an answer, in bytes. The vital signs of a machine with several thousand processors
// fit in. Without this bound, an end that never ends its answer would fill the runner's memory.
const longestLine = 1 << 20

// ofLines are the limits of a request or an answer. A line of two-byte elements would become a thousand times as much
// memory.
var ofLines = intake.Limits{Bytes: longestLine, Memory: 16 << 20, Depth: 16}

// lines are a peer's requests or answers, each a line of JSON.
type lines struct {
	limited  *io.LimitedReader // of the connection, for one line
	buffered *bufio.Reader     // of limited
}

func newLines(conn io.Reader) *lines {
	limited := &io.LimitedReader{R: conn}
	return &lines{limited, bufio.NewReader(limited)}
}

// errServerBusy says that the server of a test runs another one.
var errServerBusy = errors.New("somebody else uses the server")

// errLong is the error of a line that has more bytes than any request or answer.
var errLong = fmt.Errorf("it has more than %d bytes", longestLine)

// next reads a line, and decodes it within bounds.
func (l *lines) next(target any) error {
	l.limited.N = longestLine
	line, err := l.buffered.ReadBytes('\n')
	switch {
	case err != nil && l.limited.N <= 0:
		return errLong
	case err != nil:
		return err
	}
	return intake.JSON(line, target, ofLines)
}

// remote is the driver's connection to one end. It is used by one goroutine at a time.
type remote struct {
	conn    net.Conn
	answers *lines // of conn
	welcome Welcome
}

func newRemote(conn net.Conn) *remote { return &remote{conn: conn, answers: newLines(conn)} }

// meet connects to an end and becomes its driver.
func meet(ctx context.Context, server string, key credential.Key, link string, force bool) (*remote, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, answerTimeout, engine.ErrSilent)
	defer cancel()
	conn, err := key.Dial(ctx, credential.Control, server)
	if err != nil {
		return nil, fmt.Errorf("reach the end of link %s at %s: %w", link, server, errors.Join(engine.ErrLost, err))
	}
	r := newRemote(conn)
	a, err := r.ask(ctx, answerTimeout, request{Verb: doHello, Hello: &hello{Version: Version, Link: link,
		Force: force}})
	if err == nil && a.Welcome == nil {
		err = fmt.Errorf("%w: it doesn't say who it is", engine.ErrIncompatible)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the end of link %s at %s: %w", link, server, err), conn.Close())
	}
	r.welcome = *a.Welcome
	return r, nil
}

// ask sends a request, and waits for the answer until ctx ends, at most for patience. An end that doesn't answer is
// lost, so that no conclusion may be drawn from its silence.
func (r *remote) ask(ctx context.Context, patience time.Duration, q request) (answer, error) {
	deadline := time.Now().Add(patience)
	if end, ok := ctx.Deadline(); ok && end.Before(deadline) {
		deadline = end
	}
	stop := context.AfterFunc(ctx, func() { _ = r.conn.SetDeadline(time.Now()) })
	defer stop()
	line, err := json.Marshal(q)
	if err != nil {
		return answer{}, err
	}
	if err := r.conn.SetDeadline(deadline); err != nil {
		return answer{}, fmt.Errorf("%w: %w", engine.ErrLost, err)
	}
	var a answer
	if _, err = r.conn.Write(append(line, '\n')); err == nil {
		err = r.answers.next(&a)
	}
	_, heavy := errors.AsType[intake.Exceeded](err)
	switch {
	case err != nil && ctx.Err() != nil:
		return answer{}, context.Cause(ctx)
	case errors.Is(err, errLong) || heavy:
		return answer{}, fmt.Errorf("%w: its answer is none that an end of linerate's gives, look at what listens at "+
			"its address: %w", engine.ErrLost, err)
	case err != nil:
		return answer{}, fmt.Errorf("%w: %w", engine.ErrLost, err)
	case a.Busy:
		return answer{}, fmt.Errorf("%w: %s", engine.ErrTaken, a.Error)
	case a.ServerBusy:
		return answer{}, fmt.Errorf("%w: %s", errServerBusy, a.Error)
	case a.Error != "" && a.Path:
		return answer{}, unansweredError(a.Error)
	case a.Error != "":
		return answer{}, errors.New(a.Error)
	}
	return a, nil
}
