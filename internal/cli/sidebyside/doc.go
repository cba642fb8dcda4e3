// Package sidebyside has what the verbs of linerate and of kubectl linerate share: formats, demands, arguments
// and signals.
package sidebyside
