// Package exit has errors that carry the exit code of the process. The codes themselves are in
// internal/document/report.
package exit
