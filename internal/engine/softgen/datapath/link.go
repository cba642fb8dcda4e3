package datapath

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// linkWatch follows an interface's state through netlink. It must be opened in the interface's network namespace.
type linkWatch struct {
	isUp    atomic.Bool
	flaps   atomic.Int64
	end     chan struct{}
	stopped sync.WaitGroup
}

// watchLink begins to watch, from the interface's present state.
func watchLink(index int) (*linkWatch, error) {
	w := &linkWatch{end: make(chan struct{})}
	updates := make(chan netlink.LinkUpdate, 64)
	if err := netlink.LinkSubscribeWithOptions(updates, w.end,
		netlink.LinkSubscribeOptions{ErrorCallback: func(error) {}}); err != nil {
		return nil, fmt.Errorf("subscribe to link changes: %w", err)
	}
	present, err := netlink.LinkByIndex(index)
	if err != nil {
		close(w.end)
		return nil, fmt.Errorf("ask for the link's state: %w", err)
	}
	w.isUp.Store(isUp(present))
	w.stopped.Go(func() {
		for u := range updates {
			w.update(index, u)
		}
	})
	return w, nil
}

func (w *linkWatch) update(index int, u netlink.LinkUpdate) {
	if int(u.Index) != index {
		return
	}
	running := isUp(u.Link) && u.Header.Type != unix.RTM_DELLINK
	if w.isUp.Swap(running) && !running {
		w.flaps.Add(1)
	}
}

// isUp says whether frames can pass. The interface must be up and have a carrier.
func isUp(l netlink.Link) bool { return l.Attrs().RawFlags&unix.IFF_RUNNING != 0 }

func (w *linkWatch) close() {
	close(w.end)
	w.stopped.Wait()
}

// facts reads what doesn't change about an interface.
func facts(name string) (netlink.Link, error) {
	l, err := netlink.LinkByName(name)
	var missing netlink.LinkNotFoundError
	if errors.As(err, &missing) {
		return nil, fmt.Errorf("interface %s doesn't exist in this network namespace; `ip link` lists those that do",
			name)
	}
	if err != nil {
		return nil, fmt.Errorf("look up interface %s: %w", name, err)
	}
	return l, nil
}
