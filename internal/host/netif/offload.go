package netif

import (
	"fmt"
	"unsafe"
)

// Offload is work that a driver does for the kernel, and that ethtool turns on and off. Its value is ethtool's
// command (linux/ethtool.h).
type Offload uint32

// The offloads that change what is measured on virtual interfaces.
const (
	TransmitChecksum Offload = 0x17 // ETHTOOL_STXCSUM, checksums left for hardware
	TCPSegmentation  Offload = 0x1f // ETHTOOL_STSO, frames larger than the MTU that hardware splits
	// ETHTOOL_SGSO, frames larger than the MTU that the kernel splits at the last moment
	GenericSegmentation Offload = 0x24
	GenericReceive      Offload = 0x2c // ETHTOOL_SGRO, received segments merged, and on veth a receive queue of its own
)

type ethtoolValue struct{ command, data uint32 }

// SetOffload turns an offload of an interface in the calling thread's namespace on or off.
func SetOffload(name string, o Offload, enabled bool) error {
	value := ethtoolValue{command: uint32(o)}
	if enabled {
		value.data = 1
	}
	if err := Ethtool(name, unsafe.Pointer(&value)); err != nil {
		return fmt.Errorf("%s: ethtool command %#x: %w", name, uint32(o), err)
	}
	return nil
}

// DisableOffloads makes an interface of the calling thread's namespace send and receive frames as they are on the
// wire, with nothing merged, split or left unfinished. It skips a switch that the interface lacks. veth interfaces
// have all switches on every kernel that linerate supports.
func DisableOffloads(name string) {
	for _, o := range []Offload{TransmitChecksum, TCPSegmentation, GenericSegmentation, GenericReceive} {
		_ = SetOffload(name, o, false)
	}
}
