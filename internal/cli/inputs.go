package cli

import (
	"errors"
	"io"
	"os"

	"github.com/linerate-dev/linerate/internal/admission"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/plan"
)

// readPlans reads LoadTests from the files ("-": stdin), judges them as an API server would, and compiles them. All that is wrong in all
// files comes as one error, so that a person mends everything at once.
func readPlans(stdin io.Reader, files []string) ([]*plan.Plan, error) {
	server, err := admission.NewServer()
	if err != nil {
		return nil, err
	}
	var plans []*plan.Plan
	var wrong []error
	for _, name := range files {
		found, err := readPlanFile(server, stdin, name)
		wrong = append(wrong, err)
		plans = append(plans, found...)
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, badInput("%w", err)
	}
	return plans, nil
}

func readPlanFile(server *admission.Server, stdin io.Reader, name string) ([]*plan.Plan, error) {
	in := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	objects, err := server.Load(name, in)
	wrong := []error{err}
	var plans []*plan.Plan
	for _, object := range objects {
		if object.Suite != nil {
			wrong = append(wrong, object.Fault("kind", "a LoadTestSuite needs a cluster (kubectl apply)"))
			continue
		}
		p, faults := compile.Compile(object.LoadTest)
		wrong = append(wrong, object.Faults(append(faults, needsCluster(&object.LoadTest.Spec)...)))
		plans = append(plans, p)
	}
	return plans, errors.Join(wrong...)
}
