package main

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
)

// pauseImage is what holds a pod's namespaces.
const pauseImage = "linerate.dev/pause:1"

// buildPause builds the program of the pause image, from the source in this program's folder.
func buildPause(ctx context.Context, folder string) ([]byte, error) {
	path := filepath.Join(folder, "pause")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path,
		"github.com/linerate-dev/linerate/hack/cluster/pause")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	// the build ends with the thread that began it, or it would write where down has removed everything
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &unix.SysProcAttr{Pdeathsig: unix.SIGKILL}
	if output, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build pause: %w: %s", err, output)
	}
	return os.ReadFile(path)
}

// packImage makes an image of one static program, as "docker save" would write it: a layer, a configuration and
// a manifest that names both.
func packImage(name, program string, binary []byte) ([]byte, error) {
	layer, err := archive(entry{program, 0o755, binary})
	if err != nil {
		return nil, err
	}
	config, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH, "os": "linux",
		"config": map[string]any{"Entrypoint": []string{"/" + program}, "Env": []string{"PATH=/"}},
		"rootfs": map[string]any{"type": "layers",
			"diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(layer))}},
	})
	if err != nil {
		return nil, err
	}
	configName := fmt.Sprintf("%x.json", sha256.Sum256(config))
	manifest, err := json.Marshal([]map[string]any{{"Config": configName, "RepoTags": []string{name},
		"Layers": []string{"layer.tar"}}})
	if err != nil {
		return nil, err
	}
	return archive(entry{"layer.tar", 0o644, layer}, entry{configName, 0o644, config}, entry{"manifest.json", 0o644,
		manifest})
}

// entry is a file of an archive.
type entry struct {
	name    string
	mode    int64
	content []byte
}

func archive(entries ...entry) ([]byte, error) {
	var stdout bytes.Buffer
	w := tar.NewWriter(&stdout)
	for _, e := range entries {
		err := w.WriteHeader(&tar.Header{Name: e.name, Mode: e.mode, Size: int64(len(e.content)),
			Format: tar.FormatUSTAR})
		if err == nil {
			_, err = w.Write(e.content)
		}
		if err != nil {
			return nil, fmt.Errorf("archive %s: %w", e.name, err)
		}
	}
	err := w.Close()
	return stdout.Bytes(), err
}

// importImage gives a node the images of a docker archive.
func importImage(ctx context.Context, b box, image io.Reader) error {
	var stderr bytes.Buffer
	err := b.run(ctx, image, &stderr, &stderr, "ctr", "--namespace", "k8s.io", "images", "import", "--local", "-")
	if err != nil {
		return fmt.Errorf("import an image on %s: %w: %s", b.Name, err, stderr.Bytes())
	}
	return nil
}

// loadImages gives all nodes the images of docker archives.
func (c *cluster) loadImages(ctx context.Context, paths ...string) error {
	var errs error
	for _, path := range paths {
		for _, n := range c.nodes() {
			errs = errors.Join(errs, c.loadImage(ctx, n.name, path))
		}
	}
	return errs
}

func (c *cluster) loadImage(ctx context.Context, node, path string) error {
	b, err := c.box(node)
	if err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	return importImage(ctx, b, file)
}
