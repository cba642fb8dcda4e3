// Package pages holds the tests of what is written: pages against the code (documents), and what an earlier release wrote (compatibility). published writes the
// tables of docs/measured.
package pages
