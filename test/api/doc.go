// Package api holds the tests that need a real API server, and no nodes: what it takes and refuses (apiserver,
// manifests), the operator and its chart (operator, chart), the verbs of kubectl linerate (kubectl), and what
// tenants try (tenants). `make kube` builds the server.
package api
