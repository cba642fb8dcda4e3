package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/compile/admission"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// inputs are the tests and suites that files ask for.
type inputs struct {
	plans  []*plan.Plan
	suites []*localSuite
	// ignored are sentences about objects of other kinds in the files.
	ignored []string
}

// readInputs reads LoadTests and LoadTestSuites from the files ("-" is stdin), validates them as an API server
// would, and compiles them, also each cell of a suite. One error has the faults of all files.
func readInputs(stdin io.Reader, files []string) (inputs, error) {
	server, err := admission.NewServer()
	if err != nil {
		return inputs{}, err
	}
	var loaded inputs
	var errs []error
	for _, name := range files {
		errs = append(errs, loaded.read(server, stdin, name))
	}
	if err := errors.Join(errs...); err != nil {
		return inputs{}, exit.BadInput("%w", err)
	}
	return loaded, nil
}

func (i *inputs) read(server *admission.Server, stdin io.Reader, name string) error {
	objects, err := server.LoadFile(stdin, name)
	errs := []error{err}
	if len(objects) > 0 && len(objects[0].OtherObjects) > 0 {
		i.ignored = append(i.ignored, fmt.Sprintf("%s: %s beside it is for a cluster, and left", name,
			strings.Join(objects[0].OtherObjects, ", ")))
	}
	for _, object := range objects {
		if object.Suite != nil {
			errs = append(errs, i.addSuite(server, object))
			continue
		}
		errs = append(errs, embedCapture(object))
		p, _ := compile.Compile(object.LoadTest)
		errs = append(errs, object.Faults(faultsHere(object.LoadTest)))
		i.plans = append(i.plans, p)
	}
	return errors.Join(errs...)
}

// faultsHere are the reasons why a LoadTest can't be measured on this machine.
func faultsHere(test *v1alpha1.LoadTest) field.ErrorList {
	_, faults := compile.Compile(test)
	return append(faults, needsCluster(&test.Spec)...)
}

func (i *inputs) addSuite(server *admission.Server, object admission.Object) error {
	var faults admission.Faults
	spec := &object.Suite.Spec
	if spec.Suspend {
		faults = append(faults, object.Fault("spec.suspend",
			"spec.suspend is true: only a cluster can hold a suite back (kubectl apply): here it would never begin; "+
				"remove suspend"))
	}
	if spec.Stop {
		faults = append(faults, object.Fault("spec.stop",
			"spec.stop is true: it would end before it began: remove stop (here Ctrl-C stops a run)"))
	}
	m, err := suite.Read(object, suite.JudgeWith(server, faultsHere))
	i.suites = append(i.suites, &localSuite{matrix: m, server: server, parallelism: spec.Parallelism})
	return errors.Join(faults.OrNil(), err)
}
