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

// part is one program.
type part struct {
	name    string // the binary's
	folder  string // in this file's folder: the module that pins everything that the binary is built from
	module  string // the one whose version is the binary's
	pkg     string
	tags    string
	ldflags string // %s is the version
	usually string // how long it takes on four cores, when what comes before it in the list has been built
}

const (
	kubernetesVersion = "-s -w -X k8s.io/component-base/version.gitVersion=%s"
	containerdVersion = "-s -w -X github.com/containerd/containerd/v2/version.Version=%s"
	noOddStorage      = "no_btrfs no_zfs no_devmapper"
)

// parts are in the order in which they are built. Nothing assigns to it.
var parts = []part{
	kubernetes("kube-apiserver", "four minutes"),
	{
		name: "etcd", folder: "etcd", module: "go.etcd.io/etcd/server/v3", pkg: "go.etcd.io/etcd/server/v3",
		ldflags: "-s -w", usually: "twenty seconds",
	},
	kubernetes("kube-controller-manager", "half a minute"),
	kubernetes("kube-scheduler", "fifteen seconds"),
	kubernetes("kube-proxy", "fifteen seconds"),
	kubernetes("kubelet", "half a minute"),
	kubernetes("kubectl", "half a minute"),
	containerd("containerd", "a minute"),
	containerd("containerd-shim-runc-v2", "ten seconds"),
	containerd("ctr", "ten seconds"),
	{
		name: "multus", folder: "multus", module: "gopkg.in/k8snetworkplumbingwg/multus-cni.v4",
		pkg: "gopkg.in/k8snetworkplumbingwg/multus-cni.v4/cmd/multus", ldflags: "-s -w", usually: "a minute",
	},
	{
		// The Helm that the chart is tested with, from what those tests are compiled from.
		name: "helm", folder: "../../test/api/chart", module: "helm.sh/helm/v4", pkg: "helm.sh/helm/v4/cmd/helm",
		ldflags: "-s -w -X helm.sh/helm/v4/internal/version.version=%s", usually: "a minute and a half",
	},
}

// kueue is no part of a cluster: what shares one among many. Nothing assigns to it.
var kueue = part{
	name: "kueue", folder: "kueue", module: "sigs.k8s.io/kueue", pkg: "sigs.k8s.io/kueue/cmd/kueue",
	ldflags: "-s -w -X sigs.k8s.io/kueue/pkg/version.GitVersion=%s", usually: "a minute",
}

func kubernetes(name, usually string) part {
	return part{
		name: name, folder: "kubernetes", module: "k8s.io/kubernetes", pkg: "k8s.io/kubernetes/cmd/" + name,
		ldflags: kubernetesVersion, usually: usually,
	}
}

func containerd(name, usually string) part {
	return part{
		name: name, folder: "containerd", module: "github.com/containerd/containerd/v2",
		pkg:  "github.com/containerd/containerd/v2/cmd/" + name,
		tags: noOddStorage, ldflags: containerdVersion, usually: usually,
	}
}

// recipe is a part in the version that its module file pins.
type recipe struct {
	part
	dir, version string
}

// modulesDir is where the parts' modules are, wherever in the project we are called.
func modulesDir() (string, error) {
	output, err := output("go", "list", "-f", "{{.Dir}}", "github.com/linerate-dev/linerate/hack/kube")
	return strings.TrimSpace(string(output)), err
}

func readRecipes(modules string, parts []part) ([]recipe, error) {
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
	output, err := output("go", "mod", "edit", "-json", filepath.Join(dir, "go.mod"))
	if err != nil {
		return "", err
	}
	var file struct {
		Require []struct{ Path, Version string }
	}
	if err := json.Unmarshal(output, &file); err != nil {
		return "", err
	}
	for _, r := range file.Require {
		if r.Path == module {
			return r.Version, nil
		}
	}
	return "", fmt.Errorf("%s/go.mod doesn't require %s", dir, module)
}

// key names the build of one part by the version that is in it.
func (r recipe) key() string { return r.name + "-" + r.version }

// make builds the part, and says what it does: it takes a while.
func (r recipe) make(dir string, stderr io.Writer) error {
	fmt.Fprintf(stderr, "kube: building %s %s, once: about %s on four cores\n", r.name, r.version, r.usually)
	start := time.Now()
	if err := r.build(dir, stderr); err != nil {
		return fmt.Errorf("build %s %s: %w", r.name, r.version, err)
	}
	fmt.Fprintf(stderr, "kube: built %s in %s\n", r.name, time.Since(start).Round(time.Second))
	return nil
}

// build makes the binary, from what the module file says and nothing else.
func (r recipe) build(dir string, stderr io.Writer) error {
	cmd := exec.Command("go", "build", "-C", r.dir, "-mod=readonly", "-tags", r.tags, "-ldflags",
		strings.ReplaceAll(r.ldflags, "%s", r.version),
		"-o", filepath.Join(dir, r.name), r.pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	cmd.Stdout, cmd.Stderr = stderr, stderr
	// or it would go on building when we no longer hold the lock
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd.Run()
}

// output runs a command of the go tool, and has its words in the error.
func output(name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return output, nil
}
