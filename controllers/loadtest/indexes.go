package loadtest

import (
	"context"
	"errors"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/caches"
)

// The indexes of the caches keep a test's pass from going through the objects of all tests.
const (
	// indexTest has a test's children by its UID. indexRuns has its runs' objects by its namespace and name,
	// including those of earlier tests of that name.
	indexTest = "test"
	indexRuns = "runs"
	// indexLab has the LoadTests that aren't complete, by what in the cluster they depend on. The values are
	// waitsForLab, or waitsInLine where other tests come first, and node/NAME for each node that their pods are
	// on.
	indexLab    = "lab"
	notOver     = "not over"
	waitsForLab = "waiting"
	waitsInLine = "in line"
)

func byLabel(test types.UID) client.ListOption {
	return client.MatchingLabels{v1alpha1.LabelUID: string(test)}
}

func byIndex(test types.UID) client.ListOption {
	return client.MatchingFields{indexTest: string(test)}
}

func runsByLabel(test types.NamespacedName) client.ListOption {
	return client.MatchingLabels{v1alpha1.LabelNamespace: test.Namespace, v1alpha1.LabelTest: test.Name}
}

func runsByIndex(test types.NamespacedName) client.ListOption {
	return client.MatchingFields{indexRuns: test.String()}
}

// runOf is the test that an object's labels name. It has no name if the object belongs to no run.
func runOf(object client.Object) types.NamespacedName {
	labels := object.GetLabels()
	if labels[v1alpha1.LabelNamespace] == "" {
		return types.NamespacedName{}
	}
	return types.NamespacedName{Namespace: labels[v1alpha1.LabelNamespace], Name: labels[v1alpha1.LabelTest]}
}

// addIndexes makes the indexes of the manager's cache, and of the cache of progress.
func addIndexes(ctx context.Context, main, progress client.FieldIndexer) error {
	tests := func(object client.Object) []string { return concerns(object.(*v1alpha1.LoadTest)) }
	uid := func(object client.Object) []string { return []string{object.GetLabels()[v1alpha1.LabelUID]} }
	runs := func(object client.Object) []string { return []string{runOf(object).String()} }
	err := errors.Join(main.IndexField(ctx, &v1alpha1.LoadTest{}, indexLab, tests),
		progress.IndexField(ctx, &corev1.ConfigMap{}, indexRuns, runs))
	for _, kind := range []client.Object{&corev1.Pod{}, &batchv1.Job{}, caches.MetadataOf(configMapKind)} {
		err = errors.Join(err, main.IndexField(ctx, kind, indexTest, uid), main.IndexField(ctx, kind, indexRuns, runs))
	}
	return err
}

// concerns are the test's values in indexLab. A complete test has none.
func concerns(test *v1alpha1.LoadTest) []string {
	if meta.IsStatusConditionTrue(test.Status.Conditions, v1alpha1.ConditionComplete) {
		return nil
	}
	values := []string{notOver}
	scheduled := meta.FindStatusCondition(test.Status.Conditions, v1alpha1.ConditionScheduled)
	switch {
	case scheduled == nil || scheduled.Status != metav1.ConditionTrue && scheduled.Reason != v1alpha1.ReasonQueued:
		values = append(values, waitsForLab)
	case scheduled.Reason == v1alpha1.ReasonQueued:
		values = append(values, waitsInLine)
	}
	for _, pod := range test.Status.Pods {
		if pod.Node != "" {
			values = append(values, onNode(pod.Node))
		}
	}
	return values
}

func onNode(name string) string { return "node/" + name }

// testsOfNode are the tests that wait for something in the cluster, and those with pods on the node. Tests in
// the queue are woken when their turn changes.
func (r *Reconciler) testsOfNode(ctx context.Context, node client.Object) []reconcile.Request {
	return append(r.testsConcernedBy(ctx, waitsForLab), r.testsConcernedBy(ctx, onNode(node.GetName()))...)
}

func (r *Reconciler) testsConcernedBy(ctx context.Context, value string) (requests []reconcile.Request) {
	var tests v1alpha1.LoadTestList
	if err := r.client.List(ctx, &tests, client.MatchingFields{indexLab: value},
		client.UnsafeDisableDeepCopy); err != nil {
		log.FromContext(ctx).Error(err, "the tests that a change of the lab concerns can't be listed", "concern", value)
		return nil
	}
	for i := range tests.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&tests.Items[i])})
	}
	return requests
}

// cachedWaiting selects the waiting tests by the cache's index, and cachedNotOver those that aren't complete.
// These are few of the thousand that may be kept.
func cachedWaiting() []client.ListOption { return concernedBy(waitsForLab) }

func cachedNotOver() []client.ListOption { return concernedBy(notOver) }

func concernedBy(value string) []client.ListOption {
	return []client.ListOption{client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector(indexLab, value)}}
}
