// Package collect asks others for vital signs, on behalf of a test's observers: a Prometheus server, an SNMP agent, a management controller over the network, a VPP by its socket. Each is asked at
// the observer's own period, beside the traffic and in a goroutine of its own; whoever wants the answers takes the newest and waits for nobody.
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

// source is somebody who is asked. Its error is what an observer is missing for, in words that don't change from one time to the next.
type source interface {
	ask(ctx context.Context) ([]observe.Number, error)
}

// Collector asks until it is closed.
type Collector struct {
	began time.Time // of its clock
	end   context.CancelFunc
	ends  sync.WaitGroup

	mu      sync.Mutex
	answers []observe.Answer
}

// Start begins to ask for these observers, with the credentials that they name, until ctx ends, or Close.
func Start(ctx context.Context, observers []plan.Observer, credentials Folder) *Collector {
	ctx, end := context.WithCancel(ctx)
	c := &Collector{began: time.Now(), end: end}
	for i, o := range observers {
		c.answers = append(c.answers, observe.Answer{Observer: o.Name, Missing: "it was not answered yet"})
		c.ends.Go(func() { c.follow(ctx, i, o, credentials) })
	}
	return c
}

// Close ends the asking.
func (c *Collector) Close() {
	c.end()
	c.ends.Wait()
}

// Answers are the newest of each observer, and the time by the clock that they are told by.
func (c *Collector) Answers() (clock time.Duration, all []observe.Answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Since(c.began), append(all, c.answers...)
}

// Told is what the collector tells within its own process.
func (c *Collector) Told() observe.Collected {
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

// ask is one question. Credentials are read anew, as they may be exchanged while a test runs.
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
		return nil, fmt.Errorf("%s did not answer within %s", whom(o), answerTime)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", whom(o), err)
	}
	return numbers, nil
}

// sourceOf is who is asked for an observer.
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

// whom says who is asked.
func whom(o plan.Observer) string {
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
