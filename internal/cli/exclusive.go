package cli

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/pod/launch"
)

// claims are names that this process holds until it ends. A name is an abstract socket, which the kernel
// removes with the process, and which exists once in a network namespace, as an interface does.
type claims []net.Listener

// claim takes a name. It returns false where another process holds the name.
func (c *claims) claim(name string) (claimed bool, err error) {
	l, err := net.Listen("unix", "@linerate/"+name)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("claim %s: %w", name, err)
	}
	*c = append(*c, l)
	return true, nil
}

func (c *claims) release() {
	for _, l := range *c {
		_ = l.Close()
	}
}

// claimPorts takes the interfaces of a Device test, since two tests on one cable would measure each other.
func (c *claims) claimPorts(ports []string) error {
	for _, port := range ports {
		claimed, err := c.claim("port/" + port)
		if err != nil {
			return err
		}
		if !claimed {
			return fmt.Errorf("--ports %s: another linerate run sends on this interface: wait for its end, or use "+
				"another", port)
		}
	}
	return nil
}

// claimWires takes the physical ports whose virtual functions the interfaces are, since two runs on one cable
// would measure each other. It refuses two interfaces of one port unless the test allows them. Then shared
// names them.
func (c *claims) claimWires(
	ports []string, behind func(string) launch.Port, allowed bool,
) (shared []string, err error) {
	first := map[string]string{}
	for _, name := range ports {
		p := behind(name)
		if p.Name == "" || !p.Shared {
			continue
		}
		if sibling, duplicate := first[p.Name]; duplicate {
			words := fmt.Sprintf("physical port %s is behind the interfaces %s and %s", p.Name, sibling, name)
			if !allowed {
				return nil, fmt.Errorf("--ports: %s: they would share its bandwidth: use interfaces of two ports, or "+
					"allow it with spec.sharedPort: Allowed, which marks the result", words)
			}
			shared = append(shared, words)
			continue
		}
		first[p.Name] = name
		claimed, err := c.claim("wire/" + p.Name)
		if err != nil {
			return nil, err
		}
		if !claimed {
			return nil, fmt.Errorf("--ports %s: another linerate run sends on physical port %s, whose virtual "+
				"functions share its bandwidth: wait for its end, or use another port", name, p.Name)
		}
	}
	return shared, nil
}

// claimInterfaces takes the interfaces of --ports and the physical ports behind them.
func (c *claims) claimInterfaces(ports []string, sharedPort bool) (shared []string, err error) {
	err = c.claimPorts(ports)
	if err == nil {
		behind := func(name string) launch.Port { return launch.FindPort(os.DirFS("/"), launch.Network{}, name) }
		shared, err = c.claimWires(ports, behind, sharedPort)
	}
	if err != nil {
		c.release()
		return nil, exit.NotMeasured("%w", err)
	}
	return shared, nil
}

// claimMachine prints a note if another run measures on this machine, since both share its processors.
func (c *claims) claimMachine(stderr io.Writer) {
	if claimed, err := c.claim("machine"); err == nil && !claimed {
		fmt.Fprintln(stderr, "note: another linerate run measures on this machine; generators and devices of both "+
			"share its processors, so figures may be lower than alone")
	}
}
