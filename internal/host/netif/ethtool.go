package netif

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Ethtool carries out an ethtool command (SIOCETHTOOL) on an interface of the calling thread's namespace. command
// points to the kernel's struct of the command, and the driver answers in that memory.
func Ethtool(name string, command unsafe.Pointer) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open a control socket: %w", err)
	}
	defer func() { _ = unix.Close(fd) }()
	request := struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte // struct ifreq is larger than a pointer
	}{data: command}
	copy(request.name[:unix.IFNAMSIZ-1], name)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL,
		uintptr(unsafe.Pointer(&request))); errno != 0 {
		return errno
	}
	return nil
}
