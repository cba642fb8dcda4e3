// Package kubectl runs `kubectl linerate` as a person would, on a terminal and piped, against a real API
// server. The tests play the operator: they write what it would write. Each command that docs/kubectl.md shows
// is run as it stands there.
package kubectl
