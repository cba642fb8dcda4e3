package pass

import (
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// atOnce is how many requests a pass makes at once: it is mostly waiting for answers.
const atOnce = 8

// SideBySide does n things, some at once, and waits for all.
func SideBySide(n int, do func(i int)) {
	slots := make(chan struct{}, atOnce)
	var doing sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		doing.Go(func() {
			defer func() { <-slots }()
			do(i)
		})
	}
	doing.Wait()
}

// IgnoreGone takes for success that the object is gone, or that another one has its name (the UID given doesn't match).
func IgnoreGone(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// RefusedForGood says whether the same status would be refused again.
func RefusedForGood(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsRequestEntityTooLargeError(err)
}

// AsStored is a moment as the API server would store it: to the second.
func AsStored(at time.Time) time.Time { return metav1.NewTime(at).Rfc3339Copy().Time }
