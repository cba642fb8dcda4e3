package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Calls of linux/vfio.h, and the regions and flags that take uses.
const (
	vfioSetIOMMU         = 0x3b66
	vfioGroupStatus      = 0x3b67
	vfioSetContainer     = 0x3b68
	vfioGetDevice        = 0x3b6a
	vfioGetRegion        = 0x3b6c
	vfioMapDMA           = 0x3b71
	vfioType1v2          = 3
	vfioViable           = 1
	vfioConfigSpace      = 7
	vfioReadable         = 1
	vfioReadableWritable = 3
)

// hugepage is the size of one page of the pod's hugepages, of the size that every x86 machine has.
const hugepage = 2 << 20

// takeFunctions does what DPDK does before it drives functions: each function's IOMMU group joins one container, which
// may reach a huge page. The functions' configuration space answers then. All stays taken until the program ends.
func takeFunctions(addresses []string) error {
	container, err := unix.Open("/dev/vfio/vfio", unix.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("open /dev/vfio/vfio: %w", err)
	}
	for i, address := range addresses {
		group, err := joinContainer(container, address)
		if err != nil {
			return fmt.Errorf("%s: %w", address, err)
		}
		if i == 0 { // a container's kind is set once it has a group
			if err := unix.IoctlSetInt(container, vfioSetIOMMU, vfioType1v2); err != nil {
				return fmt.Errorf("set the container's IOMMU: %w", err)
			}
			if err := mapHugepage(container); err != nil {
				return err
			}
		}
		vendor, device, err := identify(group, address)
		if err != nil {
			return fmt.Errorf("%s: %w", address, err)
		}
		log.Printf("%s is ours: vendor %04x, device %04x", address, vendor, device)
	}
	return nil
}

func joinContainer(container int, address string) (group int, err error) {
	link, err := os.Readlink("/sys/bus/pci/devices/" + address + "/iommu_group")
	if err != nil {
		return 0, err
	}
	if group, err = unix.Open("/dev/vfio/"+filepath.Base(link), unix.O_RDWR, 0); err != nil {
		return 0, fmt.Errorf("open /dev/vfio/%s: %w", filepath.Base(link), err)
	}
	status := struct{ size, flags uint32 }{size: 8}
	if err := ioctl(group, vfioGroupStatus, unsafe.Pointer(&status)); err != nil {
		return 0, fmt.Errorf("read the group's status: %w", err)
	}
	if status.flags&vfioViable == 0 {
		return 0, errors.New("the group isn't viable: another driver has a device of it")
	}
	if err := unix.IoctlSetPointerInt(group, vfioSetContainer, container); err != nil {
		return 0, fmt.Errorf("join the container: %w", err)
	}
	return group, nil
}

// mapHugepage lets the container's devices reach a page of the file system that the pod has for TRex.
func mapHugepage(container int) error {
	file, err := os.CreateTemp("/dev/hugepages", "trex")
	if err != nil {
		return err
	}
	_ = os.Remove(file.Name()) // the page lives as long as it is mapped
	page, err := unix.Mmap(int(file.Fd()), 0, hugepage, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		return fmt.Errorf("map a huge page: %w", err)
	}
	for i := range page {
		page[i] = 0xff
	}
	request := struct {
		size, flags           uint32
		address, iova, length uint64
	}{32, vfioReadableWritable, uint64(uintptr(unsafe.Pointer(&page[0]))), 0, hugepage}
	if err := ioctl(container, vfioMapDMA, unsafe.Pointer(&request)); err != nil {
		return fmt.Errorf("let devices reach a huge page: %w", err)
	}
	return nil
}

// identify reads the function's vendor and device from its configuration space.
func identify(group int, address string) (vendor, device uint16, err error) {
	name, err := unix.BytePtrFromString(address)
	if err != nil {
		return 0, 0, err
	}
	fd, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(group), vfioGetDevice, uintptr(unsafe.Pointer(name)))
	if errno != 0 {
		return 0, 0, fmt.Errorf("take the device: %w", errno)
	}
	region := struct {
		size, flags, index, capabilities uint32
		length, offset                   uint64
	}{size: 32, index: vfioConfigSpace}
	if err := ioctl(int(fd), vfioGetRegion, unsafe.Pointer(&region)); err != nil {
		return 0, 0, fmt.Errorf("find the configuration space: %w", err)
	}
	if region.flags&vfioReadable == 0 {
		return 0, 0, errors.New("its configuration space can't be read")
	}
	var ids [4]byte
	if _, err := unix.Pread(int(fd), ids[:], int64(region.offset)); err != nil {
		return 0, 0, fmt.Errorf("read the configuration space: %w", err)
	}
	return binary.LittleEndian.Uint16(ids[:]), binary.LittleEndian.Uint16(ids[2:]), nil
}

func ioctl(fd int, request uintptr, argument unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(argument)); errno != 0 {
		return errno
	}
	return nil
}
