package chart

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	release "helm.sh/helm/v4/pkg/release/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

const (
	root             = "../../../"
	chartDir         = root + "charts/linerate"
	releaseName      = "linerate"
	releaseNamespace = "linerate-system"
)

var update = flag.Bool("update", false, "write the golden files")

// rendered is what "helm template" would print, and what "helm install" would say.
type rendered struct{ manifest, notes string }

// values reads values as a person writes them.
func values(t *testing.T, text string) map[string]any {
	t.Helper()
	v := map[string]any{}
	if err := yaml.UnmarshalStrict([]byte(text), &v); err != nil {
		t.Fatalf("values: %v\n%s", err, text)
	}
	return v
}

func loadChart(t *testing.T) *chartv2.Chart {
	t.Helper()
	c, err := loader.Load(chartDir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// renderings are what became of values that were rendered before, and decodings the objects that were read of documents before: most renderings have most
// documents of the others, two CRDs among them.
var renderings, decodings sync.Map

// tryRender renders the chart with values over its own, without a cluster.
func tryRender(t *testing.T, text string) (rendered, error) {
	t.Helper()
	once, _ := renderings.LoadOrStore(text, sync.OnceValues(func() (rendered, error) { return renderAnew(t, text) }))
	return once.(func() (rendered, error))()
}

func renderAnew(t *testing.T, text string) (rendered, error) {
	t.Helper()
	quiet := action.ConfigurationSetLogger(slog.NewTextHandler(io.Discard, nil))
	install := action.NewInstall(action.NewConfiguration(quiet))
	install.ReleaseName, install.Namespace = releaseName, releaseNamespace
	install.DryRunStrategy = action.DryRunClient
	install.KubeVersion = &common.KubeVersion{Version: "v1.36.0", Major: "1", Minor: "36"}
	made, err := install.RunWithContext(t.Context(), loadChart(t), values(t, text))
	if err != nil {
		return rendered{}, err
	}
	r := made.(*release.Release)
	return rendered{manifest: r.Manifest, notes: r.Info.Notes}, nil
}

func render(t *testing.T, text string) rendered {
	t.Helper()
	r, err := tryRender(t, text)
	if err != nil {
		t.Fatalf("render with %s: %v", text, err)
	}
	return r
}

// strict reads objects of all kinds that are installed.
var strict = sync.OnceValues(func() (runtime.Decoder, error) {
	scheme := runtime.NewScheme()
	err := errors.Join(clientgoscheme.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme))
	return serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer(), err
})

// object is typed, and read strictly: a field that its type doesn't know is an error.
type object interface {
	metav1.Object
	runtime.Object
}

// objects reads a stream of YAML documents, leaving out those without content. They are the caller's own.
func objects(t *testing.T, stream string) (all []object) {
	t.Helper()
	for _, document := range documents(t, stream) {
		known, is := decodings.Load(string(document))
		if !is {
			known = decoded(t, document)
			decodings.Store(string(document), known)
		}
		all = append(all, known.(object).DeepCopyObject().(object))
	}
	return all
}

func decoded(t *testing.T, document []byte) object {
	t.Helper()
	decoder, err := strict()
	must(t, err)
	o, _, err := decoder.Decode(document, nil, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, document)
	}
	return o.(object)
}

// empty says of documents that were read before whether they have no content.
var empty sync.Map

func documents(t *testing.T, stream string) [][]byte {
	t.Helper()
	var all [][]byte
	reader := utilyaml.NewDocumentDecoder(io.NopCloser(strings.NewReader(stream)))
	for buffer := make([]byte, len(stream)+1); ; {
		n, err := reader.Read(buffer)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		document := bytes.Clone(bytes.TrimSpace(buffer[:n]))
		is, known := empty.Load(string(document))
		if !known {
			content, err := yaml.YAMLToJSON(document)
			if err != nil {
				t.Fatalf("%v\n%s", err, document)
			}
			is = string(content) == "null"
			empty.Store(string(document), is)
		}
		if !is.(bool) {
			all = append(all, document)
		}
	}
}

// find is the one object of its type with a name, in a namespace or none.
func find[T object](t *testing.T, all []object, namespace, name string) T {
	t.Helper()
	for _, o := range all {
		if typed, ok := o.(T); ok && o.GetName() == name && o.GetNamespace() == namespace {
			return typed
		}
	}
	var none T
	t.Fatalf("there is no %T %s/%s", none, namespace, name)
	return none
}

func count[T object](all []object) (n int) {
	for _, o := range all {
		if _, ok := o.(T); ok {
			n++
		}
	}
	return n
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := "testdata/" + name
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; -update writes it anew):\n%s", file, diff)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(root + file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
