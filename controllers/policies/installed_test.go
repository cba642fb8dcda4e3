package policies

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// server is an API server that gives the same answer to each creation, and records the objects.
type server struct {
	client.Client

	answer  error
	created []string
}

func (s *server) Create(_ context.Context, o client.Object, _ ...client.CreateOption) error {
	s.created = append(s.created, o.GetNamespace()+"/"+o.GetName())
	return s.answer
}

func terminating() error {
	err := apierrors.NewForbidden(schema.GroupResource{Resource: "networkpolicies"}, "linerate-ends",
		errors.New("it is being terminated"))
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	return err
}

// Policies count as installed once they are created, exist already, or are refused permanently. After a transient error
// no pod is created before them. A namespace that is created again has none.
func TestWhenPoliciesCountAsInstalled(t *testing.T) {
	for name, c := range map[string]struct {
		answer           error
		installed, waits bool // whether they aren't checked again, and whether the test waits for them
	}{
		"they are created":   {nil, true, false},
		"they exist already": {apierrors.NewAlreadyExists(schema.GroupResource{}, "linerate-ends"), true, false},
		"the right is missing": {apierrors.NewForbidden(schema.GroupResource{}, "linerate-ends", errors.New("no")),
			true, false},
		"a transient error":  {apierrors.NewInternalError(errors.New("later")), false, true},
		"the namespace ends": {terminating(), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{answer: c.answer}
			installer := New(s, Options{NetworkPolicies: true, DisruptionBudgets: true,
				Clock: func() time.Time { return time.Unix(0, 0) }})
			if err := installer.Ensure(t.Context(), "lab"); (err != nil) != c.waits {
				t.Errorf("%v", err)
			}
			if len(s.created) == 0 {
				t.Fatal("no policy was created")
			}
			s.answer, s.created = nil, nil
			if err := installer.Ensure(t.Context(), "lab"); err != nil || (len(s.created) == 0) != c.installed {
				t.Errorf("the next call creates %q: %v", s.created, err)
			}
		})
	}
}

// A drain of the runners' node spares them as it spares generators, so the operator's own namespace has a
// budget. It has no NetworkPolicies.
func TestTheOperatorsNamespaceHasABudget(t *testing.T) {
	s := &server{}
	installer := New(s, Options{NetworkPolicies: true, DisruptionBudgets: true, Namespace: "linerate-system",
		Clock: func() time.Time { return time.Unix(0, 0) }})
	if err := installer.Ensure(t.Context(), "lab"); err != nil {
		t.Fatal(err)
	}
	slices.Sort(s.created)
	if want := []string{"lab/linerate-ends", "lab/linerate-generators", "lab/linerate-own-runners",
		"lab/linerate-tests", "lab/linerate-vitals", "linerate-system/linerate-tests"}; !slices.Equal(s.created, want) {
		t.Errorf("created are %q, want %q", s.created, want)
	}
}
