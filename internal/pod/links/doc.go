// Package links finds what is behind a pod's links. It reports the interfaces that Multus attached
// (links.json), and the physical ports that those are virtual functions of. Init containers run it.
package links
