package cli

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"github.com/linerate-dev/linerate/internal/pod/launch"
)

// claims are names that this process holds until it ends: abstract sockets, which the kernel removes with the process and
// which exist once in a network namespace, as interfaces do.
type claims []net.Listener

// claim takes a name; taken is false where another process holds it.
func (c *claims) claim(name string) (taken bool, err error) {
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

// claimPorts takes the interfaces of a Device test: two tests on one wire would measure each other.
func (c *claims) claimPorts(ports []string) error {
	for _, port := range ports {
		taken, err := c.claim("port/" + port)
		if err != nil {
			return err
		}
		if !taken {
			return fmt.Errorf("--ports %s: another linerate run sends on this interface: wait for its end, or use another", port)
		}
	}
	return nil
}

// claimWires takes the physical ports that interfaces are virtual functions of, where there are any: two runs on one wire would measure each
// other. Two interfaces of one port are refused unless the test allows it; shared then says which.
func (c *claims) claimWires(ports []string, behind func(string) launch.Port, allowed bool) (shared []string, err error) {
	first := map[string]string{}
	for _, name := range ports {
		p := behind(name)
		if p.Name == "" || !p.Shared {
			continue
		}
		if other, both := first[p.Name]; both {
			words := fmt.Sprintf("physical port %s is behind the interfaces %s and %s", p.Name, other, name)
			if !allowed {
				return nil, fmt.Errorf("--ports: %s: they would share its bandwidth: use interfaces of two ports, or allow it with spec.sharedPort: Allowed, which marks the result", words)
			}
			shared = append(shared, words)
			continue
		}
		first[p.Name] = name
		taken, err := c.claim("wire/" + p.Name)
		if err != nil {
			return nil, err
		}
		if !taken {
			return nil, fmt.Errorf("--ports %s: another linerate run sends on physical port %s, whose virtual functions share its bandwidth: wait for its end, or use another port", name, p.Name)
		}
	}
	return shared, nil
}

// claimMachine prints a note where another run measures on this machine: both share its processors.
func (c *claims) claimMachine(stderr io.Writer) {
	if taken, err := c.claim("machine"); err == nil && !taken {
		fmt.Fprintln(stderr, "note: another linerate run measures on this machine; generators and devices of both share its processors, so figures may be lower than alone")
	}
}
