package netif

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// MountSysfs is a sysfs of the calling thread's network namespace, attached to no directory (fsopen(2), fsmount(2)). A
// sysfs shows the interfaces of the namespace that it was mounted in. The caller closes it. It takes CAP_SYS_ADMIN.
func MountSysfs() (mount int, err error) {
	fs, err := unix.Fsopen("sysfs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("open sysfs: %w", err)
	}
	defer func() { _ = unix.Close(fs) }()
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, fmt.Errorf("make a sysfs: %w", err)
	}
	mount, err = unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC,
		unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC)
	if err != nil {
		return -1, fmt.Errorf("mount sysfs: %w", err)
	}
	return mount, nil
}
