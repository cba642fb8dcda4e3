package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
)

// installPackages installs what the machine lacks of what nodes take from it, where it can, and passes on what is said of it.
func (l *lab) installPackages(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, filepath.Join(l.project, "hack", "ci-packages"), "cluster")
	cmd.Stderr = l.talk
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("hack/ci-packages cluster: %w", err)
	}
	return nil
}
