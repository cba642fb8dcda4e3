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

// hostileCluster answers as an API server does in which all texts are somebody else's, also those of errors and
// warnings.
func hostileCluster(t *testing.T, offset int) *httptest.Server {
	t.Helper()
	condition := func(kind string, status metav1.ConditionStatus) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, Reason: v1alpha1.ReasonMeasured,
			LastTransitionTime: metav1.Now(), Message: strings.Join(sanitizetest.Words, " ")}
	}
	ended := []metav1.Condition{condition(v1alpha1.ConditionComplete, metav1.ConditionTrue),
		condition(v1alpha1.ConditionPassed, metav1.ConditionFalse), condition(v1alpha1.ConditionStalled,
			metav1.ConditionTrue)}
	hostile := func(v any) { sanitizetest.Fill(reflect.ValueOf(v), offset, "Type", "Kind", "APIVersion", "Status") }
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
	resources := metav1.APIResourceList{GroupVersion: v1alpha1.GroupVersion.String(),
		APIResources: []metav1.APIResource{
			{Name: "loadtests", Kind: v1alpha1.LoadTestKind, Namespaced: true, Verbs: metav1.Verbs{"get", "list",
				"watch",
				"patch", "create"}},
			{Name: "loadtestsuites", Kind: v1alpha1.LoadTestSuiteKind, Namespaced: true, Verbs: metav1.Verbs{"get",
				"list",
				"watch", "patch", "create"}},
		}}
	served := map[string]any{
		"/api": metav1.APIVersions{Versions: []string{"v1"}},
		"/apis": metav1.APIGroupList{Groups: []metav1.APIGroup{{Name: v1alpha1.GroupVersion.Group,
			Versions: []metav1.GroupVersionForDiscovery{{GroupVersion: v1alpha1.GroupVersion.String(),
				Version: v1alpha1.GroupVersion.Version}}}}},
		"/apis/" + v1alpha1.GroupVersion.String(): resources,
		"/apis/" + v1alpha1.GroupVersion.String() +
			"/namespaces/lab/loadtests": v1alpha1.LoadTestList{Items: []v1alpha1.LoadTest{test}},
		"/apis/" + v1alpha1.GroupVersion.String() + "/namespaces/lab/loadtests/it": test,
		"/apis/" + v1alpha1.GroupVersion.String() +
			"/namespaces/lab/loadtestsuites": v1alpha1.LoadTestSuiteList{Items: []v1alpha1.LoadTestSuite{suite}},
		"/apis/" + v1alpha1.GroupVersion.String() + "/namespaces/lab/loadtestsuites/it": suite,
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Warning", `299 - "::error::warned [link](https://evil.example) @somebody"`)
		object, ok := served[r.URL.Path]
		if !ok || r.Method == http.MethodPost {
			w.WriteHeader(http.StatusForbidden)
			object = metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
				Status: metav1.StatusFailure, Reason: metav1.StatusReasonForbidden, Code: http.StatusForbidden,
				Message: sanitizetest.Words[offset%len(sanitizetest.Words)] + strings.Join(sanitizetest.Words, "\n")}
		}
		if err := json.NewEncoder(w).Encode(object); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// Whoever may write LoadTests, or their status, or stands in front of the API server, has no terminal, no log
// and no comment of who looks.
func TestNoVerbOfAClusterSaysWhatAHostileClusterWantsItTo(t *testing.T) {
	tier.Plain(t)
	file := filepath.Join(t.TempDir(), "test.yaml")
	if err := os.WriteFile(file, []byte("apiVersion: linerate.dev/v1alpha1\nkind: LoadTest\nmetadata: {name: it}\n"+
		"spec:\n  dut: {type: Reference}\n  links: [{name: west}, {name: east}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for offset := 0; offset < len(sanitizetest.Words); offset += 9 {
		flags := []string{"--server", hostileCluster(t, offset).URL, "-n", "lab", "--kubeconfig",
			filepath.Join(t.TempDir(), "none")}
		flags[len(flags)-1] = file + ".kubeconfig"
		if err := os.WriteFile(flags[len(flags)-1], []byte("apiVersion: v1\nkind: Config\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		counts := map[string]int{}
		for _, line := range [][]string{
			{"list"}, {"list", "--all"}, {"list", "-o", "json"}, {"watch", "it"}, {"stop", "it"}, {"doctor"},
			{"run", file}, {"gate", "-f", file}, {"compare", "it", "it"}, {"trend", "it"},
			{"report", "it"}, {"report", "it", "-o", "json"}, {"report", "it", "-o", "markdown"},
			{"report", "it", "-o", "csv"}, {"report", "it", "-o", "junit"}, {"report", "it", "-o", "html"},
			{"list", "--no\n::error::flag"},
		} {
			var stdout, stderr bytes.Buffer
			Main("kubectl-linerate", append(line, flags...), Streams{Stdin: strings.NewReader(""), Stdout: &stdout,
				Stderr: &stderr})
			format := ""
			if len(line) > 2 && line[len(line)-2] == "-o" {
				format = line[len(line)-1]
			}
			object := strings.Join(line, " ")
			sanitizetest.Check(t, object, format, stdout.Bytes())
			sanitizetest.Check(t, object, "", stderr.Bytes())
			counts[line[0]] += stdout.Len() + stderr.Len()
			if strings.Contains(stderr.String(), "kubeconfig") || strings.Contains(stderr.String(), "no cluster") {
				t.Fatalf("%s never asked the cluster: %s", object, stderr.String())
			}
		}
		for verb, bytes := range counts {
			if bytes == 0 {
				t.Errorf("%s said nothing", verb)
			}
		}
	}
}
