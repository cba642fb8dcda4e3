package datapath

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// sendRoom is how many bytes a sending socket may have on their way: more than any ring of a card or cable holds, with 64 KiB for a frame.
const sendRoom = 512 << 20

// giveRoom keeps the kernel from holding a sender back for what the far end of a cable has not taken yet.
//
//	socket ──▶ cable's queue, 256 frames ──▶ device
//
// A frame counts against its socket until the device has taken it from there, with the kernel's own record of it. The usual room is less than a cable's queue of large frames: a device that is too slow for
// a load would never lose a frame, but make the generator slower. Without CAP_NET_ADMIN the kernel gives what net.core.wmem_max allows.
func giveRoom(fd int) error {
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, sendRoom) == nil {
		return nil
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, sendRoom); err != nil {
		return fmt.Errorf("give a sending socket room for %d bytes: %w", sendRoom, err)
	}
	return nil
}
