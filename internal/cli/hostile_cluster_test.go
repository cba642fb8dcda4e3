package cli

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/test/rigs/sanitizetest"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// hostileCluster answers as an API server does in which all texts are somebody else's, also those of errors and warnings.
func hostileCluster(t *testing.T, from int) *httptest.Server {
	t.Helper()
	condition := func(kind string, status metav1.ConditionStatus) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, Reason: v1alpha1.ReasonMeasured, LastTransitionTime: metav1.Now(), Message: strings.Join(sanitizetest.Words, " ")}
	}
	ended := []metav1.Condition{condition(v1alpha1.ConditionComplete, metav1.ConditionTrue), condition(v1alpha1.ConditionPassed, metav1.ConditionFalse), condition(v1alpha1.ConditionStalled, metav1.ConditionTrue)}
	hostile := func(v any) { sanitizetest.Fill(reflect.ValueOf(v), from, "Type", "Kind", "APIVersion", "Status") }
	fill := func(meta *metav1.ObjectMeta, status any, conditions *[]metav1.Condition) {
		sanitizetest.Make(reflect.ValueOf(status))
		*conditions = ended
		hostile(status)
		hostile(meta)
	}
	var test v1alpha1.LoadTest
	fill(&test.ObjectMeta, &test.Status, &test.Status.Conditions)
	test.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.LoadTestKind}
	var suite v1alpha1.LoadTestSuite
	fill(&suite.ObjectMeta, &suite.Status, &suite.Status.Conditions)
	suite.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.LoadTestSuiteKind}
	resources := metav1.APIResourceList{GroupVersion: v1alpha1.GroupVersion.String(), APIResources: []metav1.APIResource{
		{Name: "loadtests", Kind: v1alpha1.LoadTestKind, Namespaced: true, Verbs: metav1.Verbs{"get", "list", "watch", "patch", "create"}},
		{Name: "loadtestsuites", Kind: v1alpha1.LoadTestSuiteKind, Namespaced: true, Verbs: metav1.Verbs{"get", "list", "watch", "patch", "create"}},
	}}
	served := map[string]any{
		"/api":  metav1.APIVersions{Versions: []string{"v1"}},
		"/apis": metav1.APIGroupList{Groups: []metav1.APIGroup{{Name: v1alpha1.GroupVersion.Group, Versions: []metav1.GroupVersionForDiscovery{{GroupVersion: v1alpha1.GroupVersion.String(), Version: v1alpha1.GroupVersion.Version}}}}},
		"/apis/" + v1alpha1.GroupVersion.String():                                       resources,
		"/apis/" + v1alpha1.GroupVersion.String() + "/namespaces/lab/loadtests":         v1alpha1.LoadTestList{Items: []v1alpha1.LoadTest{test}},
		"/apis/" + v1alpha1.GroupVersion.String() + "/namespaces/lab/loadtests/it":      test,
		"/apis/" + v1alpha1.GroupVersion.String() + "/namespaces/lab/loadtestsuites":    v1alpha1.LoadTestSuiteList{Items: []v1alpha1.LoadTestSuite{suite}},
		"/apis/" + v1alpha1.GroupVersion.String() + "/namespaces/lab/loadtestsuites/it": suite,
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Warning", `299 - "::error::warned [link](https://evil.example) @somebody"`)
		what, is := served[r.URL.Path]
		if !is || r.Method == http.MethodPost {
			w.WriteHeader(http.StatusForbidden)
			what = metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Reason: metav1.StatusReasonForbidden, Code: http.StatusForbidden,
				Message: sanitizetest.Words[from%len(sanitizetest.Words)] + strings.Join(sanitizetest.Words, "\n")}
		}
		if err := json.NewEncoder(w).Encode(what); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// Whoever may write LoadTests, or their status, or stands in front of the API server, has no terminal, no log and no comment of who looks.
func TestNoVerbOfAClusterSaysWhatAHostileClusterWantsItTo(t *testing.T) {
	tier.Plain(t)
	file := filepath.Join(t.TempDir(), "test.yaml")
	if err := os.WriteFile(file, []byte("apiVersion: linerate.dev/v1alpha1\nkind: LoadTest\nmetadata: {name: it}\nspec:\n  dut: {type: Reference}\n  links: [{name: west}, {name: east}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for from := 0; from < len(sanitizetest.Words); from += 9 {
		at := []string{"--server", hostileCluster(t, from).URL, "-n", "lab", "--kubeconfig", filepath.Join(t.TempDir(), "none")}
		at[len(at)-1] = file + ".kubeconfig"
		if err := os.WriteFile(at[len(at)-1], []byte("apiVersion: v1\nkind: Config\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		said := map[string]int{}
		for _, line := range [][]string{
			{"list"}, {"list", "--all"}, {"list", "-o", "json"}, {"watch", "it"}, {"stop", "it"}, {"doctor"}, {"run", file}, {"gate", "-f", file}, {"compare", "it", "it"}, {"trend", "it"},
			{"report", "it"}, {"report", "it", "-o", "json"}, {"report", "it", "-o", "markdown"}, {"report", "it", "-o", "csv"}, {"report", "it", "-o", "junit"}, {"report", "it", "-o", "html"}, {"list", "--no\n::error::flag"},
		} {
			var out, talk bytes.Buffer
			MainAs("kubectl-linerate", append(line, at...), Streams{In: strings.NewReader(""), Out: &out, Err: &talk})
			format := ""
			if len(line) > 2 && line[len(line)-2] == "-o" {
				format = line[len(line)-1]
			}
			what := strings.Join(line, " ")
			sanitizetest.Check(t, what, format, out.Bytes())
			sanitizetest.Check(t, what, "", talk.Bytes())
			said[line[0]] += out.Len() + talk.Len()
			if strings.Contains(talk.String(), "kubeconfig") || strings.Contains(talk.String(), "no cluster") {
				t.Fatalf("%s never asked the cluster: %s", what, talk.String())
			}
		}
		for verb, bytes := range said {
			if bytes == 0 {
				t.Errorf("%s said nothing", verb)
			}
		}
	}
}
