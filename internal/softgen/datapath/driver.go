package datapath

import (
	"encoding/binary"
	"math"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/units"
)

// Offsets in the kernel's struct ethtool_cmd, the answer to ETHTOOL_GSET.
const (
	ethtoolCommandSize = 44
	ethtoolSpeed       = 12
	ethtoolSpeedHigh   = 28
)

// speed is what the driver says (a veth says 10 Gb/s, whatever it carries); 0 where it says nothing.
func speed(name string) units.BitRate {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer unix.Close(fd) //nolint:errcheck // a socket that nothing was written to
	var command [ethtoolCommandSize]byte
	binary.NativeEndian.PutUint32(command[:], unix.ETHTOOL_GSET)
	request := struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte
	}{data: unsafe.Pointer(&command)}
	copy(request.name[:unix.IFNAMSIZ-1], name)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&request))); errno != 0 {
		return 0
	}
	megabits := uint32(binary.NativeEndian.Uint16(command[ethtoolSpeedHigh:]))<<16 | uint32(binary.NativeEndian.Uint16(command[ethtoolSpeed:]))
	if megabits == math.MaxUint32 {
		return 0
	}
	return units.BitRate(megabits) * units.Mbps
}
