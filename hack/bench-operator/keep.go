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

// keepServerMetrics writes what the API server tells Prometheus beside the logs: what it waited for is there.
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

// keepOfServer writes an answer of the API server into a file of this run.
func (c *cluster) keepOfServer(ctx context.Context, path, file string) error {
	web, err := rest.HTTPClientFor(c.config)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(c.config.Host, "/")+path, nil)
	if err != nil {
		return err
	}
	response, err := web.Do(request)
	if err != nil {
		return fmt.Errorf("read %s of the API server: %w", path, err)
	}
	defer func() { _ = response.Body.Close() }() // all was read
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return errors.Join(err, fmt.Errorf("%s of the API server: %s", path, response.Status))
	}
	return os.WriteFile(filepath.Join(c.dir, file), text, 0o600)
}
