// Package render writes what linerate measured for people and for programs: each kind of document in each format that suits it. It decides
// nothing and changes nothing; what a figure is worth stands in the document.
package render
