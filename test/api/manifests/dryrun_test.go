package manifests

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// TestTheAPIServerAcceptsTheObjects: every object of every golden file, with no field that the server doesn't know; and what comes back
// says all that was said, so that nothing was dropped or turned into something else.
func TestTheAPIServerAcceptsTheObjects(t *testing.T) {
	for _, file := range goldens(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			for _, o := range objects(t, file) {
				stored := o.DeepCopy()
				if err := server.Create(t.Context(), stored, client.DryRunAll); err != nil {
					t.Errorf("%s %s: %v", o.GetKind(), o.GetName(), err)
					continue
				}
				for _, lost := range missing(o.Object, stored.Object, o.GetKind()+" "+o.GetName()) {
					t.Error(lost)
				}
			}
		})
	}
}

// missing are the places where the second value doesn't have what the first has. It may have more: defaults.
func missing(said, kept any, at string) []string {
	var out []string
	switch s := said.(type) {
	case map[string]any:
		k, _ := kept.(map[string]any)
		for key, value := range s {
			out = append(out, missing(value, k[key], at+"."+key)...)
		}
	case []any:
		k, _ := kept.([]any)
		if len(k) < len(s) {
			return []string{at + ": the list is shorter"}
		}
		for i, value := range s {
			out = append(out, missing(value, k[i], at)...)
		}
	default:
		a, b := text(said), text(kept)
		if a != b {
			out = append(out, at+": "+a+" became "+b)
		}
	}
	return out
}

func text(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

// TestPodsHaveTheirQoSClass: the API server computes it, and a node pins only Guaranteed pods to CPUs.
func TestPodsHaveTheirQoSClass(t *testing.T) {
	shared := []string{"device_setup", "endpoint_pod", "nodes", "observed_pod", "power", "reference_ipsec", "reference_tunnel", "reference_userspace", "reset_pod", "software_loopback", "software_pod", "software_reference", "reference_xdp", "trex_kernel_reference"}
	seen := 0
	for _, file := range goldens(t) {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		for _, o := range objects(t, file) {
			if o.GetKind() != "Pod" || o.GetLabels()["linerate.dev/role"] != "generator" {
				continue
			}
			seen++
			if err := server.Create(t.Context(), o, client.DryRunAll); err != nil {
				t.Fatal(err)
			}
			want := corev1.PodQOSGuaranteed
			if slices.Contains(shared, name) {
				want = corev1.PodQOSBurstable
			}
			if got, _, _ := unstructured.NestedString(o.Object, "status", "qosClass"); got != string(want) {
				t.Errorf("%s: %s is %q, want %s", name, o.GetName(), got, want)
			}
		}
	}
	if seen == 0 {
		t.Error("no generator was looked at")
	}
}

// goldens are the golden files.
func goldens(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../../internal/cluster/manifests/testdata/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(f string) bool { return filepath.Base(f) == "networks.yaml" })
	if len(files) == 0 {
		t.Fatal("no golden files")
	}
	return files
}

func objects(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []*unstructured.Unstructured
	for document := range bytes.SplitSeq(content, []byte("\n---\n")) {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(document, &o.Object); err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
	return all
}
