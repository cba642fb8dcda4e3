package frames

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// orderError is that generators did not start traffic, or change its load, as they were told.
type orderError struct{ err error }

func (e *orderError) Error() string { return e.err.Error() }
func (e *orderError) Unwrap() error { return e.err }

// unsent is the Invalid window of a step whose load could not be sent because a link is down, or went down just before: no generator's fault, and the procedure goes on to what it does after such a window. Where no link explains it,
// the error stays one.
func (r *run) unsent(ctx context.Context, cause error) (*report.Window, error) {
	if _, refused := errors.AsType[*orderError](cause); !refused {
		return nil, cause
	}
	before, opened := maps.Clone(r.drive.links), time.Now()
	first, err := r.read(ctx)
	if err != nil {
		return nil, cause
	}
	link := r.changedLink(before)
	if link == "" {
		return nil, cause
	}
	r.drive.flowing = false
	if err := r.stopAll(ctx); err != nil { // those that had started
		return nil, err
	}
	rest, err := r.awaitStandstill(ctx, stillOnce, nil)
	if err != nil {
		return nil, err
	}
	r.observe(rest.readings, rest.limited)
	r.sample(rest.readings, time.Since(opened))
	span := measure.Span{Intended: r.drive.intended, Readings: measure.Pairwise(first, rest.readings)}
	w := measure.Judge(r.setup.Window(span).Void(fmt.Sprintf("the link %s was down, and no traffic could be started", link)), r.goal())
	w.Start = plan.Duration(opened.Sub(r.Started))
	r.observed(&w, 0)
	return &w, nil
}

// changedLink is a link that is down, or that changed its state since it was seen so; empty: all are as they were.
func (r *run) changedLink(before map[portOnLink]runner.LinkSeen) string {
	for _, key := range slices.SortedFunc(maps.Keys(r.drive.links), func(a, b portOnLink) int {
		return cmp.Or(cmp.Compare(a.generator, b.generator), cmp.Compare(a.link, b.link))
	}) {
		if is := r.drive.links[key]; !is.Up || is.Changes != before[key].Changes {
			return key.link
		}
	}
	return ""
}
