//go:build full

package operator

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryLife: every sample, so every engine and type of DUT.
func TestEveryLife(t *testing.T) {
	files, err := filepath.Glob("../../config/samples/loadtest_*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples (%v)", err)
	}
	var names []string
	for _, file := range files {
		names = append(names, strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "loadtest_"), ".yaml"))
	}
	playLives(t, names...)
}
