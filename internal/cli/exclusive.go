package cli

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
)

// claims are names that this process holds for as long as it lives: abstract sockets, which the kernel forgets with the process and
// which exist once in a network namespace, as interfaces do.
type claims []net.Listener

// claim takes a name, or says that somebody else has it.
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

// claimMachine says so where another run measures on this machine: both share its processors.
func (c *claims) claimMachine(talk io.Writer) {
	if taken, err := c.claim("machine"); err == nil && !taken {
		fmt.Fprintln(talk, "note: another linerate run measures on this machine; generators and devices of both share its processors, so figures may be lower than alone")
	}
}
