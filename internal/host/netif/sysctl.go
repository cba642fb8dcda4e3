package netif

import (
	"fmt"
	"os"
	"strings"
)

// WriteSysctl sets a value below /proc/sys/net of the calling thread's namespace. It doesn't write a value that is
// already there, so that a read-only /proc/sys in which somebody else has set it is no error.
func WriteSysctl(path, value string) error {
	file := "/proc/sys/net/" + path
	if old, err := os.ReadFile(file); err == nil && strings.TrimSpace(string(old)) == value {
		return nil
	}
	if err := os.WriteFile(file, []byte(value), 0); err != nil {
		return fmt.Errorf("set net.%s=%s: %w", strings.ReplaceAll(path, "/", "."), value, err)
	}
	return nil
}
