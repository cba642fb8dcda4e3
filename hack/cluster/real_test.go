//go:build full

// These tests bring up real clusters, as root: go test -tags full -timeout 15m ./hack/cluster
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// rig types cluster's commands, as people do.
type rig struct {
	program, dir, name string
	cpus               string // processors that commands run on; empty: all that the test may use
}

func newRig(t *testing.T, name string) rig {
	t.Helper()
	if os.Geteuid() != 0 {
		missing(t, "a cluster is made by root")
	}
	r := rig{program: filepath.Join(t.TempDir(), "cluster"), dir: t.TempDir(), name: name}
	sh(t, "go", "build", "-o", r.program, ".")
	t.Cleanup(func() {
		if out, err := r.try("down"); err != nil {
			t.Errorf("down: %v: %s", err, out)
		}
	})
	return r
}

func (r rig) command(verb string, args ...string) *exec.Cmd {
	words := append([]string{r.program, verb, "--name", r.name, "--dir", r.dir}, args...)
	if r.cpus != "" {
		words = append([]string{"taskset", "--cpu-list", r.cpus}, words...)
	}
	return exec.Command(words[0], words[1:]...)
}

func (r rig) try(verb string, args ...string) (string, error) {
	out, err := r.command(verb, args...).CombinedOutput()
	return string(out), err
}

func (r rig) do(t *testing.T, verb string, args ...string) string {
	t.Helper()
	out, err := r.try(verb, args...)
	if err != nil {
		t.Fatalf("%s %s: %v: %s", verb, strings.Join(args, " "), err, out)
	}
	return out
}

func (r rig) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	return r.do(t, "kubectl", append([]string{"--"}, args...)...)
}

// says waits until the command's output has the words.
func (r rig) says(t *testing.T, words, verb string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 90*time.Second, errors.New("a minute and a half went by"))
	defer cancel()
	var out string
	err := await(ctx, fmt.Sprintf("%q", words), func() bool {
		out, _ = r.try(verb, args...)
		return strings.Contains(out, words)
	})
	if err != nil {
		t.Fatalf("%s %s: %v: %s", verb, strings.Join(args, " "), err, out)
	}
}

func (r rig) apply(t *testing.T, manifest string) {
	t.Helper()
	cmd := r.command("kubectl", "--", "apply", "-f", "-")
	cmd.Stdin = strings.NewReader(manifest)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("apply: %v: %s", err, out)
	}
}

func sh(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", cmd, err, out)
	}
}

// loadProbe gives the nodes the image of testdata/probe.
func (r rig) loadProbe(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	sh(t, "go", "build", "-ldflags", "-s -w", "-o", filepath.Join(dir, "probe"), "./testdata/probe")
	binary, err := os.ReadFile(filepath.Join(dir, "probe"))
	if err != nil {
		t.Fatal(err)
	}
	image, err := packImage("linerate.dev/probe:1", "probe", binary)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "probe.tar")
	if err := os.WriteFile(path, image, 0o644); err != nil {
		t.Fatal(err)
	}
	r.do(t, "load", path)
}

// Two ways to hand an end of the cable to a pod.
const (
	moved = `"type": "host-device", "device": "east"`
	lent  = `"type": "macvlan", "mode": "passthru", "master": "east"`
)

// pod runs the probe on a node, with one end of the cable as a second interface.
func pod(name, node, address, attachment string) string {
	return fmt.Sprintf(`
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: %[1]s}
spec:
  config: '{"cniVersion": "1.0.0", "name": "%[1]s", %[4]s,
    "ipam": {"type": "static", "addresses": [{"address": "%[3]s/24"}]}}'
---
apiVersion: v1
kind: Pod
metadata: {name: %[1]s, labels: {app: %[1]s}, annotations: {k8s.v1.cni.cncf.io/networks: %[1]s@east}}
spec:
  nodeName: %[2]s
  terminationGracePeriodSeconds: 1
  containers: [{name: probe, image: "linerate.dev/probe:1"}]
---
apiVersion: v1
kind: Service
metadata: {name: %[1]s}
spec: {selector: {app: %[1]s}, ports: [{port: 9000, protocol: UDP}]}
---
`, name, node, address, attachment)
}

func TestACluster(t *testing.T) {
	before := look(t)
	allowed, err := allowedCPUs()
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, "lrtest")
	r.do(t, "up")
	c, err := place{root: r.dir, name: r.name}.running()
	if err != nil {
		t.Fatal(err)
	}
	r.loadProbe(t)
	r.do(t, "cable", "east")
	r.apply(t, pod("west", "node-1", "198.18.0.1", moved)+pod("east", "node-2", "198.18.0.2", moved))
	r.kubectl(t, "wait", "--for=condition=Ready", "--timeout=60s", "pod/west", "pod/east")

	t.Run("pods, and all else, run where we may", func(t *testing.T) {
		for _, pod := range []string{"west", "east"} {
			within(t, pod, r.kubectl(t, "exec", pod, "--", "/probe", "cpus"), allowed)
		}
		r.keepsTo(t, allowed)
	})
	t.Run("traffic crosses the cable", func(t *testing.T) { r.asks(t, "west", "198.18.0.2") })
	t.Run("pods reach each other across nodes", func(t *testing.T) {
		r.asks(t, "west", r.kubectl(t, "get", "pod", "east", "-o", "jsonpath={.status.podIP}"))
	})
	t.Run("pods reach services, also their own node's", func(t *testing.T) {
		for _, service := range []string{"east", "west"} {
			r.asks(t, "east", r.kubectl(t, "get", "service", service, "-o", "jsonpath={.spec.clusterIP}"))
		}
	})
	t.Run("a pod is known to the API server by its service account", func(t *testing.T) {
		r.says(t, "system:serviceaccount:default:default", "kubectl", "--", "exec", "west", "--", "/probe", "api")
	})
	t.Run("logs are read through the API server", func(t *testing.T) {
		if out := r.kubectl(t, "logs", "east"); !strings.Contains(out, "listening") {
			t.Errorf("the log says %q", out)
		}
	})
	t.Run("Multus says which interface the pod has", func(t *testing.T) {
		out := r.kubectl(t, "get", "pod", "west", "-o", "jsonpath={.metadata.annotations.k8s\\.v1\\.cni\\.cncf\\.io/network-status}")
		for _, word := range []string{`"interface": "east"`, `"mac"`, "198.18.0.1"} {
			if !strings.Contains(out, word) {
				t.Errorf("network-status lacks %s: %s", word, out)
			}
		}
	})
	t.Run("a namespace's pod security level is enforced", func(t *testing.T) {
		r.kubectl(t, "label", "namespace", "default", "pod-security.kubernetes.io/enforce=restricted")
		out, err := r.try("kubectl", "--", "run", "root", "--image=linerate.dev/probe:1")
		if err == nil || !strings.Contains(out, "violates PodSecurity") {
			t.Errorf("answer %v: %s", err, out)
		}
		r.kubectl(t, "label", "namespace", "default", "pod-security.kubernetes.io/enforce-")
	})
	t.Run("pods outlive their kubelet, and it comes back", func(t *testing.T) { r.losesKubelet(t) })
	t.Run("what was killed is mended by up", func(t *testing.T) {
		r.do(t, "kill", "kube-apiserver")
		r.do(t, "kill", "node-2", "containerd")
		if out, err := r.try("status"); err == nil {
			t.Errorf("status sees nothing: %s", out)
		}
		r.do(t, "up")
		r.do(t, "status")
		r.asks(t, "west", "198.18.0.2")
	})
	t.Run("another cluster may run at the same time, but not of the same name", func(t *testing.T) {
		other := rig{program: r.program, dir: t.TempDir(), name: r.name}
		for _, verb := range []string{"up", "down"} {
			if out, err := other.try(verb); err == nil || !strings.Contains(out, "choose another --name") {
				t.Errorf("%s: answer %v: %s", verb, err, out)
			}
		}
		other.name = "lrother"
		t.Cleanup(func() { other.do(t, "down") })
		half := halfOf(allowed)
		other.on(half).do(t, "up")
		r.do(t, "status")
		t.Run("on processors of its own", func(t *testing.T) { other.isConfined(t, half) })
	})
	t.Run("a cluster isn't taken for one on fewer processors", func(t *testing.T) { r.refusesFewer(t, allowed) })
	t.Run("a command's exit status is passed on", func(t *testing.T) {
		err := r.command("exec", "node-1", "--", "sh", "-c", "exit 7").Run()
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 7 {
			t.Errorf("error is %v", err)
		}
	})
	t.Run("a cable in use isn't laid again", func(t *testing.T) {
		r.do(t, "cable", "east")
		if _, err := r.try("exec", "node-1", "--", "ip", "link", "show", "east"); err == nil {
			t.Error("there is a second cable, and pods could not give the first one back")
		}
	})
	t.Run("deleted pods give the cable back, and others use it", func(t *testing.T) {
		r.kubectl(t, "delete", "pod", "west", "east", "--timeout=60s")
		r.do(t, "cable", "east")
		r.apply(t, pod("west", "node-1", "198.18.0.1", lent)+pod("east", "node-2", "198.18.0.2", lent))
		r.kubectl(t, "wait", "--for=condition=Ready", "--timeout=60s", "pod/west", "pod/east")
		r.asks(t, "west", "198.18.0.2")
		r.kubectl(t, "delete", "pod", "west", "east", "--timeout=60s")
	})
	t.Run("a daemon is started, killed and started by its name", func(t *testing.T) {
		r.do(t, "daemon", "node-1", "sleeper", "--", "/bin/sleep", "1000")
		r.do(t, "restart", "node-1", "sleeper")
		if out := r.do(t, "status"); !strings.Contains(out, "sleeper") {
			t.Errorf("status says %s", out)
		}
		if out, err := r.try("daemon", "node-1", "nothing", "--", "/no/such/program"); err == nil || !strings.Contains(out, "there is no /no/such/program") {
			t.Errorf("answer %v: %s", err, out)
		}
		r.do(t, "kill", "node-1", "sleeper")
		r.do(t, "up")
		r.do(t, "status")
	})
	t.Run("nothing is left after down", func(t *testing.T) {
		held := namespacesOf(t, c)
		r.do(t, "down")
		r.do(t, "down")
		before.same(t, look(t))
		if pids := processesIn(t, held); len(pids) > 0 {
			t.Errorf("processes %v are still in the boxes' namespaces", pids)
		}
	})
}

func (r rig) asks(t *testing.T, pod, address string) {
	t.Helper()
	if net.ParseIP(address) == nil {
		t.Fatalf("%q is no address", address)
	}
	r.says(t, "10 of 10 echoed", "kubectl", "--", "exec", pod, "--", "/probe", "ask", address)
}

func (r rig) losesKubelet(t *testing.T) {
	started := func() string {
		return r.kubectl(t, "get", "pod", "east", "-o", "jsonpath={.status.containerStatuses[0].containerID}")
	}
	was := started()
	r.do(t, "kill", "node-2", "kubelet")
	r.kubectl(t, "wait", "--for=condition=Ready=Unknown", "--timeout=90s", "node/node-2")
	r.asks(t, "west", "198.18.0.2")
	r.do(t, "start", "node-2", "kubelet")
	r.kubectl(t, "wait", "--for=condition=Ready", "--timeout=60s", "node/node-2")
	r.kubectl(t, "wait", "--for=condition=Ready", "--timeout=60s", "pod/east")
	if now := started(); now != was || now == "" {
		t.Errorf("container %q was replaced by %q", was, now)
	}
}

func TestAnUpThatWasKilledLeavesNothing(t *testing.T) {
	before := look(t)
	r := newRig(t, "lrkill")
	p := place{root: r.dir, name: r.name}
	state := func(has func(c *cluster) bool) func() bool {
		return func() bool {
			c, found, err := p.load()
			return err == nil && found && has(c)
		}
	}
	for _, moment := range []struct {
		name  string
		there func() bool
	}{
		{"when the first box opens", state(func(c *cluster) bool { return len(c.Boxes) > 0 })},
		{"when the last box opens", state(func(c *cluster) bool { return len(c.Boxes) == 3 })},
		{"when the host is connected", func() bool { _, err := net.InterfaceByName("lr-" + r.name); return err == nil }},
		{"when the API server starts", state(func(c *cluster) bool { return runs(c, "control", "kube-apiserver") })},
		{"when the last component starts", state(func(c *cluster) bool { return runs(c, "node-2", "kube-proxy") })},
	} {
		t.Run(moment.name, func(t *testing.T) {
			var stderr bytes.Buffer
			cmd := r.command("up")
			cmd.Stdout, cmd.Stderr = &stderr, &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			err := awaitTightly(ctx, moment.there)
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			if err != nil {
				t.Fatalf("%v: %s", err, stderr.Bytes())
			}
			r.do(t, "down")
			before.same(t, look(t))
		})
	}
	t.Run("and the next up works", func(t *testing.T) {
		cmd := r.command("up")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := awaitTightly(ctx, state(func(c *cluster) bool { return runs(c, "control", "etcd") }))
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if err != nil {
			t.Fatal(err)
		}
		r.do(t, "up")
		r.do(t, "status")
	})
	t.Run("a box that died is noticed, and everything is made again", func(t *testing.T) {
		c, err := p.running()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Boxes[1].Init.kill(t.Context()); err != nil {
			t.Fatal(err)
		}
		if out, err := r.try("status"); err == nil {
			t.Errorf("status says %s", out)
		}
		r.do(t, "up")
		r.do(t, "status")
	})
	t.Run("a cluster of which nothing is written down is found by its control groups", func(t *testing.T) {
		if err := os.Remove(filepath.Join(p.dir(), "state.json")); err != nil {
			t.Fatal(err)
		}
		r.do(t, "down")
		before.same(t, look(t))
	})
}

func runs(c *cluster, box, name string) bool {
	x, err := c.component(box, name)
	return err == nil && x.Process.PID != 0
}

// awaitTightly looks again at once: what it waits for is a moment.
func awaitTightly(ctx context.Context, there func() bool) error {
	for !there() {
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}
