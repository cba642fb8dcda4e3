package devices

import (
	"debug/elf"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A program in an image of nothing else starts with the libraries that it names, and with what starts programs.
func TestAProgramComesWithWhatItLoads(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	files, err := withLibraries(shell)
	if err != nil {
		t.Fatal(err)
	}
	program, err := elf.Open(shell)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = program.Close() }()
	wanted, err := program.ImportedLibraries()
	if err != nil || len(wanted) == 0 {
		t.Fatalf("%s names no library (%v): this test wants one that does", shell, err)
	}
	var names []string
	for path, local := range files {
		if path != local {
			t.Errorf("%s is at %s in the image", local, path)
		}
		names = append(names, filepath.Base(path))
	}
	for _, name := range append(wanted, "sh") {
		if !slices.Contains(names, name) {
			t.Errorf("the image lacks %s: %v", name, names)
		}
	}
	if !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, "ld-linux") }) {
		t.Errorf("the image lacks the program that starts others: %v", names)
	}
}

func TestAnUnknownDeviceIsRefused(t *testing.T) {
	if _, _, err := Files("vpp"); err == nil || !strings.Contains(err.Error(), "testpmd and strongswan") {
		t.Error(err)
	}
}
