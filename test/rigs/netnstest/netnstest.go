package netnstest

import (
	"os"
	"testing"

	"github.com/linerate-dev/linerate/internal/host/netif"
)

// Root skips a test that isn't root's. In CI such a test fails, since a gate that tries nothing must not be green.
func Root(t *testing.T) {
	t.Helper()
	if os.Geteuid() == 0 {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("this test makes network namespaces or samples processors, and must run as root")
	}
	t.Skip("needs root: it makes network namespaces or samples processors")
}

// New is a network namespace that ends with the test.
func New(t *testing.T) *netif.Namespace {
	t.Helper()
	Root(t)
	ns, err := netif.NewNamespace()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ns.Close() })
	return ns
}

// RunIn runs a function in a namespace. Its error ends the test.
func RunIn(t *testing.T, ns *netif.Namespace, fn func() error) {
	t.Helper()
	if err := ns.Do(fn); err != nil {
		t.Fatal(err)
	}
}
