package launch

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Names of TRex's server in its directory. The second is built for CPUs without the first one's instructions.
const (
	binaryName   = "_t-rex-64"
	fallbackName = "_t-rex-64-o"
)

// usualPlaces are where images keep TRex. A release's own folder, or a clone's scripts folder, may be below.
var usualPlaces = []string{"/opt/trex", "/trex", "/opt/trex-core", "/opt/cisco/trex", "/usr/local/trex",
	"/usr/local/share/trex", "/usr/share/trex", "/root/trex"}

// Installation is a TRex that can be started.
type Installation struct {
	Directory string
	Binary    string
	// Fallback is the binary for older CPUs, empty if there is none.
	Fallback string
}

// Find looks for TRex in asked, else in the usual places, and checks that its binary can run here. It must be
// built for arch (as runtime.GOARCH has it), with all its shared libraries in reach. Errors are Faults.
func Find(root fs.FS, asked, arch string) (Installation, error) {
	t := tree{root}
	places := t.places(asked)
	for _, dir := range places {
		if !t.exists(path.Join(dir, binaryName)) {
			continue
		}
		i := Installation{Directory: dir, Binary: path.Join(dir, binaryName)}
		if t.exists(path.Join(dir, fallbackName)) {
			i.Fallback = path.Join(dir, fallbackName)
		}
		return i, t.runnable(i, arch)
	}
	return Installation{}, Fault{TRexNotFound, fmt.Sprintf("no %s in %s", binaryName, strings.Join(places, ", ")),
		"set spec.generator.trex.directory to the folder that holds it, as the release's archive does"}
}

func (t tree) places(asked string) []string {
	if asked != "" {
		return []string{path.Clean(asked), path.Join(asked, "scripts")}
	}
	var places []string
	for _, dir := range usualPlaces {
		places = append(places, dir, path.Join(dir, "scripts"))
		for _, name := range slices.Backward(t.names(dir)) { // a later version's name mostly sorts later
			if strings.HasPrefix(name, "v") && t.exists(path.Join(dir, name, binaryName)) {
				places = append(places, path.Join(dir, name))
			}
		}
	}
	return places
}

func (t tree) runnable(i Installation, arch string) error {
	info, err := fs.Stat(t.FS, inside(i.Binary))
	if err != nil {
		return fmt.Errorf("look at %s: %w", i.Binary, err)
	}
	if info.IsDir() || info.Mode()&0o111 == 0 {
		return Fault{TRexNotFound, i.Binary + " isn't an executable file", "chmod +x it when building the image"}
	}
	return t.checkBinary(i, arch)
}
