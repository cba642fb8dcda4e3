package vf

import (
	"errors"
	"fmt"

	"github.com/vishvananda/netlink"
)

// listings bounds how often a list that changed while it was read is read again. On a busy machine it may
// change in twenty readings one after the other.
const listings = 500

// Links lists the interfaces of the calling thread's network namespace. The kernel reports a list that changed while
// it was read, as lists do where functions come and go (NLM_F_DUMP_INTR). Links reads such a list again.
func Links() ([]netlink.Link, error) {
	var links []netlink.Link
	var err error
	for range listings {
		if links, err = netlink.LinkList(); !errors.Is(err, netlink.ErrDumpInterrupted) {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("list the interfaces: %w", err)
	}
	return links, nil
}
