package card

import (
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// tree reads small files of the kernel. A missing file reads as empty, as each kernel has other files.
type tree struct{ fs.FS }

func (t tree) text(name string) string {
	content, err := fs.ReadFile(t.FS, name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(content))
}

// number is a file's integer, or fallback.
func (t tree) number(name string, fallback int64) int64 {
	n, err := strconv.ParseInt(t.text(name), 10, 64)
	if err != nil {
		return fallback
	}
	return n
}

// pointsTo is the last element of a symbolic link's destination, which in sysfs names a driver, function or group.
func (t tree) pointsTo(name string) string {
	destination, err := fs.ReadLink(t.FS, name)
	if err != nil {
		return ""
	}
	return path.Base(destination)
}

func (t tree) names(dir string) []string {
	entries, err := fs.ReadDir(t.FS, dir)
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
	_, err := fs.Stat(t.FS, name)
	return err == nil
}
