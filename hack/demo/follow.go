package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// patience bounds the wait for all trials; each has deadlines of its own.
const patience = 20 * time.Minute

// follow creates the trials in their turn, and draws them until all are complete.
func (l *demoCluster) follow(ctx context.Context, trials []*trial) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience,
		fmt.Errorf("the LoadTests aren't complete after %v: see kubectl describe", patience))
	defer cancel()
	events := make(chan *v1alpha1.LoadTest)
	var watching sync.WaitGroup
	watching.Go(func() { l.watch(ctx, events) })
	defer func() { cancel(); watching.Wait() }()
	v := newView(l.stderr)
	defer v.close()
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		if err := l.createNext(ctx, trials); err != nil {
			return err
		}
		v.show(trials, time.Now())
		if !slices.ContainsFunc(trials, func(t *trial) bool { return !t.complete() }) {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-second.C:
		case test := <-events:
			take(trials, test)
		}
	}
}

// take notes a LoadTest if it is one of the trials'.
func take(trials []*trial, test *v1alpha1.LoadTest) {
	for _, t := range trials {
		if t.loadTest != nil && t.loadTest.UID == test.UID {
			t.loadTest = test
		}
	}
}

// createNext creates the next trial once all others have their places: of two that are created at once, each
// might get half of what it needs.
func (l *demoCluster) createNext(ctx context.Context, trials []*trial) error {
	for _, t := range trials {
		if t.loadTest == nil {
			return l.create(ctx, t)
		}
		if !t.placed() {
			return nil
		}
	}
	return nil
}

// watch passes on each LoadTest that is new or has changed, until the context ends. What breaks it off is waited out.
func (l *demoCluster) watch(ctx context.Context, events chan<- *v1alpha1.LoadTest) {
	for ctx.Err() == nil {
		err := l.watchOnce(ctx, events)
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
			if err != nil {
				l.say("watching: %v", err)
			}
		}
	}
}

func (l *demoCluster) watchOnce(ctx context.Context, events chan<- *v1alpha1.LoadTest) error {
	cmd := l.program(ctx, "kubectl", "get", "loadtests", "--namespace", namespace, "--watch", "--output", "json")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	documents := json.NewDecoder(stdout)
	for {
		test := &v1alpha1.LoadTest{}
		if err = documents.Decode(test); err != nil {
			break
		}
		select {
		case <-ctx.Done():
			return cmd.Wait()
		case events <- test:
		}
	}
	return errors.Join(err, cmd.Wait())
}
