// Package inventory reads what the cluster has for tests, which is its nodes with their devices, and the
// networks that links may name.
//
//	nodes, NetworkAttachmentDefinitions ──▶ Inventory ──▶ lifecycle.Inventory of one test, lifecycle.Node
package inventory
