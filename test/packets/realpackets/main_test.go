package realpackets

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/test/rigs/built"
	"github.com/linerate-dev/linerate/test/rigs/impaired"
)

// linerate is the built binary that the tests run, as a person would.
var linerate string

func TestMain(m *testing.M) {
	impaired.Main()
	driftingGenerator()
	flag.Parse()
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	var err error
	if linerate, err = built.Program("linerate"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	request, err := machine.KeepAwake() // linerate run does so itself; linerate generator doesn't
	if err != nil {
		fmt.Fprintln(os.Stderr, "what is measured may be late:", err)
	}
	defer func() { _ = request.Close() }()
	return m.Run()
}

// beside lets a test run in parallel: it sends few packets, so that it waits most of the time, and needs little processor time.
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
