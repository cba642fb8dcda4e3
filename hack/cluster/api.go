package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed manifests/networks.yaml
var networks []byte

const networksKind = "customresourcedefinition/network-attachment-definitions.k8s.cni.cncf.io"

// kubectl runs it as the administrator, on the host.
func (c *cluster) kubectl(ctx context.Context, stdin io.Reader, args ...string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(c.Assets, "kubectl"), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig())
	cmd.Stdin = stdin
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return nil
}

// awaitAPI waits until the API server says that it is ready.
func (c *cluster) awaitAPI(ctx context.Context) error {
	server, err := c.component("control", "kube-apiserver")
	if err != nil {
		return err
	}
	address := strings.TrimPrefix(c.server(), "https://")
	open := func() bool {
		conn, err := net.DialTimeout("tcp", address, dialTimeout)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil || !server.Process.alive()
	}
	if err := await(ctx, "the API server on "+address, open); err != nil {
		return fmt.Errorf("%w (see %s)", err, c.logOf(*server))
	}
	ready := func() bool {
		return c.kubectl(ctx, nil, "get", "--raw", "/readyz") == nil || !server.Process.alive()
	}
	if err := await(ctx, "the API server's readiness", ready); err != nil {
		return fmt.Errorf("%w (see %s)", err, c.logOf(*server))
	}
	if !server.Process.alive() {
		return fmt.Errorf("the API server ended: see %s", c.logOf(*server))
	}
	return nil
}

// awaitNodes waits until both nodes have the condition Ready, and pods can be made.
func (c *cluster) awaitNodes(ctx context.Context) error {
	things := []string{"serviceaccount/default", networksKind}
	for _, n := range c.nodes() {
		things = append(things, "node/"+n.name)
	}
	exist := func() bool {
		return c.kubectl(ctx, nil, append([]string{"get"}, things...)...) == nil
	}
	if err := await(ctx, "the objects "+strings.Join(things, ", "), exist); err != nil {
		return fmt.Errorf("%w (logs are in %s)", err, filepath.Join(c.dir, "*", "log"))
	}
	// a definition without any condition yet is an error to kubectl
	for _, reached := range []string{"jsonpath={.status.conditions}", "condition=Established"} {
		if err := c.kubectl(ctx, nil, "wait", "--for="+reached, "--timeout=1m", networksKind); err != nil {
			return err
		}
	}
	err := c.kubectl(ctx, nil, append([]string{"wait", "--for=condition=Ready", "--timeout=2m"}, things[2:]...)...)
	if err != nil {
		return fmt.Errorf("%w (logs are in %s)", err, filepath.Join(c.dir, "node-*", "log"))
	}
	return nil
}
