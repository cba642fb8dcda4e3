// Package rbac holds the Roles that linerate is installed with in the operator's own namespace, so that the
// command line looks for the very rights that they give.
package rbac

import _ "embed" // for the manifests

// runnerRole is the manifest, before a prefix is put to its name and a namespace is given.
//
//go:embed runner_role.yaml
var runnerRole []byte

// RunnerRole returns the Role of runners, as YAML.
func RunnerRole() []byte { return append([]byte(nil), runnerRole...) }

// runsRole is the manifest, before a prefix is put to its name and a namespace is given.
//
//go:embed runs_role.yaml
var runsRole []byte

// RunsRole returns what the manager may do beside its ClusterRole where runners are, as YAML.
func RunsRole() []byte { return append([]byte(nil), runsRole...) }
