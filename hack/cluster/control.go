package main

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"time"
)

// controlDir is where the control box sees what prepareControl writes.
const controlDir = "/var/lib/kubernetes"

// prepareControl writes the control plane's keys and its clients' files, and the administrator's kubeconfig.
func (c *cluster) prepareControl(ca *authority, now time.Time) error {
	accounts, err := newSigningKey()
	if err != nil {
		return err
	}
	contents := map[string][]byte{"ca.crt": ca.pem, "accounts.key": accounts.key, "accounts.pub": accounts.certificate}
	server, err := ca.issue(subject{
		name:      "kube-apiserver",
		addresses: []netip.Addr{c.controlAddress(), netip.MustParseAddr(apiService), netip.MustParseAddr("127.0.0.1")},
		hosts: []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
			"kubernetes.default.svc.cluster.local"},
	}, now)
	if err != nil {
		return err
	}
	contents["server.crt"], contents["server.key"] = server.certificate, server.key
	kubelets, err := ca.issue(subject{name: "kube-apiserver-kubelet-client", group: "system:masters"}, now)
	if err != nil {
		return err
	}
	contents["kubelets.crt"], contents["kubelets.key"] = kubelets.certificate, kubelets.key
	if err := addAggregation(contents, now); err != nil {
		return err
	}
	for _, client := range []string{"kube-controller-manager", "kube-scheduler"} {
		if contents[client+".kubeconfig"], err = c.client(ca, subject{name: "system:" + client}, now); err != nil {
			return err
		}
	}
	if err := files(filepath.Join(c.dir, "control/lib/kubernetes"), contents); err != nil {
		return err
	}
	administrator, err := c.client(ca, subject{name: "linerate-administrator", group: "system:masters"}, now)
	if err != nil {
		return err
	}
	return os.WriteFile(c.kubeconfig(), administrator, 0o600)
}

// addAggregation adds what the API server shows to API servers behind it. It has an authority of its own: who
// may pass on users' names must not be anybody with a certificate.
func addAggregation(contents map[string][]byte, now time.Time) error {
	ca, err := newAuthority(now)
	if err != nil {
		return err
	}
	client, err := ca.issue(subject{name: "front-proxy-client"}, now)
	if err != nil {
		return err
	}
	contents["front-proxy-ca.crt"] = ca.pem
	contents["front-proxy-client.crt"], contents["front-proxy-client.key"] = client.certificate, client.key
	return nil
}

// kubeconfig is the administrator's.
func (c *cluster) kubeconfig() string { return filepath.Join(c.dir, "kubeconfig") }

// client is the kubeconfig of a new identity.
func (c *cluster) client(ca *authority, s subject, now time.Time) ([]byte, error) {
	identity, err := ca.issue(s, now)
	return kubeconfig(c.server(), ca, identity), err
}

// controlComponents are in the order of their start.
func (c *cluster) controlComponents() []component {
	controlFile := func(name string) string { return filepath.Join(controlDir, name) }
	address := c.controlAddress().String()
	return []component{
		{Name: "etcd", Box: "control", Args: []string{
			"--data-dir=/var/lib/etcd", "--unsafe-no-fsync", // it lives no longer than the machine is up
			"--listen-client-urls=http://127.0.0.1:2379", "--advertise-client-urls=http://127.0.0.1:2379",
			"--listen-peer-urls=http://127.0.0.1:2380",
			"--initial-advertise-peer-urls=http://127.0.0.1:2380", "--initial-cluster=default=http://127.0.0.1:2380",
			"--log-level=warn",
		}},
		{Name: "kube-apiserver", Box: "control", Args: []string{
			"--etcd-servers=http://127.0.0.1:2379", "--bind-address=" + address, "--advertise-address=" + address,
			"--secure-port=6443",
			"--tls-cert-file=" + controlFile("server.crt"), "--tls-private-key-file=" + controlFile("server.key"),
			"--client-ca-file=" + controlFile("ca.crt"),
			"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction", "--allow-privileged",
			"--anonymous-auth=false",
			// webhooks by pods' addresses: no kube-proxy is here
			"--service-cluster-ip-range=" + serviceNetwork, "--enable-aggregator-routing",
			"--service-account-issuer=https://kubernetes.default.svc", "--service-account-signing-key-file=" +
				controlFile("accounts.key"),
			"--service-account-key-file=" + controlFile("accounts.pub"), "--kubelet-certificate-authority=" +
				controlFile("ca.crt"),
			"--kubelet-client-certificate=" + controlFile("kubelets.crt"), "--kubelet-client-key=" +
				controlFile("kubelets.key"),
			"--kubelet-preferred-address-types=InternalIP",
			"--requestheader-client-ca-file=" + controlFile("front-proxy-ca.crt"),
			"--requestheader-allowed-names=front-proxy-client",
			"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
			"--requestheader-extra-headers-prefix=X-Remote-Extra-",
			"--proxy-client-cert-file=" + controlFile("front-proxy-client.crt"), "--proxy-client-key-file=" +
				controlFile("front-proxy-client.key"),
		}},
		{Name: "kube-controller-manager", Box: "control", Args: []string{
			"--kubeconfig=" + controlFile("kube-controller-manager.kubeconfig"), "--authentication-kubeconfig=" +
				controlFile("kube-controller-manager.kubeconfig"),
			"--authorization-kubeconfig=" + controlFile("kube-controller-manager.kubeconfig"),
			"--use-service-account-credentials",
			"--root-ca-file=" + controlFile("ca.crt"), "--service-account-private-key-file=" +
				controlFile("accounts.key"), "--leader-elect=false",
			"--bind-address=127.0.0.1", "--cert-dir=/run/kube-controller-manager",
			"--node-monitor-grace-period=20s", "--node-monitor-period=2s", // a lost node is noticed soon
		}},
		{Name: "kube-scheduler", Box: "control", Args: []string{
			"--kubeconfig=" + controlFile("kube-scheduler.kubeconfig"), "--authentication-kubeconfig=" +
				controlFile("kube-scheduler.kubeconfig"),
			"--authorization-kubeconfig=" + controlFile("kube-scheduler.kubeconfig"), "--leader-elect=false",
			"--bind-address=127.0.0.1",
			"--cert-dir=/run/kube-scheduler",
		}},
	}
}

// nodeComponents are in the order of their start.
func nodeComponents(n node) []component {
	return []component{
		{Name: "containerd", Box: n.name, Args: []string{"--config=/var/lib/containerd.toml"}},
		{Name: "kubelet", Box: n.name, Args: []string{
			"--config=" + kubeletDir + "/config.yaml", "--kubeconfig=" + kubeletDir + "/kubeconfig",
			"--hostname-override=" + n.name,
			fmt.Sprintf("--node-ip=%s", n.address),
		}},
		{Name: "kube-proxy", Box: n.name, Args: []string{"--config=/var/lib/kube-proxy/config.yaml",
			"--hostname-override=" + n.name}},
	}
}
