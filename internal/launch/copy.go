package launch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// CopyProgram copies an executable to destination, a file or an existing directory, where it keeps its name. It is there whole or not at all.
// This is how our static binary gets into a pod of somebody else's image.
func CopyProgram(source, destination string) (written string, err error) {
	if info, err := os.Stat(destination); err == nil && info.IsDir() {
		destination = filepath.Join(destination, filepath.Base(source))
	}
	in, err := os.Open(source)
	if err != nil {
		return "", fmt.Errorf("copy: %w", err)
	}
	defer func() { _ = in.Close() }()
	out, err := os.CreateTemp(filepath.Dir(destination), ".copying-*")
	if err != nil {
		return "", fmt.Errorf("copy to %s: %w", destination, err)
	}
	_, err = io.Copy(out, in)
	err = errors.Join(err, out.Chmod(0o755), out.Close())
	if err == nil {
		err = os.Rename(out.Name(), destination)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("copy to %s: %w", destination, err), os.Remove(out.Name()))
	}
	return destination, nil
}
