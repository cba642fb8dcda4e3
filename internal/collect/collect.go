// Package collect asks servers for vital signs, on behalf of a test's observers: a Prometheus server, an SNMP agent, a management controller, or VPP by its socket. Each is
// asked at the observer's own period, while traffic runs, in a goroutine of its own; readers take the newest answers without waiting.
//
//	Prometheus ◀─ query ──┐
//	SNMP agent ◀─ get ────┼── Collector ── Answers ──▶ the runner: in its process, or over the pods' network
//	Redfish    ◀─ GET ────┤      ▲
//	VPP        ◀─ map ────┘      │
//	                          credentials: files of the author's
package collect

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/observe"
	"github.com/linerate-dev/linerate/internal/pause"
	"github.com/linerate-dev/linerate/internal/plan"
)

// answerTime is how long an answer may take.
const answerTime = 10 * time.Second

// source is a server that can be asked. Its error becomes the reason why an observer has no values, so its words are the same each time.
type source interface {
	ask(ctx context.Context) ([]observe.Number, error)
}

// Collector asks for a test's observers until it is closed.
type Collector struct {
	began time.Time // the zero of its clock
	end   context.CancelFunc
	ends  sync.WaitGroup

	mu      sync.Mutex
	answers []observe.Answer
}

// Start begins to ask for these observers, with the credentials that they name; it goes on until ctx ends, or Close.
func Start(ctx context.Context, observers []plan.Observer, credentials Folder) *Collector {
	ctx, end := context.WithCancel(ctx)
	c := &Collector{began: time.Now(), end: end}
	for i, o := range observers {
		c.answers = append(c.answers, observe.Answer{Observer: o.Name, Missing: "there is no answer yet"})
		c.ends.Go(func() { c.follow(ctx, i, o, credentials) })
	}
	return c
}

// Close ends the asking.
func (c *Collector) Close() {
	c.end()
	c.ends.Wait()
}

// Answers returns the newest answer for each observer, and the time by the clock that their times are of.
func (c *Collector) Answers() (clock time.Duration, all []observe.Answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Since(c.began), append(all, c.answers...)
}

// Newest is what Answers returns, for an observer in the same process.
func (c *Collector) Newest() observe.Collected {
	clock, all := c.Answers()
	return observe.Collected{Clock: clock, Answers: all}
}

func (c *Collector) follow(ctx context.Context, i int, o plan.Observer, credentials Folder) {
	for ctx.Err() == nil {
		asked := time.Now()
		numbers, err := ask(ctx, o, credentials)
		if ctx.Err() != nil {
			return
		}
		took := time.Since(asked)
		answer := observe.Answer{Observer: o.Name, At: asked.Sub(c.began) + took/2, Took: took, Numbers: numbers}
		if err != nil {
			answer.Numbers, answer.Missing = nil, err.Error()
		}
		c.mu.Lock()
		c.answers[i] = answer
		c.mu.Unlock()
		if pause.Until(ctx, asked.Add(o.Every.Std())) != nil {
			return
		}
	}
}

// ask asks once. It reads credentials anew, since they may be replaced while a test runs.
func ask(ctx context.Context, o plan.Observer, credentials Folder) ([]observe.Number, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	source, err := sourceOf(o, credentials)
	if err != nil {
		return nil, err
	}
	numbers, err := source.ask(ctx)
	switch {
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("%s did not answer within %s", addressOf(o), answerTime)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", addressOf(o), err)
	}
	return numbers, nil
}

// sourceOf is the server to ask for an observer.
func sourceOf(o plan.Observer, credentials Folder) (source, error) {
	shown := credentials.of(o.Secret())
	switch {
	case o.Prometheus != nil:
		return newPrometheus(*o.Prometheus, shown)
	case o.SNMP != nil:
		return newSNMP(*o.SNMP, shown)
	case o.Redfish != nil:
		return newRedfish(*o.Redfish, shown)
	case o.VPP != nil:
		return newVPP(*o.VPP), nil
	}
	return nil, fmt.Errorf("this linerate asks nobody for observers of type %s", o.Type)
}

// addressOf names the server that answers for an observer: its address, or its socket.
func addressOf(o plan.Observer) string {
	switch {
	case o.Prometheus != nil:
		return o.Prometheus.URL
	case o.SNMP != nil:
		return o.SNMP.Address
	case o.Redfish != nil:
		return o.Redfish.URL
	case o.VPP != nil:
		return o.VPP.Socket
	}
	return o.Name
}
