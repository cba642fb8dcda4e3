package datapath

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// outcome is what the kernel did with a frame.
type outcome uint8

const (
	accepted outcome = iota
	// dropped means that the driver took the frame and dropped it (NET_XMIT_DROP). On
	// a veth the frame left the port, and found the receive queue of the far end full.
	dropped
	// refused means that the kernel didn't take the frame.
	refused
)

// transmitter passes frames of an arena to the kernel. It belongs to one thread.
type transmitter interface {
	// send sends the whole batch and writes each frame's outcome to results. Retries counts how often
	// a queue was full and the thread had to wait. An error means that nothing can be sent anymore.
	send(batch []piece, results []outcome) (retries int, err error)
	close() error
}

// batchSize is how many frames are handed to the kernel at once.
const batchSize = 64

// isDeviceGone says whether an error means that the interface can't send at all.
func isDeviceGone(err error) bool {
	return errors.Is(err, unix.ENXIO) || errors.Is(err, unix.ENODEV) || errors.Is(err, unix.EBADF)
}

func sendError(iface string, err error) error { return fmt.Errorf("send on %s: %w", iface, err) }
