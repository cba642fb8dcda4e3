package pass

import (
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// atOnce is how many requests a pass makes at a time, since it mostly waits for answers.
const atOnce = 8

// SideBySide runs call for 0 to n-1, several at a time, and waits for all.
func SideBySide(n int, call func(i int)) {
	slots := make(chan struct{}, atOnce)
	var doing sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		doing.Go(func() {
			defer func() { <-slots }()
			call(i)
		})
	}
	doing.Wait()
}

// IgnoreGone turns two errors of a deletion into success. The object is gone, or another object has its name
// (the UID doesn't match).
func IgnoreGone(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// RefusedForGood says that the API server would refuse the same status again.
func RefusedForGood(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsRequestEntityTooLargeError(err)
}

// AsStored is a time as the API server would store it, in whole seconds.
func AsStored(t time.Time) time.Time { return metav1.NewTime(t).Rfc3339Copy().Time }
