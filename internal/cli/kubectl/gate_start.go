package kubectl

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/gate"
	"github.com/linerate-dev/linerate/internal/compile/admission"
	"github.com/linerate-dev/linerate/internal/document/exit"
)

// gateSuites finds or creates the suites that a gate judges.
type gateSuites struct {
	*cluster
	patience time.Duration
	say      func(string)
}

// ensure finds or creates each subject's suite. It creates nothing unless the server would accept all of them.
func (g gateSuites) ensure(ctx context.Context, subjects []*gate.Subject) ([]client.Object, error) {
	var errs []error
	for _, s := range subjects {
		_, _, err := g.suiteFor(ctx, s, true)
		errs = append(errs, g.explainCreate(s, err))
	}
	if err := exit.Worst(errs...); err != nil {
		return nil, err
	}
	suites := make([]client.Object, len(subjects))
	for i, s := range subjects {
		err := insist(ctx, g.patience, g.say, func() error {
			existing, found, err := g.suiteFor(ctx, s, false)
			if err == nil {
				suites[i] = existing
				g.say(foundSentence(existing, found, time.Now()))
			}
			return err
		})
		if err != nil {
			return nil, g.explainCreate(s, err)
		}
	}
	return suites, nil
}

// explainCreate explains an error that isn't explained yet.
func (g gateSuites) explainCreate(s *gate.Subject, err error) error {
	if _, explained := errors.AsType[*exit.Error](err); err == nil || explained {
		return err
	}
	return g.explainOf(v1alpha1.LoadTestSuiteKind, "create", client.ObjectKeyFromObject(s.Suite), err)
}

// suiteFor returns the suite of a subject's content. It is one that runs or was measured, or a new one. Suites of this
// content that ended without a measurement stay beside it.
//
//	router-3f9a1c2    Stopped       ─┐ ended without a measurement
//	router-3f9a1c2-2  NotMeasured   ─┘
//	router-3f9a1c2-3  Running       ─▶ this one; were it not there, it would be made
func (g gateSuites) suiteFor(
	ctx context.Context, s *gate.Subject, dryRun bool,
) (existing *v1alpha1.LoadTestSuite, found bool, err error) {
	for n := range gate.MaxTries {
		want := s.Suite.DeepCopy()
		want.Name = gate.Try(s.Suite.Name, n+1)
		existing, found, err = g.findOrCreate(ctx, want, dryRun)
		if err != nil || !found || !endedUnmeasured(existing) {
			return existing, found, err
		}
	}
	return nil, false, exit.BadInput("%d suites of this content came to nothing: kubectl linerate report suite/%[2]s "+
		"-n %[3]s says why of the last; "+
		"--name-suffix makes another, and kubectl delete loadtestsuite %[2]s -n %[3]s makes room", gate.MaxTries,
		existing.Name, existing.Namespace)
}

// findOrCreate creates a suite, or returns the existing one with this content, so that a lost answer to a
// creation does no harm. The annotation is only its author's claim, and whoever may create suites knows the
// name. So each field of the existing spec is compared with the file's.
func (g gateSuites) findOrCreate(
	ctx context.Context, want *v1alpha1.LoadTestSuite, dryRun bool,
) (existing *v1alpha1.LoadTestSuite, found bool, err error) {
	key := client.ObjectKeyFromObject(want)
	var opts []client.CreateOption
	if dryRun {
		opts = append(opts, client.DryRunAll)
	}
	err = g.client.Create(ctx, want, opts...)
	switch {
	case err == nil:
		return want, false, nil
	case !apierrors.IsAlreadyExists(err):
		return nil, false, g.explainPermanent("create", key, err)
	}
	existing = &v1alpha1.LoadTestSuite{}
	if err := g.client.Get(ctx, key, existing); err != nil {
		return nil, false, g.explainPermanent("get", key, err)
	}
	field, differs := admission.OtherSpec(want, existing)
	switch {
	case existing.Annotations[v1alpha1.AnnotationGate] == "":
		return nil, false, exit.BadInput("LoadTestSuite %s exists in namespace %s, and no gate made it: choose "+
			"another end of the name with --name-suffix",
			key.Name, key.Namespace)
	case existing.Annotations[v1alpha1.AnnotationGate] != want.Annotations[v1alpha1.AnnotationGate]:
		return nil, false, exit.BadInput("LoadTestSuite %s exists in namespace %s, and measures something else; a "+
			"suite can't be changed: "+
			"choose another --name-suffix, or leave it out, so that each content has a name of its own", key.Name,
			key.Namespace)
	case differs:
		return nil, false, exit.BadInput("LoadTestSuite %[1]s in namespace %[2]s says that it measures this, and its "+
			"%[3]s is another: "+
			"somebody else made it, or a webhook of the cluster's or definitions of another release changed it; "+
			"--name-suffix makes one of another name, and kubectl delete loadtestsuite %[1]s -n %[2]s makes room",
			key.Name, key.Namespace, field)
	case existing.DeletionTimestamp != nil:
		return nil, false, exit.NotMeasured("LoadTestSuite %s in namespace %s is being deleted: try again when it is "+
			"gone", key.Name, key.Namespace)
	}
	return existing, true, nil
}

// explainPermanent explains a permanent error, and returns a transient one unchanged.
func (g gateSuites) explainPermanent(verb string, key client.ObjectKey, err error) error {
	if transient(err) && !errors.Is(err, context.Canceled) {
		return err
	}
	return g.explainOf(v1alpha1.LoadTestSuiteKind, verb, key, err)
}

// endedUnmeasured reports whether a suite ended without a whole measurement, so that the gate measures anew. A
// suite that is Invalid can't be measured as it is written, and a new one couldn't either.
func endedUnmeasured(s *v1alpha1.LoadTestSuite) bool {
	end := endOf(s)
	return end != nil && end.Reason != v1alpha1.ReasonMeasured && end.Reason != v1alpha1.ReasonInvalid
}

// foundSentence says whether a suite was found or created.
func foundSentence(s *v1alpha1.LoadTestSuite, found bool, instant time.Time) string {
	switch end := endOf(s); {
	case end != nil:
		return fmt.Sprintf("%s in namespace %s was measured %s ago: that is judged (--name-suffix measures anew)",
			s.Name, s.Namespace, age(instant, end.LastTransitionTime.Time))
	case found:
		return fmt.Sprintf("%s is under way in namespace %s since %s: following it", s.Name, s.Namespace,
			age(instant, s.CreationTimestamp.Time))
	}
	return fmt.Sprintf("%s created in namespace %s", s.Name, s.Namespace)
}
