// Package cli is the command line: one file per verb. Verbs read flags, wire packages together and print; what they print to stdout is
// data, what they print to stderr is messages for people.
//
// The commands that people type and those that pods run are here; generator_kinds.go says how each engine runs on this machine, and is reached from a runner's
// pod. The packages below:
//
// 	kubectl      the verbs of kubectl linerate, a file each; doctor names what a cluster lacks
// 	sidebyside   what table, compare and trend share on files and in a cluster
// 	exit         errors that carry the exit code, and how many arguments a verb demands
package cli
