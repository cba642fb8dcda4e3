package lab_test

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/device/lab"
	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/test/rigs/netnstest"
)

// The generator's port g0 is cabled to the device's namespace, and g1 to the generator's own.
func TestTheDevicesProcessesAreThoseAtTheFarEnd(t *testing.T) {
	netnstest.Root(t)
	generator, device, elsewhere := netnstest.New(t), netnstest.New(t), netnstest.New(t)
	netnstest.RunIn(t, generator, func() error {
		for name, far := range map[string]*netif.Namespace{"g0": device, "g1": generator} {
			attrs := netlink.NewLinkAttrs()
			attrs.Name = name
			if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: "d-" + name,
				PeerNamespace: netlink.NsFd(far.Fd())}); err != nil {
				return err
			}
		}
		return nil
	})
	pids := map[string]int{"the device's": sleeper(t, device), "the generator's": sleeper(t, generator),
		"somebody else's": sleeper(t, elsewhere), "the machine's": os.Getpid()}
	for name, ports := range map[string][]string{"both ports": {"g0", "g1"},
		"the port that is cabled to itself": {"g1"}} {
		netnstest.RunIn(t, generator, func() error {
			far, err := lab.FarEndOf(ports)
			if err != nil {
				return err
			}
			for owner, pid := range pids {
				if want := owner == "the device's" && len(ports) == 2; far.Holds(pid) != want {
					t.Errorf("%s: that %s process is the device's is %v, want %v", name, owner, !want, want)
				}
			}
			return nil
		})
	}
	netnstest.RunIn(t, generator, func() error {
		if _, err := lab.FarEndOf([]string{"none"}); err == nil {
			t.Error("the far end of an interface that isn't there was found")
		}
		return nil
	})
}

func TestWithoutAFarEndNoProcessIsTheDevices(t *testing.T) {
	var absent *lab.FarEnd
	if absent.Holds(os.Getpid()) {
		t.Error("this process is said to be at the far end of nothing")
	}
}

// sleeper is a process in a namespace, until the test ends.
func sleeper(t *testing.T, ns *netif.Namespace) int {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	netnstest.RunIn(t, ns, cmd.Start)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}
