package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// store is a directory of finished builds, each under a name that says its version:
//
//	kube-v1.37.2-…           a finished build: it is never changed
//	kube-v1.37.2-….lock      held by the process that builds it
//	kube-v1.37.2-….partial   what is not finished, or never was
type store struct {
	dir    string
	stderr io.Writer
}

// get returns the directory of the named build. If there is none it calls build with an empty directory, and
// takes that as the build only when it is complete. Of several processes that ask at once, one builds and the
// others wait.
func (s store) get(name string, build func(dir string) error) (string, error) {
	final := filepath.Join(s.dir, name)
	if exists(final) {
		return final, nil
	}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return "", err
	}
	lock, err := s.lock(final + ".lock")
	if err != nil {
		return "", err
	}
	defer func() { _ = lock.Close() }() // the lock goes with it
	if exists(final) {
		return final, nil // built by the process that held the lock
	}
	return final, finish(final, build)
}

// finish builds beside the final directory, and renames.
func finish(final string, build func(dir string) error) error {
	partial := final + ".partial"
	if err := errors.Join(os.RemoveAll(partial), os.Mkdir(partial, 0o755)); err != nil {
		return err
	}
	if err := build(partial); err != nil {
		return errors.Join(err, os.RemoveAll(partial))
	}
	return os.Rename(partial, final)
}

// lock waits for the lock file. The kernel frees it when its holder ends, for whatever reason.
func (s store) lock(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		fmt.Fprintf(s.stderr, "kube: waiting for another process that builds the same (%s)\n", path)
		err = flockPatiently(file)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), file.Close())
	}
	return file, nil
}

func flockPatiently(file *os.File) error {
	for {
		if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
