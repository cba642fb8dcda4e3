// Package lifecycle decides what becomes of a LoadTest in a cluster: from what was observed to what is to be done and said, purely. The
// rules are an ordered list, each named after a situation; the first that recognises its own decides.
package lifecycle
