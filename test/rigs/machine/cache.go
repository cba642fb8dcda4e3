package machine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/linerate-dev/linerate/test/rigs/built"
)

// cacheDir is the folder of what all machines share, which is the kernel, the first root and the agent.
func cacheDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache directory: %w (set XDG_CACHE_HOME)", err)
	}
	dir := filepath.Join(cache, "linerate")
	return dir, os.MkdirAll(dir, 0o755)
}

// inCache is a folder of the cache. If it lacks, make fills it. Of several processes that ask at once, one makes it and
// the others wait.
func inCache(cache, name string, fill func(dir string) error) (string, error) {
	final := filepath.Join(cache, name)
	unlock, err := built.Lock(final + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(final); err == nil {
		return final, nil
	}
	partial := final + ".partial"
	if err := errors.Join(os.RemoveAll(partial), os.Mkdir(partial, 0o755)); err != nil {
		return "", err
	}
	if err := fill(partial); err != nil {
		return "", errors.Join(err, os.RemoveAll(partial))
	}
	return final, os.Rename(partial, final)
}
