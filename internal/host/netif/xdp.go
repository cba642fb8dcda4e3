package netif

import (
	"errors"
	"fmt"

	"github.com/vishvananda/netlink"
)

// AcceptXDP gives one end of a virtual cable the receive queue that frames need which the other end sends by XDP.
// The queue is a ring of 256 frames, emptied on the sender's CPU. Without a queue the kernel drops the frames
// unseen. Received segments aren't merged.
func AcceptXDP(name string) error {
	link, err := Find(name)
	if err != nil {
		return fmt.Errorf("link %s: %w", name, err)
	}
	if err := SetOffload(name, GenericReceive, true); err != nil {
		return err
	}
	// GRO is on for its queue only. With room for a single byte, nothing is ever merged.
	if err := errors.Join(netlink.LinkSetGROMaxSize(link, 1), netlink.LinkSetGROIPv4MaxSize(link, 1)); err != nil {
		return fmt.Errorf("%s: keep received segments apart: %w", name, err)
	}
	return nil
}
