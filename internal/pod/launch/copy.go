package launch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/linerate-dev/linerate/internal/host/outfile"
)

// CopyProgram copies an executable to destination, a file or an existing directory, where it keeps its name.
// The copy appears whole or not at all. This is how our static binary gets into a pod of another image.
func CopyProgram(source, destination string) (written string, err error) {
	if info, err := os.Stat(destination); err == nil && info.IsDir() {
		destination = filepath.Join(destination, filepath.Base(source))
	}
	program, err := os.Open(source)
	if err != nil {
		return "", fmt.Errorf("copy: %w", err)
	}
	defer func() { _ = program.Close() }()
	file, err := outfile.Create(destination, outfile.Program)
	if err != nil {
		return "", fmt.Errorf("copy to %s: %w", destination, err)
	}
	if _, err = io.Copy(file, program); err != nil {
		err = errors.Join(err, file.Discard())
	} else {
		err = file.Place()
	}
	if err != nil {
		return "", fmt.Errorf("copy to %s: %w", destination, err)
	}
	return destination, nil
}
