package e2e

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// await follows an object of the list's kind by a watch until it is so, and fails after the bound. The API server may go and come meanwhile.
func await[T client.Object](s *scene, list client.ObjectList, name, what string, bound time.Duration, so func(T) bool, say func(T) string) T {
	s.Helper()
	ctx, stop := context.WithTimeout(s.Context(), bound)
	defer stop()
	var last T
	for {
		found, err := follow(ctx, s, list, name, func(o T) bool { last = o; return so(o) })
		if found {
			return last
		}
		select {
		case <-ctx.Done():
			s.Fatalf("%s: waited %v in vain for: %s (%v); it is at %s", name, bound, what, err, say(last))
		case <-time.After(200 * time.Millisecond): // the watch broke off: again
		}
	}
}

// follow watches until it is so, or the watch ends.
func follow[T client.Object](ctx context.Context, s *scene, list client.ObjectList, name string, so func(T) bool) (bool, error) {
	watch, err := lab.Client.Watch(ctx, list, client.InNamespace(s.namespace),
		client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("metadata.name", name)})
	if err != nil {
		return false, err
	}
	defer watch.Stop()
	for e := range watch.ResultChan() {
		if o, ok := e.Object.(T); ok && so(o) {
			return true, nil
		}
	}
	return false, nil
}
