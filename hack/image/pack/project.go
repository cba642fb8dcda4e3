package pack

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// module is where the project's programs are, in cmd/NAME each.
const module = "github.com/linerate-dev/linerate"

// Project is how the project's image starts, as in its Dockerfile.
func Project() Config {
	return Config{User: "65532:65532", Entrypoint: []string{"/linerate"}}
}

// projectPrograms are in cmd/NAME, and at /NAME in the image.
func projectPrograms() []string { return []string{"manager", "linerate"} }

// Programs builds the project's programs into dir, static and stripped, and says what goes where in the image.
// A program that the tree doesn't have (yet) is left out. version is what they say of themselves. It needs the
// go command, and a working directory in the module.
func Programs(dir, version string) (map[string]string, error) {
	return ProgramsFor(dir, version, runtime.GOARCH)
}

// ProgramsFor is Programs for machines of an architecture, as Go spells it.
func ProgramsFor(dir, version, architecture string) (map[string]string, error) {
	root, err := goOutput("list", "-m", "-f", "{{.Dir}}", module)
	if err != nil {
		return nil, fmt.Errorf("find the project: %w", err)
	}
	files := map[string]string{}
	for _, name := range projectPrograms() {
		source := filepath.Join(strings.TrimSpace(root), "cmd", name)
		if _, err := os.Stat(source); err != nil {
			continue
		}
		binary := filepath.Join(dir, name)
		if err := build(source, binary, version, architecture); err != nil {
			return nil, err
		}
		files["/"+name] = binary
	}
	return files, nil
}

// Tags are those that programs are built with. Without grpcnotrace gRPC's trace pages, which use templates,
// keep the linker from leaving out methods that nobody calls: a fourth of the manager.
const Tags = "grpcnotrace"

// build makes a static program of the main package in a folder of the project.
func build(source, binary, version, architecture string) error {
	// whichever the program has
	flags := fmt.Sprintf("-s -w -X main.version=%[2]s -X %[1]s/internal/cli.version=%[2]s", module, version)
	if _, err := goOutputFor(architecture, "build", "-C", source, "-trimpath", "-buildvcs=false", "-tags", Tags,
		"-ldflags", flags, "-o", binary, "."); err != nil {
		return fmt.Errorf("build %s: %w", source, err)
	}
	return nil
}

func goOutput(args ...string) (string, error) { return goOutputFor(runtime.GOARCH, args...) }

func goOutputFor(architecture string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+architecture)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, strings.TrimSpace(stderr.String()))
	}
	return string(output), nil
}
