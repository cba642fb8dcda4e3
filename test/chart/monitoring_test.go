package chart

import (
	"bytes"
	"strings"
	"testing"

	crd "github.com/prometheus-operator/prometheus-operator/example"
)

// monitoringKinds are those of the Prometheus Operator's kinds that the chart can make.
func monitoringKinds() []string {
	return []string{"servicemonitors.monitoring.coreos.com", "prometheusrules.monitoring.coreos.com"}
}

// What the Prometheus Operator is to find is what its own definitions take, read strictly by an API server: an unknown field would be dropped there, and
// nobody scraped or warned.
func TestThePrometheusOperatorTakesWhatItIsToFind(t *testing.T) {
	for _, name := range monitoringKinds() {
		kubectl(t, definitionOf(t, name), "create", "-f", "-")
		t.Cleanup(func() { kubectl(t, "", "delete", "crd", name) })
		kubectl(t, "", "wait", "--for=jsonpath={.status.conditions}", "--timeout=60s", "crd/"+name) // without any, the next wait is an error
		kubectl(t, "", "wait", "--for=condition=Established", "--timeout=60s", "crd/"+name)
	}
	makeNamespace(t, "monitored")
	asked := `metrics: {serviceMonitor: {create: true, interval: 5s, labels: {release: prometheus}}, rules: {create: true, labels: {release: prometheus}}}`
	for way, manifest := range map[string]string{"the chart": render(t, asked).manifest, "kustomize": kustomize(t, "config/prometheus")} {
		for _, kind := range []string{"ServiceMonitor", "PrometheusRule"} {
			object := documentOf(t, manifest, kind)
			if out := kubectl(t, object, "create", "--dry-run=server", "--validate=strict", "-n", "monitored", "-f", "-"); !strings.Contains(out, "created") {
				t.Errorf("%s, %s: %s", way, kind, out)
			}
			broken := strings.Replace(object, "\nspec:", "\nspec:\n  misspelt: true", 1)
			if _, err := tryKubectl(t, broken, "create", "--dry-run=server", "--validate=strict", "-n", "monitored", "-f", "-"); err == nil || !strings.Contains(err.Error(), "misspelt") {
				t.Errorf("%s, %s: an unknown field is taken: %v", way, kind, err)
			}
		}
	}
}

// definitionOf is one of the Prometheus Operator's own definitions.
func definitionOf(t *testing.T, name string) string {
	t.Helper()
	var all bytes.Buffer
	must(t, crd.PrintAll(&all))
	for _, document := range documents(t, all.String()) {
		if strings.Contains(string(document), "\n  name: "+name+"\n") {
			return string(document)
		}
	}
	t.Fatalf("the Prometheus Operator has no definition %s", name)
	return ""
}

// documentOf is the one document of a kind, without a namespace of its own.
func documentOf(t *testing.T, manifest, kind string) string {
	t.Helper()
	for _, document := range documents(t, manifest) {
		if text := "\n" + string(document); strings.Contains(text, "\nkind: "+kind+"\n") {
			return withoutNamespace(text)
		}
	}
	t.Fatalf("there is no %s", kind)
	return ""
}

// withoutNamespace takes the namespace out of an object's metadata: the test's is named on the command line.
func withoutNamespace(text string) string {
	before, after, _ := strings.Cut(text, "\n  namespace: ")
	_, rest, _ := strings.Cut(after, "\n")
	return before + "\n" + rest
}
