package collect

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/measure/observe"
)

// answerTime is how long an answer may take.
const answerTime = 10 * time.Second

// source is a server that can be asked. Its error becomes the reason why an observer has no values, so its
// words are the same each time.
type source interface {
	ask(ctx context.Context) (reading, error)
}

// Collector asks for a test's observers until it is closed.
type Collector struct {
	began time.Time // the zero of its clock
	end   context.CancelFunc
	ends  sync.WaitGroup

	mu      sync.Mutex
	answers []observe.Answer
}

// Start asks for these observers, with the credentials that they name, until ctx ends, or Close.
func Start(ctx context.Context, observers []plan.Observer, credentials Folder) *Collector {
	return start(ctx, observers, func(o plan.Observer) func(context.Context) (reading,
		error) {
		return asking(o, credentials)
	})
}

func start(ctx context.Context, observers []plan.Observer, ask func(plan.Observer) func(context.Context) (reading,
	error)) *Collector {
	ctx, end := context.WithCancel(ctx)
	c := &Collector{began: time.Now(), end: end}
	for _, o := range observers {
		c.answers = append(c.answers, observe.Answer{Observer: o.Name, Missing: "there is no answer yet"})
	}
	for i, o := range observers {
		c.ends.Go(func() { c.follow(ctx, i, o, ask(o)) })
	}
	return c
}

// Close ends the asking.
func (c *Collector) Close() {
	c.end()
	c.ends.Wait()
}

// Answers returns the newest answer for each observer, and the time by the clock that their times are of.
func (c *Collector) Answers() (clock time.Duration, answers []observe.Answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Since(c.began), append(answers, c.answers...)
}

// Newest is what Answers returns, for an observer in the same process.
func (c *Collector) Newest() observe.Collected {
	clock, answers := c.Answers()
	return observe.Collected{Clock: clock, Answers: answers}
}

func (c *Collector) follow(ctx context.Context, i int, o plan.Observer, ask func(context.Context) (reading, error)) {
	a := asker{ask: ask, clock: func() time.Duration { return time.Since(c.began) }, o: o}
	for ctx.Err() == nil {
		began := a.clock()
		found := a.poll(ctx, func(first result) { c.keep(i, a.answer(first)) })
		if ctx.Err() != nil {
			return
		}
		c.keep(i, a.answer(found))
		if bounded.Pause(ctx, began+a.period()-a.clock()) != nil {
			return
		}
	}
}

func (c *Collector) keep(i int, a observe.Answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers[i] = a
}

// Check returns which of the observers' credentials can't be used, as far as that is known without a question
// to a server.
func Check(observers []plan.Observer, credentials Folder) error {
	var problems []error
	for _, o := range observers {
		if _, err := sourceOf(o, credentials, &agent{}); err != nil {
			problems = append(problems, fmt.Errorf("observer %s: %w", o.Name, err))
		}
	}
	return errors.Join(problems...)
}

// asking is how an observer's source is asked. It reads credentials anew each time, since they may be replaced
// while a test runs.
func asking(o plan.Observer, credentials Folder) func(context.Context) (reading, error) {
	var memory agent
	return func(ctx context.Context) (reading, error) {
		ctx, cancel := context.WithTimeout(ctx, answerTime)
		defer cancel()
		source, err := sourceOf(o, credentials, &memory)
		if err != nil {
			return reading{}, err
		}
		r, err := source.ask(ctx)
		switch {
		case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
			return reading{}, fmt.Errorf("%s did not answer within %s", o.Source(), answerTime)
		case err != nil:
			return reading{}, fmt.Errorf("%s: %w", o.Source(), err)
		}
		return r, nil
	}
}

// sourceOf is the server to ask for an observer. memory is what a reading remembers for the next one.
func sourceOf(o plan.Observer, credentials Folder, memory *agent) (source, error) {
	shown := credentials.secret(o.Secret())
	switch {
	case o.Prometheus != nil:
		return newPrometheus(*o.Prometheus, shown)
	case o.SNMP != nil:
		return newSNMP(*o.SNMP, shown, memory)
	case o.Redfish != nil:
		return newRedfish(*o.Redfish, shown)
	case o.SSH != nil:
		return newSSH(*o.SSH, o.Interval.Std(), shown, &memory.shell)
	case o.IPMI != nil:
		return newIPMI(*o.IPMI, shown)
	case o.VPP != nil:
		return newVPP(*o.VPP), nil
	}
	return nil, fmt.Errorf("this linerate asks nobody for observers of type %s", o.Type)
}
