// Package figures says what a Report claims, in its figures, each an interval that the truth lies in. It is pure.
// All code that judges a Report reads figures, whatever procedure measured them. A new metric is a row of the table
// in metrics.go, and a new procedure needs none.
package figures
