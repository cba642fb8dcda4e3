// Package doctor says whether a cluster has all that a LoadTest needs. Look reads, with the rights of the
// person who asks. Diagnose judges what Look read, and is pure. It calls unknown what Look couldn't read.
// DiagnoseCards judges the network cards of one machine, and is pure, too.
package doctor
