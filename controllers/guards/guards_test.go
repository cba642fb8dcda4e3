package guards

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

// server is an API server that answers each creation as the test says, and notes what was to be created.
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
	err := apierrors.NewForbidden(schema.GroupResource{Resource: "networkpolicies"}, "linerate-ends", errors.New("it is being terminated"))
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	return err
}

// Guards stand once they are made, are there already, or can't be made for good. Where an error may pass, no pod comes before them; and a namespace that goes has none when it comes back.
func TestWhenGuardsStand(t *testing.T) {
	for name, c := range map[string]struct {
		answer       error
		stand, holds bool // whether they aren't looked at again, and whether the test waits for them
	}{
		"made":                     {nil, true, false},
		"there already":            {apierrors.NewAlreadyExists(schema.GroupResource{}, "linerate-ends"), true, false},
		"without the right":        {apierrors.NewForbidden(schema.GroupResource{}, "linerate-ends", errors.New("no")), true, false},
		"an error that may pass":   {apierrors.NewInternalError(errors.New("later")), false, true},
		"a namespace that is gone": {terminating(), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{answer: c.answer}
			g := New(s, Options{NetworkPolicies: true, DisruptionBudgets: true, Clock: func() time.Time { return time.Unix(0, 0) }})
			if err := g.Ensure(t.Context(), "lab"); (err != nil) != c.holds {
				t.Errorf("%v", err)
			}
			if first := s.created; len(first) == 0 {
				t.Fatal("none was to be made")
			}
			s.answer, s.created = nil, nil
			if err := g.Ensure(t.Context(), "lab"); err != nil || (len(s.created) == 0) != c.stand {
				t.Errorf("the next time %q are made, %v", s.created, err)
			}
		})
	}
}

// A drain of the node where runners are spares them as it spares generators: the operator's own namespace has a budget, and no policies.
func TestTheOperatorsNamespaceHasABudget(t *testing.T) {
	s := &server{}
	g := New(s, Options{NetworkPolicies: true, DisruptionBudgets: true, Namespace: "linerate-system", Clock: func() time.Time { return time.Unix(0, 0) }})
	if err := g.Ensure(t.Context(), "lab"); err != nil {
		t.Fatal(err)
	}
	slices.Sort(s.created)
	if want := []string{"lab/linerate-ends", "lab/linerate-generators", "lab/linerate-own-runners", "lab/linerate-tests", "lab/linerate-vitals", "linerate-system/linerate-tests"}; !slices.Equal(s.created, want) {
		t.Errorf("made are %q, want %q", s.created, want)
	}
}
