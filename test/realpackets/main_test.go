package realpackets

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/linerate-dev/linerate/internal/awake"
	"github.com/linerate-dev/linerate/test/impaired"
)

// linerate is the built binary that the tests run, as a person would.
var linerate string

func TestMain(m *testing.M) {
	impaired.Main()
	flag.Parse()
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "linerate-realpackets")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	linerate = filepath.Join(dir, "linerate")
	build := exec.Command("go", "build", "-o", linerate, "github.com/linerate-dev/linerate/cmd/linerate")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build linerate:", err)
		return 1
	}
	request, err := awake.Keep() // linerate run does so itself, and a generator that somebody else starts doesn't
	if err != nil {
		fmt.Fprintln(os.Stderr, "what is measured may be late:", err)
	}
	defer func() { _ = request.Close() }()
	return m.Run()
}

// beside lets a test run beside others: its packets are few, so that most of its time is waiting, and its clocks need little of a processor.
// What floods, and what goes into a published table, runs by itself.
func beside(t *testing.T) {
	t.Helper()
	needRoot(t)
	t.Parallel()
}

// needRoot skips where namespaces can't be made; in CI that is a failure, for a gate that measures nothing must not be green.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() == 0 {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("these tests make network namespaces: run them as root")
	}
	t.Skip("needs root: it makes network namespaces")
}
