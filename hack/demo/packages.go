package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
)

// installPackages installs the packages that nodes need from the machine and that it lacks, if it can, and
// passes on the installer's output.
func (l *demoCluster) installPackages(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, filepath.Join(l.project, "hack", "ci-packages"), "cluster")
	cmd.Stderr = l.stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("hack/ci-packages cluster: %w", err)
	}
	return nil
}
