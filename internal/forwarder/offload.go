package forwarder

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The ethtool commands (linux/ethtool.h) that switch off what would merge, split or leave unfinished the frames that are counted.
const (
	ethtoolSetTxChecksum = 0x17 // ETHTOOL_STXCSUM
	ethtoolSetTSO        = 0x1f // ETHTOOL_STSO
	ethtoolSetGSO        = 0x24 // ETHTOOL_SGSO
	ethtoolSetGRO        = 0x2c // ETHTOOL_SGRO
)

type ethtoolValue struct{ command, data uint32 }

type interfaceRequest struct {
	name [unix.IFNAMSIZ]byte
	data *ethtoolValue
	_    [16]byte // struct ifreq is larger than a pointer
}

// setOffload turns one of an interface's offloads on or off, by SIOCETHTOOL.
func setOffload(name string, command uint32, on bool) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open a control socket: %w", err)
	}
	defer func() { _ = unix.Close(fd) }()
	value := ethtoolValue{command: command}
	if on {
		value.data = 1
	}
	req := interfaceRequest{data: &value}
	copy(req.name[:unix.IFNAMSIZ-1], name)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&req))); errno != 0 {
		return errno
	}
	return nil
}

// plainFrames makes an interface send and receive frames as they are on the wire.
func plainFrames(name string, info *Info) {
	for command, what := range map[uint32]string{
		ethtoolSetTxChecksum: "checksum", ethtoolSetTSO: "TSO", ethtoolSetGSO: "GSO", ethtoolSetGRO: "GRO",
	} {
		if err := setOffload(name, command, false); err != nil {
			info.missing("%s: turn %s offload off: %v", name, what, err)
		}
	}
}
