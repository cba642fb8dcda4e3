package main

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	"golang.org/x/sys/unix"
)

const (
	kubeletDir = "/var/lib/kubelet" // in the node's box
	debianCNI  = "/usr/lib/cni"     // where the package containernetworking-plugins puts them
)

//go:embed templates
var templates embed.FS

// settings are what the templates take.
type settings struct {
	Pause, Address, Pods, PodNetwork, CgroupRoot string
	ReservedCPUs                                 string // empty: no container is given processors of its own
	RestrictOOMScore                             bool
}

// prepareNode writes everything that a node finds in its box.
func (c *cluster) prepareNode(n node, reservedCPUs string, ca *authority, now time.Time) error {
	dir := filepath.Join(c.dir, n.name)
	values := settings{
		Pause: pauseImage, Address: n.address.String(), Pods: n.pods.String(), PodNetwork: podNetwork,
		CgroupRoot: pathOf(c.Name) + "/" + n.name, ReservedCPUs: reservedCPUs, RestrictOOMScore: !mayLowerOOMScore(),
	}
	for path, name := range map[string]string{
		"lib/containerd.toml":          "containerd.toml",
		"lib/kubelet/config.yaml":      "kubelet.yaml",
		"lib/kube-proxy/config.yaml":   "kube-proxy.yaml",
		"opt/cni/net.d/00-multus.conf": "cni.json",
	} {
		if err := render(filepath.Join(dir, path), name, values); err != nil {
			return err
		}
	}
	return errors.Join(c.prepareIdentities(n, ca, now), linkPlugins(filepath.Join(dir, "opt/cni/bin")))
}

func render(path, name string, values settings) error {
	parsed, err := template.ParseFS(templates, "templates/"+name)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := parsed.Execute(&text, values); err != nil {
		return err
	}
	return files(filepath.Dir(path), map[string][]byte{filepath.Base(path): text.Bytes()})
}

// prepareIdentities writes the certificates and kubeconfigs of what runs on the node.
func (c *cluster) prepareIdentities(n node, ca *authority, now time.Time) error {
	dir := filepath.Join(c.dir, n.name)
	server, err := ca.issue(subject{name: n.name, addresses: []netip.Addr{n.address}, hosts: []string{n.name}}, now)
	if err != nil {
		return err
	}
	pki := map[string][]byte{"ca.crt": ca.pem, "server.crt": server.certificate, "server.key": server.key}
	if err := files(filepath.Join(dir, "lib/kubelet/pki"), pki); err != nil {
		return err
	}
	for path, s := range map[string]subject{
		"lib/kubelet/kubeconfig":    {name: "system:node:" + n.name, group: "system:nodes"},
		"lib/kube-proxy/kubeconfig": {name: "system:kube-proxy"},
		"opt/cni/multus.kubeconfig": {name: "multus"},
	} {
		text, err := c.client(ca, s, now)
		if err != nil {
			return err
		}
		if err := files(filepath.Dir(filepath.Join(dir, path)),
			map[string][]byte{filepath.Base(path): text}); err != nil {
			return err
		}
	}
	return nil
}

// linkPlugins makes a directory of Debian's CNI plugins and Multus, to which others can be added.
func linkPlugins(dir string) error {
	plugins, err := os.ReadDir(debianCNI)
	if err != nil {
		return fmt.Errorf("find the CNI plugins: %w (install the package containernetworking-plugins)", err)
	}
	links := map[string]string{"multus": inBoxBin + "/multus"}
	for _, p := range plugins {
		links[p.Name()] = filepath.Join(debianCNI, p.Name())
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	return nil
}

// mayLowerOOMScore is whether we may make a process less likely to be killed for memory: containers inherit
// what we may.
func mayLowerOOMScore() bool {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return false
	}
	_, capabilities, _ := strings.Cut(string(text), "CapEff:")
	var effective uint64
	_, err = fmt.Sscanf(capabilities, "%x", &effective)
	return err == nil && effective&(1<<unix.CAP_SYS_RESOURCE) != 0
}
