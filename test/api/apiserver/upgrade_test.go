//go:build full

package apiserver

import (
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/test/api/operator/kube"
)

// beforeCRD is the kind as the release before had it. For the next release: gzip -9n of the file in config/crd/bases.
const beforeCRD = "testdata/loadtests.before.yaml.gz"

// notBefore is what errors name of samples that have what the release before hadn't: procedures, and criteria of observers.
var notBefore = []string{"spec.procedure", `criteria[0].metric: Unsupported value: "Observed"`}

// The kind is replaced in place, as an upgrade does it, under objects that the release before stored: each is what it was, and can still be changed.
func TestTheKindIsReplacedUnderStoredObjects(t *testing.T) {
	environment, stop, err := kube.Start([]string{unpacked(t, beforeCRD)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	server, err := client.New(environment.Config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	var before, news []*unstructured.Unstructured
	for _, o := range samples(t) {
		if err := server.Create(t.Context(), o); err == nil {
			before = append(before, withStatus(t, server, o))
		} else if slices.ContainsFunc(notBefore, func(words string) bool { return strings.Contains(err.Error(), words) }) {
			news = append(news, o)
		} else {
			t.Errorf("%s: the release before refuses it: %v", o.GetName(), err)
		}
	}
	if len(before) < 12 || len(news) < 3 {
		t.Fatalf("%d samples were stored, and %d are new; want 12 and 3 at least", len(before), len(news))
	}
	replace(t, server, news[0])
	for _, was := range before {
		is := was.DeepCopy()
		if err := server.Get(t.Context(), client.ObjectKeyFromObject(was), is); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(was.Object, is.Object); diff != "" {
			t.Errorf("%s was (-), is (+):\n%s", was.GetName(), diff)
		}
		is.SetLabels(map[string]string{"looked": "at"})
		if err := server.Update(t.Context(), is); err != nil {
			t.Errorf("%s can't be changed: %v", was.GetName(), err)
		}
		withStatus(t, server, is)
	}
	for _, o := range news {
		if err := server.Create(t.Context(), o); err != nil {
			t.Errorf("%s: %v", o.GetName(), err)
		}
	}
}

// unpacked is a directory with the file, without its .gz.
func unpacked(t *testing.T, file string) string {
	t.Helper()
	packed, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = packed.Close() }()
	reader, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, strings.TrimSuffix(filepath.Base(file), ".gz")), content, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// samples are the LoadTests of config/samples, all with names of their own in one namespace.
func samples(t *testing.T) (all []*unstructured.Unstructured) {
	t.Helper()
	for _, file := range exampleFiles(t, "config/samples/*.yaml") {
		for i, document := range documentsOf(t, file) {
			o := new(unstructured.Unstructured)
			if err := yaml.Unmarshal(document, &o.Object); err != nil {
				t.Fatal(err)
			}
			o.SetNamespace("default")
			o.SetName(strings.NewReplacer("_", "-", ".yaml", "").Replace(base(file)) + "-" + string(rune('a'+i)))
			o.SetGenerateName("")
			all = append(all, o)
		}
	}
	return all
}

// withStatus gives an object a result, and is the object as it is stored then.
func withStatus(t *testing.T, server client.Client, o *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	o = o.DeepCopy()
	status := map[string]any{"attempt": int64(1), "result": map[string]any{"saturated": true, "confirmed": true, "reason": "LossAboveLimit", "message": "window 12 was clean"}}
	if err := unstructured.SetNestedMap(o.Object, status, "status"); err != nil {
		t.Fatal(err)
	}
	if err := server.Status().Update(t.Context(), o); err != nil {
		t.Fatalf("%s: its status can't be written: %v", o.GetName(), err)
	}
	return o
}

// replace replaces the stored definition by today's, and waits until the server accepts what only the new one allows.
func replace(t *testing.T, server client.Client, allowed *unstructured.Unstructured) {
	t.Helper()
	document, err := os.ReadFile("../../../config/crd/bases/linerate.dev_loadtests.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var today, there apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(document, &today); err != nil {
		t.Fatal(err)
	}
	if err := server.Get(t.Context(), client.ObjectKeyFromObject(&today), &there); err != nil {
		t.Fatal(err)
	}
	there.Spec = today.Spec
	if err := server.Update(t.Context(), &there); err != nil {
		t.Fatalf("the kind can't be replaced in place: %v", err)
	}
	err = wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 5*time.Minute, true, func(ctx context.Context) (bool, error) {
		return server.Create(ctx, allowed.DeepCopy(), client.DryRunAll) == nil, nil
	})
	if err != nil {
		t.Fatalf("the new kind isn't served: %v", err)
	}
}
