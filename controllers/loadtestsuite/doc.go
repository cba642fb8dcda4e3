// Package loadtestsuite makes the LoadTests of suites, one for each cell and repetition, and stores what they
// measured. It observes, lets internal/cluster/suite decide, and applies the decision.
package loadtestsuite
