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
)

// see follows the suites to their end, or as long as there is time, and judges what there is then.
func (g *gateOptions) see(ctx context.Context, o Options, c *cluster, subjects []*gate.Subject, suites []client.Object, references *references) *report.Gate {
	ctx = context.WithoutCancel(ctx) // signals are this session's own
	signals, end := interrupts()
	defer end()
	s := newSession(c, o, suites, signals)
	s.board.quiet, s.onInterrupt, s.judges = g.quiet, g.onInterrupt, true
	limit := g.limit(subjects)
	within, stopWaiting := context.WithTimeout(ctx, limit)
	interrupted := s.run(within, g.patience)
	late := !interrupted && within.Err() != nil
	stopWaiting()
	words := make([]string, len(suites))
	for i, object := range s.objects {
		if suites[i] = object; late && !s.over[i] {
			words[i] = fmt.Sprintf("not over after %v, which --timeout may lengthen: %s", limit.Round(time.Second), momentOf(object).sentence())
		}
	}
	if late {
		s.do(ctx, g.onInterrupt)
	}
	verdict, unread := c.judge(ctx, g, subjects, suites, words, references, s.board)
	if err := exit.Worst(append(s.wrong, unread)...); err != nil {
		verdict.Doubt(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	if interrupted || s.stopping && !late {
		verdict.ExitCode, verdict.Outcome, verdict.Message = report.ExitInterrupted, report.Undecided, "interrupted: "+verdict.Message
	}
	return verdict
}

// limit is how long is waited: what is asked for, or what the longest of the suites may take.
func (g *gateOptions) limit(subjects []*gate.Subject) time.Duration {
	if g.timeout > 0 {
		return g.timeout
	}
	var sum time.Duration // they may all want the same devices
	for _, s := range subjects {
		sum += s.Bound
	}
	return sum
}

// judge reads what was stored of the suites, and judges it.
func (c *cluster) judge(ctx context.Context, g *gateOptions, subjects []*gate.Subject, suites []client.Object, words []string, references *references, board *board) (*report.Gate, error) {
	var all []gate.MeasuredSuite
	var wrong []error
	for i, object := range suites {
		s, is := object.(*v1alpha1.LoadTestSuite)
		if !is {
			continue
		}
		m := gate.MeasuredSuite{Suite: s, Name: subjects[i].Name, Test: subjects[i].Test, Witness: subjects[i].Witness, Message: words[i], Baseline: references.of(subjects[i]), Anchor: references.anchor}
		err := c.insist(ctx, g.patience, func(text string) { board.say("%s", text) }, func() (err error) {
			m.Runs, err = c.storedRuns(ctx, s)
			return err
		})
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", s.Name, err))
			m.Message = strings.TrimPrefix(m.Message+"; its runs can't be read", "; ")
		}
		all = append(all, m)
	}
	return gate.Judge(all, g.version), exit.Worst(wrong...)
}

// mostReadings is how often the runs of a suite that goes on are read: the operator may write its status a moment after them.
const mostReadings = 5

// storedRuns reads the copies of a suite's runs that the operator wrote.
func (c *cluster) storedRuns(ctx context.Context, s *v1alpha1.LoadTestSuite) (suite.Runs, error) {
	for reading := 1; ; reading++ {
		runs, err := c.copiedRuns(ctx, s)
		switch {
		case errors.Is(err, suite.ErrOtherCopies) && (endOf(s) != nil || reading == mostReadings):
			return nil, exit.NotMeasured("namespace %s: %w; somebody changed them: run the suite anew", s.Namespace, err)
		case !errors.Is(err, suite.ErrOtherCopies):
			return runs, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Second):
		}
		now := &v1alpha1.LoadTestSuite{}
		if err := c.client.Get(ctx, client.ObjectKeyFromObject(s), now); err != nil {
			return nil, fmt.Errorf("get suite %s: %w", s.Name, err)
		}
		s = now
	}
}

// copiedRuns reads the copies that a suite's status names.
func (c *cluster) copiedRuns(ctx context.Context, s *v1alpha1.LoadTestSuite) (suite.Runs, error) {
	var failed error // to ask for a copy
	runs, err := suite.Expand(s.DeepCopy()).ReadCopies(func(name string) (map[string][]byte, error) {
		at := client.ObjectKey{Namespace: s.Namespace, Name: name}
		kept := &corev1.ConfigMap{}
		if failed = client.IgnoreNotFound(c.client.Get(ctx, at, kept)); failed != nil && !passing(failed) {
			failed = c.explainReport(at, failed)
		}
		return kept.BinaryData, failed
	})
	if err != nil && failed == nil && !errors.Is(err, suite.ErrOtherCopies) {
		return nil, exit.NotMeasured("namespace %s: %w", s.Namespace, err)
	}
	return runs, err
}

// passing says that a request failed in a way that passes: the server is away, or has too much to do.
func passing(err error) bool { return unreachable(err) || overloaded(err) }

// insist does something again while it fails in a way that passes, for as long as patience has it. It must be the same to do it twice.
func (c *cluster) insist(ctx context.Context, patience time.Duration, say func(string), do func() error) error {
	away := outage{answered: true}
	for {
		begun := time.Now()
		err := do()
		switch {
		case err == nil:
			away.end(say)
			return nil
		case !passing(err) || errors.Is(err, context.Canceled):
			return err
		}
		if err := away.wait(ctx, begun, err, patience, say); err != nil {
			return err
		}
	}
}
