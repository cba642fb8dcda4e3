package main

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// inotifyInstances is how many inotify instances a cluster takes: kubelets, containerds, kube-proxies and
// Multus had 27 together.
const inotifyInstances = 32

// openInotify makes one instance.
func openInotify() (int, error) { return unix.InotifyInit1(unix.IN_CLOEXEC) }

// roomToWatch fails if the user has fewer inotify instances left than needed: a kubelet that gets none ends
// again and again, and says so in its log only.
func roomToWatch(needed int, open func() (fd int, err error)) error {
	var descriptors []int
	defer func() {
		for _, fd := range descriptors {
			_ = unix.Close(fd)
		}
	}()
	for range needed {
		fd, err := open()
		if errors.Is(err, unix.EMFILE) {
			return fmt.Errorf("only %d inotify instances are left to this user, and a cluster takes up to %d: take another cluster down, or raise the bound: sysctl -w fs.inotify.max_user_instances=512",
				len(descriptors), needed)
		}
		if err != nil {
			return fmt.Errorf("try inotify: %w", err)
		}
		descriptors = append(descriptors, fd)
	}
	return nil
}
