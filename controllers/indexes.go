package controllers

import (
	"context"
	"errors"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// The indexes of the caches: without them each look at a test would go through the objects of all tests.
const (
	// indexTest has the children of a test by its UID.
	indexTest = "test"
	// indexLab has the LoadTests by what of the lab concerns them: waitsForLab, or waitsInLine where others come first, and node/NAME of each
	// node that a pod of theirs is on.
	indexLab    = "lab"
	waitsForLab = "waiting"
	waitsInLine = "in line"
)

func byLabel(test types.UID) client.ListOption {
	return client.MatchingLabels{v1alpha1.LabelUID: string(test)}
}

func byIndex(test types.UID) client.ListOption {
	return client.MatchingFields{indexTest: string(test)}
}

// addIndexes makes the indexes of the manager's cache, and of the one of progress.
func addIndexes(ctx context.Context, main, progress client.FieldIndexer) error {
	tests := func(object client.Object) []string { return concerns(object.(*v1alpha1.LoadTest)) }
	uid := func(object client.Object) []string { return []string{object.GetLabels()[v1alpha1.LabelUID]} }
	err := errors.Join(
		main.IndexField(ctx, &v1alpha1.LoadTest{}, indexLab, tests),
		main.IndexField(ctx, &corev1.Pod{}, indexTest, uid),
		main.IndexField(ctx, &batchv1.Job{}, indexTest, uid),
		progress.IndexField(ctx, &corev1.ConfigMap{}, indexTest, uid),
	)
	for _, gvk := range metadataKinds() {
		err = errors.Join(err, main.IndexField(ctx, metadataOf(gvk), indexTest, uid))
	}
	return err
}
