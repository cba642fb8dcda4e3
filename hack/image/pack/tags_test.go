package pack_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/hack/image/pack"
)

// Whoever builds the manager for use, or to say what it takes, builds the same program.
func TestTheManagerIsBuiltAlike(t *testing.T) {
	for file, command := range map[string]string{"../../../Dockerfile": "-tags " + pack.Tags, "../../../Makefile": "-tags " + pack.Tags, "../../bench-operator/process.go": `"-tags", pack.Tags`} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		builds := 0
		for line := range strings.Lines(string(text)) {
			if !strings.Contains(line, "-trimpath") || !strings.Contains(line, "./cmd/manager") {
				continue
			}
			if builds++; !strings.Contains(line, command) {
				t.Errorf("%s builds the manager without %s: %s", file, command, line)
			}
		}
		if builds != 1 {
			t.Errorf("%s builds the manager in %d lines, want one", file, builds)
		}
	}
}

// gRPC comes with the filter of the metrics' callers. Its trace pages call methods by names that the linker can't know.
func TestNoTracePagesAreInTheManager(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-tags", pack.Tags, "github.com/linerate-dev/linerate/cmd/manager").Output()
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.Fields(string(out)); !slices.Contains(all, "google.golang.org/grpc") || slices.Contains(all, "golang.org/x/net/trace") {
		t.Error("the manager has no gRPC, so it needs no tag for it, or it has gRPC with its trace pages")
	}
}
