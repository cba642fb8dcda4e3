package built

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Program is the program of cmd/NAME, static as it is shipped. It is linked if it is missing, or if its sources have
// changed.
func Program(name string) (file string, err error) {
	project, err := Project()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(project, "bin", "tested")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	unlock, err := Lock(filepath.Join(dir, name+".lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	file = filepath.Join(dir, name)
	// which links nothing where this very file is what it would write
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", file, "./cmd/"+name)
	cmd.Dir, cmd.Env = project, append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", name, err, output)
	}
	return file, nil
}

// Lock waits until no other process holds a lock file, so that only one makes what all of them need. The kernel frees
// the file when its holder ends, for whatever reason.
func Lock(file string) (unlock func(), err error) {
	lockFile, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for err = unix.EINTR; err == unix.EINTR; { //nolint:errorlint // a system call's own
		err = unix.Flock(int(lockFile.Fd()), unix.LOCK_EX)
	}
	if err != nil {
		_ = lockFile.Close()
		return nil, fmt.Errorf("lock %s: %w", file, err)
	}
	return func() { _ = lockFile.Close() }, nil
}

// Project is the project's folder, for a test of any of its modules.
func Project() (string, error) {
	output, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/linerate-dev/linerate").Output()
	if err != nil {
		return "", fmt.Errorf("find the project: %w", err)
	}
	return strings.TrimSpace(string(output)), nil
}
