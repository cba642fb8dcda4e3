package launch

import (
	"errors"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/intake"
)

// tree reads small files below "/". A missing file reads as empty, as each machine has other kernel files.
// Decide says what is missing in words that a person can act on.
type tree struct{ fs.FS }

func (t tree) text(name string) string {
	b, err := intake.TextFileOf(t.FS, inside(name), intake.Small.Bytes)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// number is a file's integer, or otherwise.
func (t tree) number(name string, fallback int64) int64 {
	n, err := strconv.ParseInt(t.text(name), 10, 64)
	if err != nil {
		return fallback
	}
	return n
}

// pointsTo is the last element of a symbolic link's destination, which in sysfs names a driver, function or group.
func (t tree) pointsTo(name string) string {
	destination, err := fs.ReadLink(t.FS, inside(name))
	if err != nil {
		return ""
	}
	return path.Base(destination)
}

func (t tree) names(dir string) []string {
	entries, err := fs.ReadDir(t.FS, inside(dir))
	if err != nil {
		return nil
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

func (t tree) exists(name string) bool {
	_, err := fs.Stat(t.FS, inside(name))
	return err == nil || !errors.Is(err, fs.ErrNotExist)
}

// inside turns an absolute path into one that fs.FS accepts.
func inside(name string) string {
	if name = strings.TrimPrefix(path.Clean(name), "/"); name != "" {
		return name
	}
	return "."
}
