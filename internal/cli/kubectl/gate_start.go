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

// takeUp finds or creates each suite. Nothing is created unless the server would take all.
func (c *cluster) takeUp(ctx context.Context, say func(string), subjects []*gate.Subject, patience time.Duration) ([]client.Object, error) {
	var wrong []error
	for _, s := range subjects {
		_, _, err := c.suiteFor(ctx, s, true)
		wrong = append(wrong, c.explained(s, err))
	}
	if err := exit.Worst(wrong...); err != nil {
		return nil, err
	}
	suites := make([]client.Object, len(subjects))
	for i, s := range subjects {
		var is *v1alpha1.LoadTestSuite
		var found bool
		err := c.insist(ctx, patience, say, func() (err error) {
			is, found, err = c.suiteFor(ctx, s, false)
			return err
		})
		if err != nil {
			return nil, c.explained(s, err)
		}
		suites[i] = is
		say(taken(is, found, time.Now()))
	}
	return suites, nil
}

// explained is an error with its way out, if it hasn't one already.
func (c *cluster) explained(s *gate.Subject, err error) error {
	if _, is := errors.AsType[*exit.Error](err); err == nil || is {
		return err
	}
	return c.explainOf(v1alpha1.LoadTestSuiteKind, "create", client.ObjectKeyFromObject(s.Suite), err)
}

// suiteFor is the suite of a subject's content: one that runs or was measured, or else a new one. Of those that came to nothing there may be some.
//
//	router-3f9a1c2    Stopped       ─┐ came to nothing
//	router-3f9a1c2-2  NotMeasured   ─┘
//	router-3f9a1c2-3  Running       ─▶ this one; were it not there, it would be made
func (c *cluster) suiteFor(ctx context.Context, s *gate.Subject, dry bool) (is *v1alpha1.LoadTestSuite, found bool, err error) {
	for n := range gate.MaxTries {
		want := s.Suite.DeepCopy()
		want.Name = gate.Try(s.Suite.Name, n+1)
		is, found, err = c.findOrCreate(ctx, want, dry)
		if err != nil || !found || !inVain(is) {
			return is, found, err
		}
	}
	return nil, false, exit.BadInput("%d suites of this content came to nothing: kubectl linerate report suite/%[2]s -n %[3]s says why of the last; --name-suffix makes another, and "+
		"kubectl delete loadtestsuite %[2]s -n %[3]s makes room", gate.MaxTries, is.Name, is.Namespace)
}

// findOrCreate creates a suite, or returns the one that there is with this content. That the answer of a creation was lost does no harm. The annotation is its
// author's word, and whoever may create suites knows the name: what is judged is what this file asks for, field by field.
func (c *cluster) findOrCreate(ctx context.Context, want *v1alpha1.LoadTestSuite, dry bool) (is *v1alpha1.LoadTestSuite, found bool, err error) {
	at := client.ObjectKeyFromObject(want)
	var opts []client.CreateOption
	if dry {
		opts = append(opts, client.DryRunAll)
	}
	err = c.client.Create(ctx, want, opts...)
	switch {
	case err == nil:
		return want, false, nil
	case !apierrors.IsAlreadyExists(err):
		return nil, false, c.kindly("create", at, err)
	}
	is = &v1alpha1.LoadTestSuite{}
	if err := c.client.Get(ctx, at, is); err != nil {
		return nil, false, c.kindly("get", at, err)
	}
	field, other := admission.OtherSpec(want, is)
	switch {
	case is.Annotations[v1alpha1.AnnotationGate] == "":
		return nil, false, exit.BadInput("LoadTestSuite %s exists in namespace %s, and no gate made it: choose another end of the name with --name-suffix", is.Name, is.Namespace)
	case is.Annotations[v1alpha1.AnnotationGate] != want.Annotations[v1alpha1.AnnotationGate]:
		return nil, false, exit.BadInput("LoadTestSuite %s exists in namespace %s, and measures something else; a suite can't be changed: choose another --name-suffix, or leave it out, "+
			"so that each content has a name of its own", is.Name, is.Namespace)
	case other:
		return nil, false, exit.BadInput("LoadTestSuite %[1]s in namespace %[2]s says that it measures this, and its %[3]s is another: somebody else made it, or a webhook of the cluster's "+
			"or definitions of another release changed it; --name-suffix makes one of another name, and kubectl delete loadtestsuite %[1]s -n %[2]s makes room", is.Name, is.Namespace, field)
	case is.DeletionTimestamp != nil:
		return nil, false, exit.NotMeasured("LoadTestSuite %s in namespace %s is being deleted: try again when it is gone", is.Name, is.Namespace)
	}
	return is, true, nil
}

// kindly explains what doesn't pass; what passes stays as it is.
func (c *cluster) kindly(verb string, at client.ObjectKey, err error) error {
	if passing(err) && !errors.Is(err, context.Canceled) {
		return err
	}
	return c.explainOf(v1alpha1.LoadTestSuiteKind, verb, at, err)
}

// inVain says that a suite ended without a whole measurement: it is measured anew. One that can't be measured as it is written isn't.
func inVain(s *v1alpha1.LoadTestSuite) bool {
	c := endOf(s)
	return c != nil && c.Reason != v1alpha1.ReasonMeasured && c.Reason != v1alpha1.ReasonInvalid
}

// taken says what became of the search.
func taken(s *v1alpha1.LoadTestSuite, found bool, now time.Time) string {
	switch end := endOf(s); {
	case end != nil:
		return fmt.Sprintf("%s in namespace %s was measured %s ago: that is judged (--name-suffix measures anew)", s.Name, s.Namespace, age(now, end.LastTransitionTime.Time))
	case found:
		return fmt.Sprintf("%s is under way in namespace %s since %s: following it", s.Name, s.Namespace, age(now, s.CreationTimestamp.Time))
	}
	return fmt.Sprintf("%s created in namespace %s", s.Name, s.Namespace)
}
