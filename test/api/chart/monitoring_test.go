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
func TestThePrometheusOperatorFindsTheMonitor(t *testing.T) {
	for _, name := range monitoringKinds() {
		kubectl(t, definitionOf(t, name), "create", "-f", "-")
		t.Cleanup(func() { kubectl(t, "", "delete", "crd", name) })
		kubectl(t, "", "wait", "--for=jsonpath={.status.conditions}", "--timeout=60s", "crd/"+name) // without any, the next wait is an error
		kubectl(t, "", "wait", "--for=condition=Established", "--timeout=60s", "crd/"+name)
	}
	makeNamespace(t, "monitored")
	asked := `metrics: {serviceMonitor: {create: true, interval: 5s, labels: {release: prometheus}}, rules: {create: true, labels: {release: prometheus}}}`
	for way, manifest := range map[string]string{
		"the chart":                      render(t, asked).manifest,
		"with a certificate and a token": render(t, `metrics: {certificateSecret: metrics-tls, serviceMonitor: {create: true, tokenSecret: {name: prometheus}}, rules: {create: true}}`).manifest,
		"over HTTP":                      render(t, `metrics: {secure: false, serviceMonitor: {create: true}, rules: {create: true}}`).manifest,
		"kustomize":                      kustomize(t, "config/prometheus"),
	} {
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

// How Prometheus scrapes follows from how the manager serves: the port's name, the scheme, whose certificate and whose token.
func TestTheServiceMonitorFitsTheManager(t *testing.T) {
	const ownToken, unchecked = "bearerTokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token", "tlsConfig:\n      insecureSkipVerify: true"
	for values, want := range map[string][]string{
		"metrics: {serviceMonitor: {create: true}}": {"port: https", "scheme: https", ownToken, unchecked},
		"metrics: {serviceMonitor: {create: true}, certificateSecret: metrics-tls}": {"port: https", ownToken,
			"tlsConfig:\n      ca:\n        secret: {name: metrics-tls, key: ca.crt}\n      serverName: linerate-metrics.linerate-system.svc"},
		"metrics: {serviceMonitor: {create: true, tokenSecret: {name: its}}}": {"authorization:\n      credentials: {name: its, key: token}", unchecked},
		"metrics: {serviceMonitor: {create: true}, secure: false}":            {"- port: http\n    path: /metrics"},
	} {
		monitor := documentOf(t, render(t, values).manifest, "ServiceMonitor")
		for _, text := range want {
			if !strings.Contains(monitor, text) {
				t.Errorf("%s: no %q in\n%s", values, text, monitor)
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
