package e2e

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/test/cluster/e2e/rig"
)

// tidy is how long a deleted LoadTest may take to leave nothing: its pods' grace included.
const tidy = 45 * time.Second

// scene is where one test plays: a namespace of its own, and ears on the wires.
type scene struct {
	*testing.T
	lane
	// hears are the wires that are the scene's own; none: all are.
	hears     []string
	namespace string
	wires     *rig.Listener
}

// begin makes a scene that has the lab to itself.
func begin(t *testing.T) *scene {
	t.Helper()
	return enter(t, allLanes()[0])
}

// enter makes a scene, which ends with the test: then nothing may be left of what was played in it.
func enter(t *testing.T, l lane, hears ...string) *scene {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"}}
	if err := lab.Client.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	s := &scene{T: t, lane: l, hears: hears, namespace: namespace.Name, wires: lab.Listen(t.Context(), hears...)}
	t.Cleanup(func() { s.end(namespace) })
	return s
}

// end deletes what is left of the LoadTests, and fails unless everything goes with them.
func (s *scene) end(namespace *corev1.Namespace) {
	ctx := context.WithoutCancel(s.Context())
	if s.Failed() {
		s.describe(ctx)
	}
	for _, all := range []client.Object{&lineratev1alpha1.LoadTestSuite{}, &lineratev1alpha1.LoadTest{}} { // suites first: they would make tests anew
		if err := lab.Client.DeleteAllOf(ctx, all, client.InNamespace(s.namespace)); err != nil {
			s.Errorf("delete all of %T: %v", all, err)
		}
	}
	var left string
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, tidy, true, func(ctx context.Context) (done bool, err error) {
		left, err = s.left(ctx)
		return left == "", err
	})
	if err != nil {
		s.Errorf("%v after the LoadTests were deleted there is still: %s (%v)", tidy, left, err)
	}
	if err := lab.Client.Delete(ctx, namespace); err != nil {
		s.Errorf("delete the namespace: %v", err)
	}
}

// left names what there still is of LoadTests: objects in the namespace, and functions that aren't at home.
func (s *scene) left(ctx context.Context) (string, error) {
	var left []string
	for _, list := range ownedLists() {
		if err := lab.Client.List(ctx, list, client.InNamespace(s.namespace)); err != nil {
			return "", err
		}
		left = append(left, names(list)...)
	}
	away, err := s.away()
	return strings.Join(append(left, away...), ", "), err
}

// home waits until all functions are.
func (s *scene) home() {
	s.Helper()
	err := wait.PollUntilContextTimeout(s.Context(), 100*time.Millisecond, tidy, true, func(context.Context) (bool, error) {
		away, err := s.away()
		return len(away) == 0, err
	})
	if err != nil {
		s.Errorf("functions are still away: %v", err)
	}
}

// pass lets time go by that belongs to what is tried.
func (s *scene) pass(d time.Duration) {
	select {
	case <-time.After(d):
	case <-s.Context().Done():
	}
}
