package kube

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// Main is TestMain of a package whose tests share one API server, which has the project's kinds: prepare
// furnishes it before the first test. Further admission plugins may be named. It doesn't return.
func Main(m *testing.M, prepare func(*rest.Config) error, admission ...string) {
	MainWith(m, func(environment *envtest.Environment) error { return prepare(environment.Config) }, admission...)
}

// MainWith is Main for tests that want more of the environment than how its API server is asked.
func MainWith(m *testing.M, prepare func(*envtest.Environment) error, admission ...string) {
	Become()
	code, err := serveAndRun(m, prepare, admission)
	if err != nil {
		fmt.Fprintln(os.Stderr, "kube:", err)
		code = 1
	}
	os.Exit(code)
}

func serveAndRun(m *testing.M, prepare func(*envtest.Environment) error, admission []string) (code int, err error) {
	log.SetLogger(logr.Discard()) // errors come back as values
	environment, stop, err := Start([]string{"../../../config/crd/bases"}, admission...)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if err := prepare(environment); err != nil {
		return 1, err
	}
	return m.Run(), nil
}
