// Kube builds the parts of Kubernetes that tests need a real one of, and prints the directory that holds them:
//
//	KUBEBUILDER_ASSETS=$(go run ./hack/kube) go test ./test/api/apiserver    # the API server and etcd
//	go run ./hack/kube cluster                                           # all that nodes with pods on them need
//	go run ./hack/kube kueue                                             # Kueue, for labs that share their nodes by it
//
// They are built from Go modules, whose versions and checksums are in the module files in this program's
// folder, and kept in the user's cache directory, so that each version of each program is built once. Where
// KUBEBUILDER_ASSETS is set the API server and etcd are not built: that directory is printed.
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
	dir, err := assets(os.Args[1:], os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "kube:", err)
		os.Exit(1)
	}
	fmt.Println(dir)
}

// assets finds the directory with the binaries, or makes it.
func assets(args []string, stderr io.Writer) (string, error) {
	name := "api"
	if len(args) > 0 {
		name = args[0]
	}
	wanted, ok := sets[name]
	if !ok || len(args) > 1 {
		return "", fmt.Errorf("arguments %q: name one set, api (default), cluster or kueue", args)
	}
	if dir := os.Getenv("KUBEBUILDER_ASSETS"); dir != "" && name == "api" {
		return dir, nil
	}
	modules, err := modulesDir()
	if err != nil {
		return "", err
	}
	recipes, err := readRecipes(modules, wanted.parts)
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache directory: %w (set XDG_CACHE_HOME, or KUBEBUILDER_ASSETS to a directory with %s and %s)",
			err, parts[0].name, parts[1].name)
	}
	return store{dir: filepath.Join(cache, "linerate"), stderr: stderr}.assemble(wanted.key(recipes), recipes)
}
