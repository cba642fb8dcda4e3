// Package cards has files of machines with network cards, as the kernel showed them in sysfs. A test changes what it
// is about, and asks what reads such files.
package cards

import (
	_ "embed" // the recordings
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing/fstest"
)

//go:embed igb.tree
var recordedIGB string

// IGB is a machine with two ports of an Intel 82576, eth1 on NUMA node 0 and eth0 on node 1, with two virtual functions
// each. They have the driver igbvf, and are eth4 and eth5, and eth2 and eth3. The machine has 420 MiB of hugepages on
// each node.
func IGB() fstest.MapFS { return read(recordedIGB) }

// read reads a recording. A line is "FILE = TEXT" or "LINK -> DESTINATION", and a comment begins with #.
func read(recorded string) fstest.MapFS {
	tree := fstest.MapFS{}
	for line := range strings.Lines(recorded) {
		line = strings.TrimSuffix(line, "\n")
		if name, destination, isLink := strings.Cut(line, " -> "); isLink {
			tree[name[1:]] = &fstest.MapFile{Data: []byte(destination), Mode: fs.ModeSymlink | 0o777}
		} else if name, text, isFile := strings.Cut(line, " = "); isFile {
			tree[name[1:]] = &fstest.MapFile{Data: []byte(text + "\n"), Mode: 0o444}
		}
	}
	return tree
}

// Set changes a file, or a link's destination, of an interface or a PCI address.
func Set(tree fstest.MapFS, device, file, text string) {
	for name, entry := range tree {
		if dir := path.Dir(name); path.Base(name) == file && path.Base(dir) == device &&
			strings.HasPrefix(name, "sys/devices/") {
			tree[name] = &fstest.MapFile{Data: []byte(text), Mode: entry.Mode}
		}
	}
}

// Remove removes a device's or an interface's files, or one file of it.
func Remove(tree fstest.MapFS, device string) {
	for name := range tree {
		if slices.Contains(strings.Split(name, "/"), device) {
			delete(tree, name)
		}
	}
}
