package forwarder

import (
	"fmt"
	"os"
	"strings"
)

// writeSysctl sets a value below /proc/sys/net of the calling thread's namespace; a value that stands already is not written, so that
// a read-only /proc/sys in which somebody else has set it is good enough.
func writeSysctl(path, value string) error {
	file := "/proc/sys/net/" + path
	if old, err := os.ReadFile(file); err == nil && strings.TrimSpace(string(old)) == value {
		return nil
	}
	if err := os.WriteFile(file, []byte(value), 0); err != nil {
		return fmt.Errorf("set net.%s=%s: %w", strings.ReplaceAll(path, "/", "."), value, err)
	}
	return nil
}

// tune writes what should be so, and tells of what could not be.
func tune(info *Info, path, value string) {
	if err := writeSysctl(path, value); err != nil && !os.IsNotExist(err) {
		info.missing("%v", err)
	}
}
