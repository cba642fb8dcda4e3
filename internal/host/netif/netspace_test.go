package netif_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/host/netif"
)

func newNamespace(t *testing.T) *netif.Namespace {
	t.Helper()
	if os.Geteuid() != 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("this test makes network namespaces and must run as root")
		}
		t.Skip("needs root: it makes network namespaces")
	}
	ns, err := netif.NewNamespace()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ns.Close() })
	return ns
}

func TestANamespace(t *testing.T) {
	t.Run("a namespace has none of the machine's cables", func(t *testing.T) {
		ns := newNamespace(t)
		err := ns.Do(func() error {
			links, err := netlink.LinkList()
			for _, l := range links {
				// Tunnel drivers built into a kernel may put a fallback device into each namespace; those are down
				// and nobody's.
				if name := l.Attrs().Name; name != "lo" && l.Attrs().ParentIndex != 0 {
					t.Errorf("it has %s", name)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	t.Run("a thread leaves the namespace again", func(t *testing.T) {
		ns := newNamespace(t)
		before := id(t)
		for range 20 {
			if err := ns.Do(func() error { return nil }); err != nil {
				t.Fatal(err)
			}
			if after := id(t); after != before {
				t.Fatalf("we are in %d now, and were in %d", after, before)
			}
		}
	})
	t.Run("Do returns the function's error", func(t *testing.T) {
		want := errors.New("mine")
		if got := newNamespace(t).Do(func() error { return want }); !errors.Is(got, want) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("a nil Namespace is the caller's own", func(t *testing.T) {
		var own *netif.Namespace
		ran := false
		if err := errors.Join(own.Do(func() error { ran = true; return nil }), own.Close()); err != nil || !ran {
			t.Errorf("ran %v, error %v", ran, err)
		}
	})
}

func id(t *testing.T) uint64 {
	t.Helper()
	ns, err := netif.CurrentNamespace()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ns.Close() }()
	inode, err := ns.ID()
	if err != nil {
		t.Fatal(err)
	}
	return inode
}

// A program starts in the namespace, dies with who started it, and one that isn't there is an error.
func TestAProgramStartsInIt(t *testing.T) {
	for name, ns := range map[string]*netif.Namespace{"another namespace": newNamespace(t), "the caller's own": nil} {
		t.Run(name, func(t *testing.T) {
			var want string
			if err := ns.Do(func() (err error) {
				want, err = os.Readlink("/proc/thread-self/ns/net")
				return err
			}); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			cmd := exec.Command("readlink", "/proc/self/ns/net")
			var said strings.Builder
			cmd.Stdout = &said
			if err := ns.Start(cmd, func() { ended <- cmd.Wait() }); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; err != nil || strings.TrimSpace(said.String()) != want {
				t.Errorf("it ran in %q and ended with %v, want %q", said.String(), err, want)
			}
			if cmd.SysProcAttr.Pdeathsig != syscall.SIGKILL {
				t.Error("it would outlive this process")
			}
			if err := ns.Start(exec.Command("/no/such/program"), func() { t.Error("what was not started is tended") }); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a program that isn't there: %v", err)
			}
		})
	}
}
