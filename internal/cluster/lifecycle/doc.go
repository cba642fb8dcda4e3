// Package lifecycle decides what becomes of a LoadTest in a cluster: from what was observed to what is done and
// said. It is pure. The rules are an ordered list, each named after a situation; the first that applies
// decides.
package lifecycle
