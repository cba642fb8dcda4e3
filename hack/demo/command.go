package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// kubectl types a command, with in as its standard input, and returns what it printed.
func (l *demoCluster) kubectl(ctx context.Context, stdin string, args ...string) (string, error) {
	cmd := l.program(ctx, "kubectl", args...)
	cmd.Stdin = strings.NewReader(stdin)
	return output(cmd)
}

// program is one of those that came with Kubernetes, ready to run against the cluster.
func (l *demoCluster) program(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(l.assets, program), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+l.kubeconfig)
	return cmd
}

// compile makes a static program of a package of this project.
func (l *demoCluster) compile(ctx context.Context, source string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-C", l.project, "-trimpath", "-buildvcs=false", "-o",
		filepath.Join(l.programs, filepath.Base(source)), "./"+source)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	_, err := output(cmd)
	return err
}

// output is what a command printed, without the last line break; its error has what it said.
func output(cmd *exec.Cmd) (string, error) {
	output, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(output), fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err,
			strings.TrimSpace(string(exit.Stderr)))
	}
	return strings.TrimSuffix(string(output), "\n"), err
}
