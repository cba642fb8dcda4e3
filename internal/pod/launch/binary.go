package launch

import (
	"debug/elf"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// checkBinary finds out, without starting the binary, whether the loader would. It checks the machine, the
// loader itself, and the shared libraries. A file that is no ELF file, such as a script, passes.
func (t tree) checkBinary(i Installation, arch string) error {
	file, err := t.Open(inside(i.Binary))
	if err != nil {
		return fmt.Errorf("open %s: %w", i.Binary, err)
	}
	defer func() { _ = file.Close() }()
	readable, ok := file.(io.ReaderAt)
	if !ok {
		return nil
	}
	binary, err := elf.NewFile(readable)
	if err != nil {
		return nil // no ELF file, such as a script, which the kernel may still run
	}
	if built, ok := architectures[binary.Machine]; !ok || built != arch {
		return Fault{WrongArchitecture, fmt.Sprintf("%s is built for %s, and this machine is %s", i.Binary,
			binary.Machine, arch),
			"use an image for this architecture, or select nodes of the image's (nodeSelector kubernetes.io/arch)"}
	}
	return t.checkLibraries(i, binary, arch)
}

var architectures = map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}

func (t tree) checkLibraries(i Installation, binary *elf.File, arch string) error {
	if loader := interpreter(binary); loader != "" && !t.exists(loader) {
		return Fault{MissingLibrary, fmt.Sprintf("%s needs the loader %s, which the image lacks", i.Binary, loader),
			"build the image on one with glibc (Debian, Ubuntu, a Red Hat), not on scratch or musl"}
	}
	needed, err := binary.ImportedLibraries()
	if err != nil {
		return nil //nolint:nilerr // a static binary needs none
	}
	var missing []string
	dirs := append(libraryDirectories(i.Directory, arch), t.systemLibraries()...)
	for _, name := range needed {
		if !slices.ContainsFunc(dirs, func(dir string) bool { return t.exists(path.Join(dir, name)) }) {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return Fault{MissingLibrary, fmt.Sprintf("%s needs %s, which aren't in the image", i.Binary,
		strings.Join(missing, ", ")), "copy the whole release folder, and install what it needs"}
}

func interpreter(binary *elf.File) string {
	for _, p := range binary.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		name, err := io.ReadAll(io.LimitReader(p.Open(), 4096))
		if err == nil {
			return strings.TrimRight(string(name), "\x00")
		}
	}
	return ""
}

// libraryDirectories are where a release keeps its own shared libraries.
func libraryDirectories(directory, arch string) []string {
	machine := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[arch]
	return []string{directory, path.Join(directory, "so"), path.Join(directory, "so", machine)}
}

// systemLibraries are the folders where the loader looks by itself, built in or configured.
func (t tree) systemLibraries() []string {
	dirs := []string{"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/local/lib64"}
	for _, machine := range []string{"x86_64-linux-gnu", "aarch64-linux-gnu"} {
		dirs = append(dirs, "/lib/"+machine, "/usr/lib/"+machine)
	}
	for _, name := range t.names("/etc/ld.so.conf.d") {
		for line := range strings.Lines(t.text("/etc/ld.so.conf.d/" + name)) {
			if dir := strings.TrimSpace(line); strings.HasPrefix(dir, "/") {
				dirs = append(dirs, dir)
			}
		}
	}
	return dirs
}
