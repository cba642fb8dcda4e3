package apiserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile/admission"
)

// newNamespace makes a namespace for one test's objects.
func newNamespace(t *testing.T) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := typed.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	return namespace.Name
}

func newAdmission(t *testing.T) *admission.Server {
	t.Helper()
	server, err := admission.NewServer()
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// create sends a document as a person wrote it, and returns its name as stored. Unknown fields are refused, as kubectl asks for.
func create(t *testing.T, namespace string, document []byte) (string, error) {
	t.Helper()
	return createKind(t, namespace, "loadtests", document)
}

func createKind(t *testing.T, namespace, resource string, document []byte) (string, error) {
	t.Helper()
	answer := raw.Post().Namespace(namespace).Resource(resource).Param("fieldValidation", "Strict").
		SetHeader("Content-Type", "application/yaml").SetHeader("Accept", "application/json").Body(document).Do(t.Context())
	if err := answer.Error(); err != nil {
		return "", err
	}
	text, err := answer.Raw()
	if err != nil {
		t.Fatal(err)
	}
	var created metav1.PartialObjectMetadata
	if err := json.Unmarshal(text, &created); err != nil {
		t.Fatal(err)
	}
	return created.Name, nil
}

// stored reads an object back.
func stored(t *testing.T, namespace, name string) *v1alpha1.LoadTest {
	t.Helper()
	test := &v1alpha1.LoadTest{}
	if err := typed.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, test); err != nil {
		t.Fatal(err)
	}
	test.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.LoadTestKind)) // which the client forgets
	return test
}

// exampleFiles are the files that match, as paths from the project's root.
func exampleFiles(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../../..", pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("nothing is %s (%v)", pattern, err)
	}
	return files
}

func base(file string) string { return strings.TrimSuffix(filepath.Base(file), ".yaml") }

// documentsOf parts a file as kubectl does.
func documentsOf(t *testing.T, file string) [][]byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	reader := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	var documents [][]byte
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return documents
		}
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, document)
	}
}
