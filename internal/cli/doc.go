// Package cli is the command line, with a file for each verb. Verbs read flags, wire packages together and
// print. They print data to stdout, and messages for people to stderr.
//
// The commands that pods run have only their flags here. internal/pod has the rest. generator_kinds.go says how
// each engine runs on this machine. The packages below are
//
//	kubectl      the verbs of kubectl linerate, a file each; doctor names what a cluster lacks
//	qualify      measures what two ports of this machine can do and hide, and names what is weak
//	sidebyside   what the verbs share on files and in a cluster
package cli
