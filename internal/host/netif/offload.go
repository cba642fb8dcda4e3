package netif

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
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

type interfaceRequest struct {
	name [unix.IFNAMSIZ]byte
	data *ethtoolValue
	_    [16]byte // struct ifreq is larger than a pointer
}

// SetOffload turns an offload of an interface in the calling thread's namespace on or off, by SIOCETHTOOL.
func SetOffload(name string, o Offload, enabled bool) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open a control socket: %w", err)
	}
	defer func() { _ = unix.Close(fd) }()
	value := ethtoolValue{command: uint32(o)}
	if enabled {
		value.data = 1
	}
	req := interfaceRequest{data: &value}
	copy(req.name[:unix.IFNAMSIZ-1], name)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL,
		uintptr(unsafe.Pointer(&req))); errno != 0 {
		return fmt.Errorf("%s: ethtool command %#x: %w", name, uint32(o), errno)
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
