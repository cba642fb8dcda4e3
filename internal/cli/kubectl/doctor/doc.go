// Package doctor says whether a cluster has all that a LoadTest needs. Look reads, with the rights of the person who asks; Diagnose judges
// what was seen, and is pure. What can't be seen is said to be unknown, never to be well.
package doctor
