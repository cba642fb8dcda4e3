package caches

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// Changes drops updates of LoadTests and suites that change nothing of what the caches keep of them, since these can't change a decision. Otherwise whoever may patch an
// object could wake the operator by changing labels, annotations and finalizers that it doesn't read. An object that is listed again unchanged isn't dropped.
func Changes() predicate.Funcs {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool { return changed(e.ObjectOld, e.ObjectNew) }}
}

func changed(before, after client.Object) bool {
	if before.GetResourceVersion() == after.GetResourceVersion() {
		return true
	}
	switch b := before.(type) {
	case *v1alpha1.LoadTest:
		a, is := after.(*v1alpha1.LoadTest)
		return !is || !sameButVersion(b, a)
	case *v1alpha1.LoadTestSuite:
		a, is := after.(*v1alpha1.LoadTestSuite)
		return !is || !sameButVersion(b, a)
	}
	return true
}

// sameButVersion compares two cached objects but for their resource versions, and changes neither.
func sameButVersion[T any, P interface {
	*T
	client.Object
}](before, after P) bool {
	b, a := *before, *after
	P(&b).SetResourceVersion("")
	P(&a).SetResourceVersion("")
	return equality.Semantic.DeepEqual(&b, &a)
}
