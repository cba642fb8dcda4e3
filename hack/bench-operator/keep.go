package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/rest"
)

// keepServerMetrics writes the API server's metrics into the folder of the logs: they show what it waited for.
func (c *cluster) keepServerMetrics(ctx context.Context) error {
	return c.keepOfServer(ctx, "/metrics", "kube-apiserver.metrics")
}

// keepServerProfile writes what the API server's processor time goes to while tests are applied, if that was asked for.
func (c *cluster) keepServerProfile(ctx context.Context, o options) error {
	if !o.profile {
		return nil
	}
	return c.keepOfServer(ctx, "/debug/pprof/profile?seconds=30", "kube-apiserver.pprof")
}

// keepProfile writes what the manager's processor time goes to, from when most tests are there, if that was asked for.
func (m *manager) keepProfile(ctx context.Context, o options) error {
	if !o.profile {
		return nil
	}
	return m.keep(ctx, "profile?seconds=30", "manager.pprof")
}

// keepHeap writes what the manager's memory is taken by in the end, if that was asked for.
func (m *manager) keepHeap(ctx context.Context, o options) error {
	if !o.profile {
		return nil
	}
	return m.keep(ctx, "heap?gc=1", "manager.heap.pprof")
}

// keep writes one of the manager's profiles into the folder of its log.
func (m *manager) keep(ctx context.Context, profile, file string) error {
	return keepAnswer(ctx, http.DefaultClient, m.profiles+profile, filepath.Join(filepath.Dir(m.log), file))
}

// keepOfServer writes an answer of the API server into a file of this run.
func (c *cluster) keepOfServer(ctx context.Context, path, file string) error {
	web, err := rest.HTTPClientFor(c.config)
	if err != nil {
		return err
	}
	return keepAnswer(ctx, web, strings.TrimSuffix(c.config.Host, "/")+path, filepath.Join(c.dir, file))
}

func keepAnswer(ctx context.Context, web *http.Client, url, file string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := web.Do(request)
	if err != nil {
		return fmt.Errorf("read %s: %w", url, err)
	}
	defer func() { _ = response.Body.Close() }() // all was read
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return errors.Join(err, fmt.Errorf("%s: %s", url, response.Status))
	}
	return os.WriteFile(file, text, 0o600)
}
