package datapath

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// sendBufferBytes is how many bytes a sending socket may have on their way. Any ring of a card or cable holds
// less, with 64 KiB for a frame.
const sendBufferBytes = 512 << 20

// enlargeSendBuffer keeps the kernel from holding a sender back for frames that the far end of a cable has not
// taken yet.
//
//	socket ──▶ cable's queue, 256 frames ──▶ device
//
// A frame, with the kernel's own record of it, counts against its socket until the device has taken it. The usual
// buffer is smaller than a cable's queue of large frames. A device that is too slow for a load would never lose a
// frame, but make the generator slower. Without CAP_NET_ADMIN the kernel grants at most net.core.wmem_max.
func enlargeSendBuffer(fd int) error {
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, sendBufferBytes) == nil {
		return nil
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, sendBufferBytes); err != nil {
		return fmt.Errorf("give a sending socket room for %d bytes: %w", sendBufferBytes, err)
	}
	return nil
}
