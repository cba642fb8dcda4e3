// Kube builds the parts of Kubernetes that tests need a real one of, and prints the directory that holds them:
//
//	KUBEBUILDER_ASSETS=$(go run ./hack/kube) go test ./test/apiserver
//
// They are built from Go modules, whose versions and checksums stand in the module files beside this program, and kept in the user's
// cache directory, so that each version is built once. Where KUBEBUILDER_ASSETS is set nothing is built: that directory is printed.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

func main() {
	runtime.LockOSThread() // the build ends with the thread that began it
	dir, err := assets(os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "kube:", err)
		os.Exit(1)
	}
	fmt.Println(dir)
}

// assets finds the directory with the binaries, or makes it.
func assets(talk io.Writer) (string, error) {
	if dir := os.Getenv("KUBEBUILDER_ASSETS"); dir != "" {
		return dir, nil
	}
	modules, err := modulesDir()
	if err != nil {
		return "", err
	}
	recipes, err := readRecipes(modules)
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache directory: %w (set XDG_CACHE_HOME, or KUBEBUILDER_ASSETS to a directory with %s and %s)",
			err, parts[0].name, parts[1].name)
	}
	store := store{dir: filepath.Join(cache, "linerate"), talk: talk}
	return store.get(key(recipes), func(dir string) error { return buildAll(recipes, dir, talk) })
}
