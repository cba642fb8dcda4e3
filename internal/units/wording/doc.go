// Package wording is how figures and counts are written for people, wherever a sentence needs one: in a Report, in a status, in a table.
package wording
