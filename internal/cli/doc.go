// Package cli is the command line: one file per verb. Verbs read flags, wire packages together and print; what they print to stdout is
// data, what they print to stderr is messages for people.
//
// The commands that people type are here, and of those that pods run the flags: what they do is in internal/pod. generator_kinds.go says how each engine runs on this machine. The packages below:
//
//	kubectl      the verbs of kubectl linerate, a file each; doctor names what a cluster lacks
//	sidebyside   what the verbs share on files and in a cluster
package cli
