package kubectl

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/gate"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/bounded"
)

// follow follows the suites to their end, or until the time limit, and judges what was measured by then.
func (g *gateOptions) follow(
	ctx context.Context, o Options, c *cluster, subjects []*gate.Subject, suites []client.Object,
	references *references,
) *report.Gate {
	ctx = context.WithoutCancel(ctx) // the session handles signals itself
	signals, end := interrupts()
	defer end()
	s := newSession(c, o, suites, signals)
	s.board.quiet, s.onInterrupt, s.judges = g.quiet, g.onInterrupt, true
	limit := g.limit(subjects)
	limited, stopWaiting := context.WithTimeout(ctx, limit)
	interrupted := s.run(limited, g.patience)
	late := !interrupted && limited.Err() != nil
	stopWaiting()
	remarks := make([]string, len(suites))
	for i, object := range s.objects {
		if suites[i] = object; late && !s.finished[i] {
			remarks[i] = fmt.Sprintf("not over after %v, which --timeout may lengthen: %s",
				limit.Round(time.Second), momentOf(object).sentence())
		}
	}
	if late {
		s.act(ctx, g.onInterrupt)
	}
	measured, unread := g.readRuns(ctx, reports{c, o.Stderr}, subjects, suites, s.board)
	for i := range measured {
		m := &measured[i]
		m.Message = strings.TrimPrefix(remarks[i]+m.Message, "; ")
		m.Baseline, m.Anchor = references.forSubject(subjects[i]), references.anchor
	}
	verdict := gate.Judge(measured, g.version)
	if err := exit.Worst(append(s.errs, unread)...); err != nil {
		verdict.Doubt(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	if interrupted || s.stopping && !late {
		verdict.ExitCode, verdict.Outcome = report.ExitInterrupted, report.Undecided
		verdict.Message = "interrupted: " + verdict.Message
	}
	return verdict
}

// limit is how long the gate waits. It is --timeout, or the sum of what the suites may take, since all may need the
// same devices.
func (g *gateOptions) limit(subjects []*gate.Subject) time.Duration {
	if g.timeout > 0 {
		return g.timeout
	}
	var sum time.Duration
	for _, s := range subjects {
		sum += s.Bound
	}
	return sum
}

// readRuns reads the runs of all suites. A suite whose runs can't be read says so in its message, and in the error.
func (g *gateOptions) readRuns(
	ctx context.Context, r reports, subjects []*gate.Subject, suites []client.Object, board *board,
) ([]gate.MeasuredSuite, error) {
	measured := make([]gate.MeasuredSuite, len(suites))
	var errs []error
	for i, object := range suites {
		s, _ := object.(*v1alpha1.LoadTestSuite)
		m := gate.MeasuredSuite{Suite: s, Name: subjects[i].Name, Test: subjects[i].Test, Witness: subjects[i].Witness}
		err := insist(ctx, g.patience, func(text string) { board.say("%s", text) }, func() (err error) {
			m.Runs, err = r.runsOf(ctx, s)
			return err
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.Name, err))
			m.Message = "; its runs can't be read"
		}
		measured[i] = m
	}
	return measured, exit.Worst(errs...)
}

// maxReadings is how often the runs of a suite that goes on are read. The operator may write the suite's status
// a moment after its runs.
const maxReadings = 5

// runsOf reads the copies of a suite's runs that the operator wrote.
func (r reports) runsOf(ctx context.Context, s *v1alpha1.LoadTestSuite) (suite.Runs, error) {
	for reading := 1; ; reading++ {
		runs, err := r.copiedRuns(ctx, s)
		switch {
		case !errors.Is(err, suite.ErrOtherCopies):
			return runs, err
		case endOf(s) != nil || reading == maxReadings:
			return nil, exit.NotMeasured("namespace %s: %w; somebody changed them: run the suite anew", s.Namespace,
				err)
		}
		if err := bounded.Pause(ctx, time.Second); err != nil {
			return nil, err
		}
		latest := &v1alpha1.LoadTestSuite{}
		if err := r.client.Get(ctx, client.ObjectKeyFromObject(s), latest); err != nil {
			return nil, fmt.Errorf("get suite %s: %w", s.Name, err)
		}
		s = latest
	}
}

// copiedRuns reads the copies that a suite's status names.
func (r reports) copiedRuns(ctx context.Context, s *v1alpha1.LoadTestSuite) (suite.Runs, error) {
	var getErr error
	runs, err := suite.Expand(s.DeepCopy()).ReadCopies(func(name string) (map[string][]byte, error) {
		key := client.ObjectKey{Namespace: s.Namespace, Name: name}
		object := &corev1.ConfigMap{}
		getErr = client.IgnoreNotFound(r.client.Get(ctx, key, object))
		if getErr != nil && !transient(getErr) {
			getErr = r.explainRead(key, getErr)
		}
		return object.BinaryData, getErr
	})
	if err != nil && getErr == nil && !errors.Is(err, suite.ErrOtherCopies) {
		return nil, exit.NotMeasured("namespace %s: %w", s.Namespace, err)
	}
	return runs, err
}

// transient reports whether a request may succeed later, since the server is away or overloaded.
func transient(err error) bool { return unreachable(err) || overloaded(err) }

// insist repeats an idempotent request while its error is transient, for at most patience.
func insist(ctx context.Context, patience time.Duration, say func(string), request func() error) error {
	away := outage{answered: true}
	for {
		start := time.Now()
		err := request()
		switch {
		case err == nil:
			away.end(say)
			return nil
		case !transient(err) || errors.Is(err, context.Canceled):
			return err
		}
		if err := away.wait(ctx, start, err, patience, say); err != nil {
			return err
		}
	}
}
