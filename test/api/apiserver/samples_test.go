package apiserver

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate-dev/linerate/internal/compile/admission"
)

// What a file means on a laptop it must mean in a cluster: the server stores, defaults included, what admission says that it would.
func TestSamplesAreStoredAsAdmissionSays(t *testing.T) {
	admit := newAdmission(t)
	for _, file := range slices.Concat(exampleFiles(t, "config/samples/*.yaml"), exampleFiles(t, "examples/*.yaml")) {
		t.Run(base(file), func(t *testing.T) {
			namespace := newNamespace(t)
			documents, objects := documentsOf(t, file), admitted(t, admit, file)
			if len(documents) != len(objects) {
				t.Fatalf("%d documents, of which admission takes %d", len(documents), len(objects))
			}
			for i, document := range documents {
				name, err := create(t, namespace, document)
				if err != nil {
					t.Error(err)
					continue
				}
				sameObject(t, namespace, name, objects[i])
			}
		})
	}
}

func admitted(t *testing.T, admit *admission.Server, file string) []admission.Object {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := admit.Load(file, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// sameObject compares what the server has with what admission made, field by field.
func sameObject(t *testing.T, namespace, name string, object admission.Object) {
	t.Helper()
	got, want := stored(t, namespace, name), object.LoadTest
	if diff := cmp.Diff(want.Spec, got.Spec); diff != "" {
		t.Errorf("spec of %s: admission (-), server (+):\n%s", name, diff)
	}
	if diff := cmp.Diff(want.Status, got.Status); diff != "" {
		t.Errorf("status of %s: admission (-), server (+):\n%s", name, diff)
	}
	if diff := cmp.Diff(want.Labels, got.Labels); diff != "" {
		t.Errorf("labels of %s: admission (-), server (+):\n%s", name, diff)
	}
	if !strings.HasPrefix(name, want.GenerateName) || want.GenerateName == "" && name != want.Name {
		t.Errorf("the server calls it %s, admission %s", name, want.Name)
	}
}
