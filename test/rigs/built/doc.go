// Package built has the project's programs as tests start them. Each is linked once for all tests of a gate, as
// linking one takes some seconds of a processor.
package built
