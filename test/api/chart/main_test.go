package chart

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/linerate-dev/linerate/test/api/operator/kube"
)

// kubeconfig is the file by which the real API server is reached.
var kubeconfig string

func TestMain(m *testing.M) {
	kube.Become()
	flag.Parse()
	code, err := serveAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "chart:", err)
		code = 1
	}
	os.Exit(code)
}

func serveAndRun(m *testing.M) (code int, err error) {
	log.SetLogger(logr.Discard()) // errors come back as values
	dir, err := os.MkdirTemp("", "linerate-chart")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	environment, stop, err := kube.Start(nil)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	kubeconfig = filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(kubeconfig, environment.KubeConfig, 0o600); err != nil {
		return 1, err
	}
	return m.Run(), nil
}
