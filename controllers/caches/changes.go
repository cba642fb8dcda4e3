package caches

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// Changes drops updates of LoadTests and suites that change nothing in the caches, since these can't change a
// decision. Otherwise anyone who may patch an object could wake the operator by labels, annotations and
// finalizers that it doesn't read. An unchanged object that is listed again isn't dropped.
func Changes() predicate.Funcs {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool { return changed(e.ObjectOld, e.ObjectNew) }}
}

func changed(old, updated client.Object) bool {
	if old.GetResourceVersion() == updated.GetResourceVersion() {
		return true
	}
	switch b := old.(type) {
	case *v1alpha1.LoadTest:
		a, ok := updated.(*v1alpha1.LoadTest)
		return !ok || !sameButVersion(b, a)
	case *v1alpha1.LoadTestSuite:
		a, ok := updated.(*v1alpha1.LoadTestSuite)
		return !ok || !sameButVersion(b, a)
	}
	return true
}

// sameButVersion says that two cached objects are the same but for their resource versions. It changes neither.
func sameButVersion[T any, P interface {
	*T
	client.Object
}](old, updated P) bool {
	b, a := *old, *updated
	P(&b).SetResourceVersion("")
	P(&a).SetResourceVersion("")
	return equality.Semantic.DeepEqual(&b, &a)
}
