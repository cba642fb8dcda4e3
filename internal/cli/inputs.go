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
	// left are sentences about what else is in the files, which nobody reads.
	left []string
}

// readInputs reads LoadTests and LoadTestSuites from the files ("-": stdin), validates them as an API server would, and compiles them, each cell of a
// suite too. All faults in all files come as one error, so that a person can mend them at once.
func readInputs(stdin io.Reader, files []string) (inputs, error) {
	server, err := admission.NewServer()
	if err != nil {
		return inputs{}, err
	}
	var all inputs
	var wrong []error
	for _, name := range files {
		wrong = append(wrong, all.read(server, stdin, name))
	}
	if err := errors.Join(wrong...); err != nil {
		return inputs{}, exit.BadInput("%w", err)
	}
	return all, nil
}

func (all *inputs) read(server *admission.Server, stdin io.Reader, name string) error {
	objects, err := server.LoadFile(stdin, name)
	wrong := []error{err}
	if len(objects) > 0 && len(objects[0].OtherObjects) > 0 {
		all.left = append(all.left, fmt.Sprintf("%s: %s beside it is for a cluster, and left", name, strings.Join(objects[0].OtherObjects, ", ")))
	}
	for _, object := range objects {
		if object.Suite != nil {
			wrong = append(wrong, all.addSuite(server, object))
			continue
		}
		p, _ := compile.Compile(object.LoadTest)
		wrong = append(wrong, object.Faults(faultsHere(object.LoadTest)))
		all.plans = append(all.plans, p)
	}
	return errors.Join(wrong...)
}

// faultsHere are the reasons why a LoadTest can't be measured on this machine.
func faultsHere(test *v1alpha1.LoadTest) field.ErrorList {
	_, faults := compile.Compile(test)
	return append(faults, needsCluster(&test.Spec)...)
}

func (all *inputs) addSuite(server *admission.Server, object admission.Object) error {
	var wrong admission.Faults
	spec := &object.Suite.Spec
	if spec.Suspend {
		wrong = append(wrong, object.Fault("spec.suspend", "spec.suspend is true: only a cluster can hold a suite back (kubectl apply): here it would never begin; remove suspend"))
	}
	if spec.Stop {
		wrong = append(wrong, object.Fault("spec.stop", "spec.stop is true: it would end before it began: remove stop (here Ctrl-C stops a run)"))
	}
	m, err := suite.Read(object, suite.JudgeWith(server, faultsHere))
	all.suites = append(all.suites, &localSuite{matrix: m, server: server, parallelism: spec.Parallelism})
	return errors.Join(wrong.OrNil(), err)
}
