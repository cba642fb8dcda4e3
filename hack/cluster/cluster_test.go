package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestAFreeSubnetIsChosen(t *testing.T) {
	in := func(texts ...string) (all []netip.Prefix) {
		for _, text := range texts {
			all = append(all, netip.MustParsePrefix(text))
		}
		return all
	}
	for _, tt := range []struct {
		name string
		used []netip.Prefix
		want string
	}{
		{"the first on an ordinary machine", in("192.0.2.2/24", "127.0.0.1/8"), "10.99.0.0/24"},
		{"the second beside another cluster", in("10.99.0.254/24"), "10.99.1.0/24"},
		{"one beyond a route", in("10.99.0.0/21"), "10.99.8.0/24"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := firstFree(candidates(), tt.used); err != nil || got.String() != tt.want {
				t.Errorf("took %s (%v), want %s", got, err, tt.want)
			}
		})
	}
	t.Run("none where all of 10/8 is routed", func(t *testing.T) {
		if got, err := firstFree(candidates(), in("10.0.0.0/8")); err == nil {
			t.Errorf("took %s", got)
		}
	})
}

func TestAProcessIsKnownByItsStart(t *testing.T) {
	t.Run("whatever its program is called", func(t *testing.T) {
		sleep, err := exec.LookPath("sleep")
		if err != nil {
			t.Fatal(err)
		}
		strange := filepath.Join(t.TempDir(), "a) S 1 (b))")
		if err := os.Symlink(sleep, strange); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(strange, "60")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
		p, err := identify(cmd.Process.Pid)
		boot, errBoot := stateOf(os.Getpid()) // which was started before it
		if err != nil || errBoot != nil || p.Start < boot.Starttime || !p.alive() {
			t.Errorf("%+v, %v, and this process %d, %v", p, err, boot.Starttime, errBoot)
		}
	})
	t.Run("what is no process is an error", func(t *testing.T) {
		if got, err := identify(1 << 30); err == nil {
			t.Errorf("%+v", got)
		}
	})
	t.Run("another one with its number is let live", func(t *testing.T) {
		cmd := exec.Command("sleep", "60")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var reaped sync.WaitGroup
		reaped.Go(func() { _ = cmd.Wait() })
		p, err := identify(cmd.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		other := process{PID: p.PID, Start: p.Start + 1}
		if err := other.kill(t.Context()); err != nil || !p.alive() || other.alive() {
			t.Errorf("killed (%v), or taken for alive", err)
		}
		if err := p.kill(t.Context()); err != nil || p.alive() {
			t.Errorf("lives (%v)", err)
		}
		reaped.Wait()
		if err := p.kill(t.Context()); err != nil {
			t.Errorf("to kill it again is an error: %v", err)
		}
	})
}

const hybrid = `31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs source rw,mode=755
34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime shared:9 - cgroup source rw,cpuset
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 source rw
42 27 0:38 / /mnt/elsewhere rw,relatime - cgroup2 source rw
`

func TestControlGroupsAreFoundWhereTheyAreMounted(t *testing.T) {
	got, err := parseHierarchies(strings.NewReader(hybrid))
	want := []hierarchy{{mount: "/sys/fs/cgroup/cpuset"}, {mount: "/sys/fs/cgroup/unified", unified: true}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}

// put writes files below a directory.
func put(t *testing.T, dir string, contents map[string]string) {
	t.Helper()
	for name, content := range contents {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestControlGroupsAreReadyForPods(t *testing.T) {
	t.Run("version 1: with their parent's processors and memory", func(t *testing.T) {
		root := t.TempDir()
		put(t, root, map[string]string{"cpuset.cpus": "0-3", "cpuset.mems": "0"})
		g := cgroups{hierarchies: []hierarchy{{mount: root}}, name: "/linerate-x"}
		if err := g.create(nil, "node-1"); err != nil {
			t.Fatal(err)
		}
		for file, want := range map[string]string{"cpuset.cpus": "0-3", "cpuset.mems": "0"} {
			if got, err := os.ReadFile(filepath.Join(root, "linerate-x/node-1", file)); err != nil || string(got) != want {
				t.Errorf("%s is %q (%v), want %q", file, got, err, want)
			}
		}
	})
	t.Run("version 2: with their parents' controllers, and a place for our own processes", func(t *testing.T) {
		root := t.TempDir()
		put(t, root, map[string]string{"cgroup.controllers": "cpu memory", "linerate-x/cgroup.controllers": "memory"})
		g := cgroups{hierarchies: []hierarchy{{mount: root, unified: true}}, name: "/linerate-x"}
		if err := g.create(nil, "node-1"); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(root, "linerate-x/cgroup.subtree_control"))
		if err != nil || !strings.HasPrefix(string(got), "+") {
			t.Errorf("children may use %q (%v)", got, err)
		}
		if _, err := os.Stat(filepath.Join(root, "linerate-x/daemons")); err != nil {
			t.Error(err)
		}
	})
}

func TestAnImageIsWhatContainerdReads(t *testing.T) {
	image, err := packImage("linerate.dev/x:1", "x", []byte("program"))
	if err != nil {
		t.Fatal(err)
	}
	outer := untar(t, image)
	var manifest []struct {
		Config           string
		RepoTags, Layers []string
	}
	if err := json.Unmarshal(outer["manifest.json"], &manifest); err != nil {
		t.Fatal(err)
	}
	var config struct {
		Config struct{ Entrypoint []string }
		RootFS struct {
			DiffIDs []string `json:"diff_ids"`
		}
	}
	if err := json.Unmarshal(outer[manifest[0].Config], &config); err != nil {
		t.Fatal(err)
	}
	layer := outer[manifest[0].Layers[0]]
	if want := fmt.Sprintf("sha256:%x", sha256.Sum256(layer)); config.RootFS.DiffIDs[0] != want {
		t.Errorf("layer is called %s, but is %s", config.RootFS.DiffIDs[0], want)
	}
	if string(untar(t, layer)["x"]) != "program" || config.Config.Entrypoint[0] != "/x" || manifest[0].RepoTags[0] != "linerate.dev/x:1" {
		t.Errorf("manifest %+v, configuration %+v", manifest, config)
	}
}

func untar(t *testing.T, archive []byte) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	r := tar.NewReader(bytes.NewReader(archive))
	for {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name] = content
	}
}

func TestCertificatesAreTheAuthoritys(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	ca, err := newAuthority(now)
	if err != nil {
		t.Fatal(err)
	}
	issued, err := ca.issue(subject{name: "system:node:node-1", group: "system:nodes", addresses: []netip.Addr{netip.MustParseAddr("10.99.0.11")}}, now)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(issued.certificate)
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca.pem)
	if _, err := certificate.Verify(x509.VerifyOptions{Roots: pool, DNSName: "10.99.0.11", CurrentTime: now}); err != nil {
		t.Error(err)
	}
	if certificate.Subject.CommonName != "system:node:node-1" || !slices.Equal(certificate.Subject.Organization, []string{"system:nodes"}) {
		t.Errorf("is for %s", certificate.Subject)
	}
}

// missing skips on a laptop, and fails where everything must be there.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(what)
	}
	t.Skip(what)
}

func TestCommandsRefuseContradictions(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"", "usage"},
		{"upp", "usage"},
		{"up now", "type cluster up"},
		{"up --name Lab", "--name \"Lab\""},
		{"load", "type cluster load"},
		{"kubectl --dir /nowhere -- get pods", "bring it up first"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			if os.Geteuid() != 0 {
				missing(t, "commands are for root")
			}
			err := command(t.Context(), strings.Fields(tt.args))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("answer %v, want %q", err, tt.want)
			}
		})
	}
	t.Run("dashes of the command itself stay", func(t *testing.T) {
		got := withoutDashes([]string{"node-1", "--", "sh", "--", "x"}, 1)
		if want := []string{"node-1", "sh", "--", "x"}; !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
	})
}
