package cli

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/document/intake"
	"github.com/linerate-dev/linerate/internal/document/profile"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/host/outfile"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// This file has TRex's own Python library make the streams of a profile, which is a program of anybody's. It runs in a
// process of its own as nobody, without the machine's network, and with bounds of time, memory and output.

// streamsProgram prints the streams of a profile. It bounds itself before it loads anything of TRex's.
//
//go:embed python/streams.py
var streamsProgram string

const (
	profileTime = time.Minute
	nobody      = 65534
	// mostStreamsText is how much the program may print, which is each port's streams.
	mostStreamsText = 2*profile.MaxText + 64
)

// trexLibrary is where a TRex folder has its Python library, and those that it needs. The folder is a release's, or a
// checkout's.
func trexLibrary(folder string) (library, external string, err error) {
	for _, root := range []string{folder, filepath.Join(folder, "scripts")} {
		library = filepath.Join(root, "automation", "trex_control_plane", "interactive")
		if _, err := os.Stat(filepath.Join(library, "trex", "stl")); err == nil {
			return library, filepath.Join(root, "external_libs"), nil
		}
	}
	return "", "", fmt.Errorf("--trex-dir %s: no TRex, which has automation/trex_control_plane/interactive: give the folder "+
		"that a TRex release unpacks to", folder)
}

// pythonStreams are the streams that a profile makes for ports 0 and 1, each as JSON.
func pythonStreams(ctx context.Context, trexFolder, name string) (ports [][]byte, err error) {
	trexFolder, err = filepath.Abs(trexFolder)
	if err != nil {
		return nil, err
	}
	library, external, err := trexLibrary(trexFolder)
	if err != nil {
		return nil, err
	}
	python, err := exec.LookPath("/usr/bin/python3") // others may be where nobody can't go
	if err != nil {
		if python, err = exec.LookPath("python3"); err != nil {
			return nil, fmt.Errorf("%s takes Python 3, and this machine has none: %w", name, err)
		}
	}
	readable, remove, err := publicCopy(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	text, err := runAsNobody(ctx, python, "-I", "-B", "-c", streamsProgram, library, external, readable)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var lists []json.RawMessage
	err = intake.JSON(text, &lists, intake.Limits{Bytes: mostStreamsText, Memory: 64 << 20})
	if err != nil || len(lists) != 2 {
		return nil, fmt.Errorf("%s: what TRex's library made of it is no list of streams for each of two ports: %w", name, err)
	}
	return [][]byte{lists[0], lists[1]}, nil
}

// publicCopy copies a profile to where nobody can read it, by the same name, as modules have names.
func publicCopy(name string) (path string, remove func() error, err error) {
	text, err := intake.TextFile(name, profile.MaxText)
	if err != nil {
		return "", nil, err
	}
	folder, err := os.MkdirTemp("", "linerate-profile-")
	if err != nil {
		return "", nil, err
	}
	remove = func() error { return os.RemoveAll(folder) }
	path = filepath.Join(folder, filepath.Base(name))
	err = errors.Join(openToAll(folder), outfile.Write(path, text, outfile.ForAll))
	if err != nil {
		return "", nil, errors.Join(err, remove())
	}
	return path, remove, nil
}

// openToAll lets everybody enter a folder.
func openToAll(folder string) error {
	handle, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(handle.Chmod(0o755), handle.Close())
}

// runAsNobody runs a program with an empty environment, in a network namespace without interfaces and in a process
// namespace of its own, so that all that it started ends with it. It returns what the program printed.
func runAsNobody(ctx context.Context, command ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, profileTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Env = "/", []string{"PATH=/usr/bin:/bin", "LANG=C.UTF-8", "HOME=/nonexistent"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: true,
		Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWPID | unix.CLONE_NEWIPC}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	} else {
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: nobody, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: nobody, HostID: os.Getgid(), Size: 1}}
	}
	cmd.WaitDelay = time.Second
	said, words := &limitedBuffer{most: mostStreamsText}, &bounded.Words{}
	cmd.Stdout, cmd.Stderr = said, words
	err := cmd.Run()
	switch last := lastLine(words.String()); {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("it did not end within %s", profileTime)
	case said.full:
		return nil, fmt.Errorf("its streams are more than %d MiB of JSON", mostStreamsText>>20)
	case errors.Is(err, syscall.EPERM):
		return nil, fmt.Errorf("a profile runs in namespaces of its own, which this user may not make (%w): run linerate as "+
			"root, or export the profile's streams as JSON", err)
	case err != nil:
		return nil, fmt.Errorf("TRex's Python library did not load it (%w): %s", err, last)
	}
	return said.Bytes(), nil
}

// lastLine is the last line that isn't empty, for people, as Python's errors are.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return wording.Limited(wording.Printable(strings.TrimSpace(lines[len(lines)-1])), 300)
}

// limitedBuffer keeps at most so many bytes, and refuses more.
type limitedBuffer struct {
	bytes.Buffer
	most int
	full bool
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.most {
		b.full = true
		return 0, errors.New("too much output")
	}
	return b.Buffer.Write(p)
}
