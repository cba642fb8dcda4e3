// Package lifecycle decides what becomes of a LoadTest in a cluster. Its input is an observation, and its result what
// is done and what the status says. It is pure. The rules are an ordered list, each named after a situation. The first
// rule that applies decides.
package lifecycle
