package vf

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// LockFolder keeps other processes that lock a folder from going on until unlock. It makes the folder if there is none.
func LockFolder(folder string) (unlock func(), err error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, fmt.Errorf("lock %s: %w", folder, err)
	}
	f, err := os.Open(folder)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", folder, err)
	}
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock %s: %w", folder, err)
	}
	return func() { _ = f.Close() }, nil
}
