// Package pages holds the tests of what is written: documents holds pages against the code, published writes
// the tables of docs/measured.
package pages
