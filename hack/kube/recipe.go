package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// part is one program of Kubernetes.
type part struct {
	name    string // the binary's
	folder  string // beside this file: the module that pins all the binary is built from
	module  string // the one whose version is the binary's
	pkg     string
	ldflags string // %s is the version
	usually string // how long it takes on four cores with nothing cached
}

// parts are what a bare API needs. Nothing assigns to it.
var parts = []part{
	{
		name: "kube-apiserver", folder: "kubernetes", module: "k8s.io/kubernetes", pkg: "k8s.io/kubernetes/cmd/kube-apiserver",
		ldflags: "-s -w -X k8s.io/component-base/version.gitVersion=%s", usually: "four minutes",
	},
	{
		name: "etcd", folder: "etcd", module: "go.etcd.io/etcd/server/v3", pkg: "go.etcd.io/etcd/server/v3",
		ldflags: "-s -w", usually: "twenty seconds",
	},
}

// recipe is a part in the version that its module file pins.
type recipe struct {
	part
	dir, version string
}

// modulesDir is where the parts' modules are, wherever in the project we are called.
func modulesDir() (string, error) {
	out, err := output("go", "list", "-f", "{{.Dir}}", "github.com/linerate-dev/linerate/hack/kube")
	return strings.TrimSpace(string(out)), err
}

func readRecipes(modules string) ([]recipe, error) {
	var recipes []recipe
	for _, p := range parts {
		dir := filepath.Join(modules, p.folder)
		version, err := pinned(dir, p.module)
		if err != nil {
			return nil, fmt.Errorf("version of %s: %w", p.name, err)
		}
		recipes = append(recipes, recipe{part: p, dir: dir, version: version})
	}
	return recipes, nil
}

// pinned reads a module's version from the module file in dir.
func pinned(dir, module string) (string, error) {
	out, err := output("go", "mod", "edit", "-json", filepath.Join(dir, "go.mod"))
	if err != nil {
		return "", err
	}
	var file struct {
		Require []struct{ Path, Version string }
	}
	if err := json.Unmarshal(out, &file); err != nil {
		return "", err
	}
	for _, r := range file.Require {
		if r.Path == module {
			return r.Version, nil
		}
	}
	return "", fmt.Errorf("%s/go.mod doesn't require %s", dir, module)
}

// key names a build by the versions that are in it.
func key(recipes []recipe) string {
	return "kube-" + recipes[0].version + "-" + recipes[1].name + "-" + recipes[1].version
}

func buildAll(recipes []recipe, into string, talk io.Writer) error {
	for _, r := range recipes {
		fmt.Fprintf(talk, "kube: building %s %s, once: about %s on four cores\n", r.name, r.version, r.usually)
		start := time.Now()
		if err := r.build(into, talk); err != nil {
			return fmt.Errorf("build %s %s: %w", r.name, r.version, err)
		}
		fmt.Fprintf(talk, "kube: built %s in %s\n", r.name, time.Since(start).Round(time.Second))
	}
	return nil
}

// build makes the binary, from what the module file says and nothing else.
func (r recipe) build(into string, talk io.Writer) error {
	cmd := exec.Command("go", "build", "-C", r.dir, "-mod=readonly", "-ldflags", strings.ReplaceAll(r.ldflags, "%s", r.version),
		"-o", filepath.Join(into, r.name), r.pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	cmd.Stdout, cmd.Stderr = talk, talk
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // or it would go on building when we no longer hold the lock
	return cmd.Run()
}

// output runs a command of the go tool, and has its words in the error.
func output(name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	var talk strings.Builder
	cmd.Stderr = &talk
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(talk.String()))
	}
	return out, nil
}
