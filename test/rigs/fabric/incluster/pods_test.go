//go:build full

// These tests bring up a real cluster, as root: go test -tags full -timeout 15m ./test/rigs/fabric/incluster
package incluster_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/hack/image/pack"
	"github.com/linerate-dev/linerate/internal/pod/launch"
	"github.com/linerate-dev/linerate/test/rigs/fabric"
	"github.com/linerate-dev/linerate/test/rigs/fabric/fabrictest"
	"github.com/linerate-dev/linerate/test/rigs/fabric/incluster"
	"github.com/linerate-dev/linerate/test/rigs/fabric/vf"
	"github.com/linerate-dev/linerate/test/rigs/netnstest"
)

const (
	image    = "linerate.dev/fabric-probe:1"
	patience = 90 * time.Second
)

func TestPods(t *testing.T) {
	r := newRig(t)
	t.Run("a pod has the function under the name it asked for, and is told its device", func(t *testing.T) {
		r.pod(t, "told", `[{"name":"west","interface":"wire-a","mac":"02:00:00:00:00:0a","ips":["198.18.0.1/24"]},{"name":"east","interface":"wire-b"}]`, "west", "east")
		r.running(t, "told")
		networks, err := launch.ParseNetworkStatus([]byte(r.kubectl(t, "get", "pod", "told", "-o",
			`jsonpath={.metadata.annotations.k8s\.v1\.cni\.cncf\.io/network-status}`)))
		if err != nil {
			t.Fatal(err)
		}
		log := r.answerTo(t, "PCIDEVICE_LINERATE_DEV_SRIOV_WEST=", "logs", "told")
		for _, want := range []struct{ network, name string }{{"default/west", "wire-a"}, {"default/east", "wire-b"}} {
			n := find(t, networks, want.network)
			d, ok := r.spec.Inventory("node-1").Find(n.PCIAddress)
			if n.Interface != want.name || n.DeviceType != "pci" || n.DeviceVersion != "1.1.0" || !ok {
				t.Errorf("network-status says %+v", n)
			}
			if _, wire, _ := strings.Cut(want.network, "/"); d.Wire.Bridge != wire ||
				!strings.Contains(log, "="+d.ID+"\n") {
				t.Errorf("device %+v of network %s isn't in the environment:\n%s", d, want.network, log)
			}
		}
		if mac := find(t, networks, "default/west").MAC; mac != "02:00:00:00:00:0a" {
			t.Errorf("MAC %s, want the one asked for", mac)
		}
		r.kubectl(t, "delete", "pod", "told")
	})
	t.Run("a third pod waits for one of two functions, and gets it", func(t *testing.T) {
		for _, name := range []string{"first", "second"} {
			r.pod(t, name, `[{"name":"west"}]`, "west")
			r.running(t, name)
		}
		r.pod(t, "third", `[{"name":"west"}]`, "west")
		r.answerTo(t, "Insufficient linerate.dev/sriov-west", "get", "pod", "third", "-o",
			"jsonpath={.status.conditions[*].message}")
		r.kubectl(t, "delete", "pod", "first")
		r.running(t, "third")
	})
	t.Run("a restart of kubelet loses no function, and no resource", func(t *testing.T) {
		r.cluster(t, "restart", "node-1", "kubelet")
		r.answerTo(t, "2", "get", "node", "node-1", "-o", `jsonpath={.status.allocatable.linerate\.dev/sriov-west}`)
		r.pod(t, "fourth", `[{"name":"west"}]`, "west")
		r.kubectl(t, "delete", "pod", "second")
		r.running(t, "fourth")
	})
	t.Run("without the device plugin there is nothing to have, and with it there is again", func(t *testing.T) {
		r.cluster(t, "kill", "node-1", incluster.Daemon)
		r.answerTo(t, "=0=", "get", "node", "node-1", "-o", `jsonpath=={.status.allocatable.linerate\.dev/sriov-west}=`)
		r.cluster(t, "start", "node-1", incluster.Daemon)
		r.answerTo(t, "2", "get", "node", "node-1", "-o", `jsonpath={.status.allocatable.linerate\.dev/sriov-west}`)
	})
	t.Run("a function that was destroyed under a pod is there for the next one", func(t *testing.T) {
		devices := r.spec.Inventory("node-1").Resources[0].Devices
		if err := vf.InNamespace(r.spec.Nodes[0].Namespace, devices[0].Unplug); err != nil {
			t.Fatal(err)
		}
		r.kubectl(t, "delete", "pods", "--all")
		for _, name := range []string{"fifth", "sixth"} {
			r.pod(t, name, `[{"name":"west"}]`, "west")
			r.running(t, name)
		}
	})
	t.Run("when all pods are gone all functions are at home", func(t *testing.T) {
		r.kubectl(t, "delete", "pods", "--all")
		awaitNoFault(t, func() string {
			away, err := r.spec.Away()
			if err != nil || len(away) > 0 {
				return fmt.Sprintf("away: %v %v", away, err)
			}
			return ""
		})
	})
}

// rig is a cluster with a fabric of two wires, and two functions at each of their ports.
type rig struct {
	c    incluster.Cluster
	spec fabric.Spec
}

func newRig(t *testing.T) *rig {
	t.Helper()
	netnstest.Root(t)
	dir := t.TempDir()
	build(t, filepath.Join(dir, "cluster"), "github.com/linerate-dev/linerate/hack/cluster")
	r := &rig{c: incluster.Cluster{Program: filepath.Join(dir, "cluster"), Name: "fabrictest",
		Dir: filepath.Join(dir, "clusters")}}
	t.Cleanup(func() {
		if _, err := r.c.Run(context.Background(), "", "down"); err != nil {
			t.Error(err)
		}
	})
	r.cluster(t, "up")
	nodes, err := r.c.Nodes()
	if err != nil {
		t.Fatal(err)
	}
	r.spec = fabric.Across(fabrictest.Name("pods"), nodes, 2, "west", "east")
	t.Cleanup(func() {
		if err := fabric.Remove(r.spec.Name); err != nil {
			t.Error(err)
		}
	})
	if err := incluster.Build(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if err := r.c.Install(t.Context(), r.spec, dir); err != nil {
		t.Fatal(err)
	}
	if err := r.c.Networks(t.Context(), "default", r.spec); err != nil {
		t.Fatal(err)
	}
	build(t, filepath.Join(dir, "probe"), "./testdata/probe")
	if err := pack.Pack(filepath.Join(dir, "probe.tar"), image,
		map[string]string{"/probe": filepath.Join(dir, "probe")},
		pack.Config{Entrypoint: []string{"/probe"}}); err != nil {
		t.Fatal(err)
	}
	r.cluster(t, "load", filepath.Join(dir, "probe.tar"))
	return r
}

func build(t *testing.T, binary, source string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", binary, source)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v: %s", source, err, output)
	}
}

func (r *rig) cluster(t *testing.T, verb string, args ...string) string {
	t.Helper()
	output, err := r.c.Run(t.Context(), "", verb, args...)
	if err != nil {
		t.Fatal(err)
	}
	return output
}

func (r *rig) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	return r.cluster(t, "kubectl", append([]string{"--"}, args...)...)
}

// answerTo asks kubectl until the answer has the words.
func (r *rig) answerTo(t *testing.T, words string, args ...string) (answer string) {
	t.Helper()
	awaitNoFault(t, func() string {
		var err error
		if answer, err = r.c.Run(t.Context(), "", "kubectl", append([]string{"--"}, args...)...); err == nil &&
			strings.Contains(answer, words) {
			return ""
		}
		return fmt.Sprintf("want %q, kubectl %s says %s %v", words, strings.Join(args, " "), answer, err)
	})
	return answer
}

// awaitNoFault tries until nothing is wrong.
func awaitNoFault(t *testing.T, wrong func() string) {
	t.Helper()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for start := time.Now(); ; <-tick.C {
		fault := wrong()
		if fault == "" {
			return
		}
		if time.Since(start) > patience {
			t.Fatalf("after %v: %s", patience, fault)
		}
	}
}

// pod makes a pod on node-1 with these networks, which requests a device of each of these wires.
func (r *rig) pod(t *testing.T, name, networks string, wires ...string) {
	t.Helper()
	limits := map[string]string{}
	for _, w := range wires {
		limits[fabric.ResourceOf(w)] = "1"
	}
	manifest, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": name,
			"annotations": map[string]string{"k8s.v1.cni.cncf.io/networks": networks}},
		"spec": map[string]any{
			"nodeSelector": map[string]string{"kubernetes.io/hostname": "node-1"}, "restartPolicy": "Never",
			"automountServiceAccountToken": false,
			"containers": []any{map[string]any{"name": "probe", "image": image, "imagePullPolicy": "Never",
				"resources": map[string]any{"limits": limits}}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.c.Run(t.Context(), string(manifest), "kubectl", "--", "apply", "-f", "-"); err != nil {
		t.Fatal(err)
	}
}

func (r *rig) running(t *testing.T, name string) {
	t.Helper()
	r.answerTo(t, "Running", "get", "pod", name, "-o", "jsonpath={.status.phase}")
}

func find(t *testing.T, networks []launch.Network, name string) launch.Network {
	t.Helper()
	for _, n := range networks {
		if n.Name == name {
			return n
		}
	}
	t.Fatalf("network-status has no %s: %+v", name, networks)
	return launch.Network{}
}
