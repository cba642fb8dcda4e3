// Package sidebyside is what the verbs of linerate and of kubectl linerate have in common, whether they read files or a cluster: formats, demands, arguments and signals.
package sidebyside
