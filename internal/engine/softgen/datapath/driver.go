package datapath

import (
	"encoding/binary"
	"math"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/netif"
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
	if netif.Ethtool(name, unsafe.Pointer(&command)) != nil {
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
	if netif.Ethtool(name, unsafe.Pointer(&c)) != nil {
		return channels{}
	}
	return c
}

// rings are how many frames an interface's queues hold (the kernel's struct ethtool_ringparam). All are 0 if the driver
// doesn't report them.
type rings struct {
	command, _, _, _, _ uint32
	receiving, _, _, _  uint32
}

// vethRing is how many frames each receive queue of a veth holds (VETH_RING_SIZE).
const vethRing = 256

// ringOf is how many frames a train may have without a loss before the device works, or 0 if it is unknown. On a veth
// that is up to the far end, elsewhere it is taken to be as at this end.
func ringOf(name, driver string) int {
	if driver == "veth" {
		return vethRing
	}
	r := rings{command: unix.ETHTOOL_GRINGPARAM}
	if netif.Ethtool(name, unsafe.Pointer(&r)) != nil {
		return 0
	}
	return int(r.receiving)
}

func (c channels) send() int { return int(c.sending + c.combined) }

func (c channels) receive() int { return int(c.receiving + c.combined) }
