// Package answer writes the two lines that a Report begins with in each format, condition and event. The first line has
// the figure. The second line says what set the figure, and what to do. All second lines are rows of one table.
package answer
