package main

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ethtool's commands for the two features that matter here (linux/ethtool.h).
const (
	segmentation = 0x1f // ETHTOOL_STSO: all kinds of TCP segmentation
	aggregation  = 0x2c // ETHTOOL_SGRO
)

// feature turns a feature of an interface in the thread's network namespace on or off.
func feature(name string, command uint32, on bool) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd) //nolint:errcheck // a socket that nothing was written to
	value := [2]uint32{command, 0}
	if on {
		value[1] = 1
	}
	request := struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte
	}{data: unsafe.Pointer(&value)}
	copy(request.name[:unix.IFNAMSIZ-1], name)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&request))); errno != 0 {
		return fmt.Errorf("ethtool command %#x on %s: %w", command, name, errno)
	}
	return nil
}
