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

// speed is the speed that the driver reports, or 0 without one. A veth reports 10 Gb/s, whatever it carries.
func speed(name string) units.BitRate {
	var command [ethtoolCommandSize]byte
	binary.NativeEndian.PutUint32(command[:], unix.ETHTOOL_GSET)
	if !askDriver(name, unsafe.Pointer(&command)) {
		return 0
	}
	low := binary.NativeEndian.Uint16(command[ethtoolSpeed:])
	high := binary.NativeEndian.Uint16(command[ethtoolSpeedHigh:])
	megabits := uint32(high)<<16 | uint32(low)
	if megabits == math.MaxUint32 {
		return 0
	}
	return units.BitRate(megabits) * units.Mbps
}

// channels are the queues that an interface has now (the kernel's struct ethtool_channels). All are 0 if the driver
// doesn't report them.
type channels struct {
	command, _, _, _, _   uint32
	receiving, sending, _ uint32
	combined              uint32
}

func channelsOf(name string) channels {
	c := channels{command: unix.ETHTOOL_GCHANNELS}
	if !askDriver(name, unsafe.Pointer(&c)) {
		return channels{}
	}
	return c
}

func (c channels) send() int { return int(c.sending + c.combined) }

func (c channels) receive() int { return int(c.receiving + c.combined) }

// askDriver carries out an ethtool command. The driver answers in the command's memory.
func askDriver(name string, command unsafe.Pointer) bool {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd) //nolint:errcheck // a socket that nothing was written to
	request := struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte
	}{data: command}
	copy(request.name[:unix.IFNAMSIZ-1], name)
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&request)))
	return errno == 0
}
