package pass

import (
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// atOnce is how many requests a pass makes at a time: it mostly waits for answers.
const atOnce = 8

// SideBySide calls do for 0 to n-1, several at a time, and waits for all.
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

// IgnoreGone turns two errors of a deletion into success: the object is gone, or another object has its name (the UID doesn't match).
func IgnoreGone(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// RefusedForGood says whether the API server would refuse the same status again.
func RefusedForGood(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsRequestEntityTooLargeError(err)
}

// AsStored is a time as the API server would store it: in whole seconds.
func AsStored(at time.Time) time.Time { return metav1.NewTime(at).Rfc3339Copy().Time }
