// Package sidebyside is what the verbs table, compare and trend have in common, whether they read files or a cluster: formats and demands.
package sidebyside
