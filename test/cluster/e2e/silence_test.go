package e2e

import (
	"cmp"
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
)

const (
	// aftermath is how long traffic may go on after its test ended in whatever way.
	aftermath = 15 * time.Second
	// hush is how long there must be no traffic to call it silence.
	hush = 2 * time.Second
)

// silent fails if anything is sent later than 15 s after the moment, and returns how long it took to be silent. It knows as soon as nothing
// has been heard for a while.
func (s *scene) silent(since time.Time) time.Duration {
	s.Helper()
	var last time.Time
	err := wait.PollUntilContextTimeout(s.Context(), 100*time.Millisecond, aftermath+hush, true, func(context.Context) (done bool, err error) {
		last, err = s.wires.LastHeard()
		return time.Since(last) > hush && time.Since(since) > hush, err
	})
	if err != nil {
		s.Errorf("%v after it should be over there is traffic on the wires, %.0f frames/s: %v", time.Since(since).Round(time.Second), s.wires.Rate(), err)
	}
	return max(0, last.Sub(since)).Round(100 * time.Millisecond)
}

// loud fails unless there is traffic on the wires: what is silent anyway can't fall silent.
func (s *scene) loud() {
	s.Helper()
	err := wait.PollUntilContextTimeout(s.Context(), 100*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
		last, err := s.wires.LastHeard()
		return time.Since(last) < time.Second, err
	})
	if err != nil {
		s.Errorf("there is no traffic on the wires: %v", err)
	}
}

// released waits until a test has no pods: then its devices are others'. How long that takes says how busy the nodes and the API server are; whether anything is still sent meanwhile, the wires say.
func (s *scene) released(name string) {
	s.Helper()
	var pods corev1.PodList
	var unread error // the API server may be too busy for one answer, and give the next
	err := wait.PollUntilContextTimeout(s.Context(), 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		unread = lab.Client.List(ctx, &pods, client.InNamespace(s.namespace), client.MatchingLabels{lineratev1alpha1.LabelTest: name})
		return unread == nil && len(pods.Items) == 0, nil
	})
	if err != nil {
		s.Errorf("after %v %s still has %q (%v)", patience, name, names(&pods), cmp.Or(unread, err))
	}
}
