package apiserver

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// LoadTests that a release has stored stay what they were under the schema that came after it: all that was stored is taken, and what could be done to them
// still can.
func TestObjectsOfEarlierReleasesAreAccepted(t *testing.T) {
	files, err := filepath.Glob("../../cluster/e2e/testdata/v*/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no release has stored anything (%v)", err)
	}
	tests := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(text, []byte("kind: LoadTest\n")) {
			continue
		}
		tests++
		t.Run(filepath.Base(file), func(t *testing.T) {
			var was v1alpha1.LoadTest
			if err := yaml.UnmarshalStrict(text, &was); err != nil {
				t.Fatal(err)
			}
			namespace := newNamespace(t)
			name, err := create(t, namespace, text)
			if err != nil {
				t.Fatal(err)
			}
			is := stored(t, namespace, name)
			if !equality.Semantic.DeepEqual(is.Spec, was.Spec) {
				t.Errorf("the spec is\n%+v\nand was\n%+v", is.Spec, was.Spec)
			}
			is.Status = was.Status
			if err := typed.Status().Update(t.Context(), is); err != nil || !equality.Semantic.DeepEqual(is.Status, was.Status) {
				t.Errorf("the status is\n%+v\nand was\n%+v\n%v", is.Status, was.Status, err)
			}
			if err := merge(t, is, `{"spec": {"suspend": true, "ttlAfterFinished": "1h"}}`); err != nil {
				t.Error(err)
			}
		})
	}
	if tests < 3 {
		t.Errorf("only %d LoadTests", tests)
	}
}
