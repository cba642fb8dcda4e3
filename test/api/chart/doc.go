// Package chart holds the tests of how linerate is installed: the chart over Helm's own library, config/ over
// kustomize's, both against a real API server, and the Dockerfile against the image that hack/image packs.
//
// It is a module of its own, so that the project's doesn't depend on Helm: run it with "make test-chart", or
// "go test ./..." in this folder.
package chart
