package apiserver

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/compile/admission"
)

func createSuite(t *testing.T, namespace string, document []byte) (string, error) {
	t.Helper()
	return createKind(t, namespace, "loadtestsuites", document)
}

func storedSuite(t *testing.T, namespace, name string) *v1alpha1.LoadTestSuite {
	t.Helper()
	s := &v1alpha1.LoadTestSuite{}
	if err := typed.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, s); err != nil {
		t.Fatal(err)
	}
	return s
}

// judgeOf judges LoadTests as the operator does.
func judgeOf(t *testing.T, admit *admission.Server) suite.Judge {
	t.Helper()
	return suite.JudgeWith(admit, suite.InCluster)
}

func TestSampleSuitesAreAccepted(t *testing.T) {
	namespace, admit := newNamespace(t), newAdmission(t)
	for _, file := range slices.Concat(exampleFiles(t, "config/samples/suites/*.yaml"), exampleFiles(t, "examples/suites/*.yaml")) {
		t.Run(base(file), func(t *testing.T) {
			for _, document := range documentsOf(t, file) {
				name, err := createSuite(t, namespace, document)
				if err != nil {
					t.Fatal(err)
				}
				objects, err := admit.Load(file, bytes.NewReader(document))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(objects[0].Suite.Spec, storedSuite(t, namespace, name).Spec); diff != "" {
					t.Errorf("admission (-), server (+):\n%s", diff)
				}
				m := suite.Expand(storedSuite(t, namespace, name))
				if faults := m.Check(judgeOf(t, admit)); faults != nil {
					t.Errorf("%s", faults.Error())
				}
				content, err := m.Content(0, 1, 1)
				if err != nil {
					t.Fatal(err)
				}
				if err := typed.Create(t.Context(), &unstructured.Unstructured{Object: content}); err != nil {
					t.Errorf("the server doesn't take a LoadTest of it: %v", err)
				}
			}
		})
	}
}

func TestInvalidSuitesAreRefused(t *testing.T) {
	namespace, admit := newNamespace(t), newAdmission(t)
	byCells := 0
	for _, file := range exampleFiles(t, "config/invalid-examples/suites/*.yaml") {
		t.Run(base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			first, rest, _ := strings.Cut(string(text), "\n")
			want, said := strings.CutPrefix(first, "# want: ")
			if !said {
				t.Fatalf("the first line is %q: it must say what is wanted", first)
			}
			name, err := createSuite(t, namespace, text)
			if _, faults := admit.Load(file, bytes.NewReader(text)); (err == nil) != (faults == nil) {
				t.Errorf("the server says %v, admission says %v", err, faults)
			}
			got := ""
			if strings.HasPrefix(rest, "# refused by: suite\n") {
				byCells++
				if err != nil {
					t.Fatalf("only its cells should be refused: %v", err)
				}
				got = suite.Expand(storedSuite(t, namespace, name)).Check(judgeOf(t, admit)).Error()
				if err := typed.Delete(t.Context(), storedSuite(t, namespace, name)); err != nil {
					t.Fatal(err)
				}
			} else {
				if !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
					t.Fatalf("the server says %v", err)
				}
				got = err.Error()
			}
			if !strings.Contains(got, want) {
				t.Errorf("it should say %q, and says: %s", want, got)
			}
		})
	}
	if byCells < 3 {
		t.Errorf("only %d examples are of cells", byCells)
	}
}

func TestWhichFieldsOfASuiteMayChange(t *testing.T) {
	namespace := newNamespace(t)
	const document = `
apiVersion: linerate.dev/v1alpha1
kind: LoadTestSuite
metadata: {name: fixed}
spec:
  template: {spec: {dut: {type: Loopback, a: {b: 1}}, links: [{name: west}, {name: east}]}}
  axes: [{name: a, values: [{name: x, patch: {cpu: 1}}, {name: z}]}, {name: b, values: [{name: x}]}]
`
	if _, err := createSuite(t, namespace, []byte(document)); err != nil {
		t.Fatal(err)
	}
	patch := func(text string) error {
		s := &v1alpha1.LoadTestSuite{}
		s.Namespace, s.Name = namespace, "fixed"
		return typed.Patch(t.Context(), s, client.RawPatch("application/merge-patch+json", []byte(text)))
	}
	for what, text := range map[string]string{
		"a patch's other key":      `{"spec":{"axes":[{"name":"a","values":[{"name":"x","patch":{"mem":1}},{"name":"z"}]},{"name":"b","values":[{"name":"x"}]}]}}`,
		"the order of values":      `{"spec":{"axes":[{"name":"a","values":[{"name":"z"},{"name":"x","patch":{"cpu":1}}]},{"name":"b","values":[{"name":"x"}]}]}}`,
		"the order of axes":        `{"spec":{"axes":[{"name":"b","values":[{"name":"x"}]},{"name":"a","values":[{"name":"x","patch":{"cpu":1}},{"name":"z"}]}]}}`,
		"a template's other key":   `{"spec":{"template":{"spec":{"dut":null,"dot":{"type":"Loopback"}}}}}`,
		"deep inside the template": `{"spec":{"template":{"spec":{"dut":{"a":{"b":null,"c":1}}}}}}`,
		"the template's labels":    `{"spec":{"template":{"metadata":{"labels":{"a":"b"}}}}}`,
		"what is excluded":         `{"spec":{"exclusions":[{"a":"x"}]}}`,
		"repetitions":              `{"spec":{"repetitions":2}}`,
		"the order":                `{"spec":{"order":"ByCell"}}`,
		"the seed of the order":    `{"spec":{"seed":7}}`,
		"the failure policy":       `{"spec":{"failurePolicy":"Stop"}}`,
		"how often is tried again": `{"spec":{"invalidRetries":3}}`,
		"criteria":                 `{"spec":{"criteria":[{"name":"a","metric":"PacketsPerSecond","min":"1"}]}}`,
	} {
		t.Run(what+" stays", func(t *testing.T) {
			if err := patch(text); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "create a new LoadTestSuite") {
				t.Errorf("got %v", err)
			}
		})
	}
	for what, text := range map[string]string{
		"suspend": `{"spec":{"suspend":true}}`, "parallelism": `{"spec":{"parallelism":7}}`, "the time to live": `{"spec":{"ttlAfterFinished":"1h"}}`,
		"the history limit": `{"spec":{"historyLimit":0}}`,
	} {
		t.Run(what+" may change", func(t *testing.T) {
			if err := patch(text); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("what is stopped stays so", func(t *testing.T) {
		if err := patch(`{"spec":{"stop":true}}`); err != nil {
			t.Fatal(err)
		}
		if err := patch(`{"spec":{"stop":null}}`); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "a stopped suite can't be continued") {
			t.Errorf("got %v", err)
		}
	})
}
