// Package wording writes figures and counts for people, wherever a sentence needs one, as in a Report, in a status
// or in a table.
package wording
