// Package crd holds the generated CustomResourceDefinitions, so that the command line judges a file by the very
// schema that a cluster does.
package crd

import _ "embed" // for the manifests

// loadTests is the manifest as it is applied to a cluster.
//
//go:embed bases/linerate.dev_loadtests.yaml
var loadTests []byte

// LoadTests returns the CustomResourceDefinition of LoadTest as YAML.
func LoadTests() []byte { return append([]byte(nil), loadTests...) }

// loadTestSuites is the manifest as it is applied to a cluster.
//
//go:embed bases/linerate.dev_loadtestsuites.yaml
var loadTestSuites []byte

// LoadTestSuites returns the CustomResourceDefinition of LoadTestSuite as YAML.
func LoadTestSuites() []byte { return append([]byte(nil), loadTestSuites...) }
