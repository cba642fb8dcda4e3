// Package render writes what linerate measured for people and for programs, each kind of document in each format
// that suits it. It decides nothing and changes nothing. The document says what a figure is worth.
package render
