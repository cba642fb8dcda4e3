package kube

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// Main is TestMain of a package whose tests share one API server, which has the project's kinds: prepare furnishes it before the first test. Further
// admission plugins may be named. It doesn't return.
func Main(m *testing.M, prepare func(*rest.Config) error, admission ...string) {
	Become()
	code, err := serveAndRun(m, prepare, admission)
	if err != nil {
		fmt.Fprintln(os.Stderr, "kube:", err)
		code = 1
	}
	os.Exit(code)
}

func serveAndRun(m *testing.M, prepare func(*rest.Config) error, admission []string) (code int, err error) {
	log.SetLogger(logr.Discard()) // errors come back as values
	environment, stop, err := Start([]string{"../../config/crd/bases"}, admission...)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if err := prepare(environment.Config); err != nil {
		return 1, err
	}
	return m.Run(), nil
}
