package apiserver

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// shortest is the shortest LoadTest there is.
const shortest = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: shortest}
spec:
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
`

// newShortest stores the shortest LoadTest, with more lines if wanted.
func newShortest(t *testing.T, more ...string) *v1alpha1.LoadTest {
	t.Helper()
	namespace := newNamespace(t)
	name, err := create(t, namespace, []byte(shortest+strings.Join(more, "")))
	if err != nil {
		t.Fatal(err)
	}
	return stored(t, namespace, name)
}

// merge patches an object, and leaves in it what the server answered.
func merge(t *testing.T, test *v1alpha1.LoadTest, patch string) error {
	t.Helper()
	return typed.Patch(t.Context(), test, client.RawPatch(types.MergePatchType, []byte(patch)))
}

func TestASpecCannotBeChanged(t *testing.T) {
	for name, patch := range map[string]string{
		"a value that was given":         `{"spec": {"links": [{"name": "west", "lineRate": "10gbps"}, {"name": "east", "lineRate": "1gbps"}]}}`,
		"a value that was a default":     `{"spec": {"procedure": {"ramp": {"targetRate": "50%"}}}}`,
		"a field that was not there":     `{"spec": {"criteria": [{"name": "a", "metric": "LossRatio", "max": "0"}]}}`,
		"the order of links":             `{"spec": {"links": [{"name": "east", "lineRate": "1gbps"}, {"name": "west", "lineRate": "1gbps"}]}}`,
		"a rate that means the same one": `{"spec": {"links": [{"name": "west", "lineRate": "1000mbps"}, {"name": "east", "lineRate": "1gbps"}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			err := merge(t, newShortest(t), patch)
			if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec can't be changed: create a new LoadTest (metadata.generateName") {
				t.Errorf("the server says %v", err)
			}
		})
	}
}

func TestWhatIsNotSpecCanBeChanged(t *testing.T) {
	t.Run("labels", func(t *testing.T) {
		test := newShortest(t)
		if err := merge(t, test, `{"metadata": {"labels": {"linerate.dev/product": "Linux"}}}`); err != nil || test.Labels["linerate.dev/product"] != "Linux" {
			t.Errorf("labels are %v (%v)", test.Labels, err)
		}
	})
	t.Run("a default that is taken away comes back, so nothing changes", func(t *testing.T) {
		test := newShortest(t)
		if err := merge(t, test, `{"spec": {"activeDeadline": null}}`); err != nil || test.Generation != 1 || test.Spec.ActiveDeadline != "1h" {
			t.Errorf("activeDeadline %s, generation %d (%v)", test.Spec.ActiveDeadline, test.Generation, err)
		}
	})
}

func TestApplyingAFileTwiceChangesNothing(t *testing.T) {
	namespace := newNamespace(t)
	var generation int64
	for range 2 {
		err := raw.Patch(types.ApplyPatchType).Namespace(namespace).Resource("loadtests").Name("shortest").
			Param("fieldManager", "test").Param("fieldValidation", "Strict").Body([]byte(shortest)).Do(t.Context()).Error()
		if err != nil {
			t.Fatal(err)
		}
		generation = stored(t, namespace, "shortest").Generation
	}
	if generation != 1 {
		t.Errorf("generation is %d", generation)
	}
}
