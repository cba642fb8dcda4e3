package kubectl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/compile/admission"
	"github.com/linerate-dev/linerate/internal/document/exit"
)

// load reads LoadTests and LoadTestSuites from the files ("-" is stdin), and validates them as the API server
// and the operator would, of a suite each cell. One error has the faults of all files.
func (c *cluster) load(stdin io.Reader, files []string) (*admission.Server, []admission.Object, error) {
	server, err := admission.NewServer()
	if err != nil {
		return nil, nil, err
	}
	var objects []admission.Object
	var errs []error
	for _, name := range files {
		loaded, err := server.LoadFile(stdin, name)
		errs = append(errs, err)
		for _, object := range loaded {
			errs = append(errs, c.admit(server, object))
		}
		objects = append(objects, loaded...)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, nil, exit.BadInput("%w", err)
	}
	return server, objects, nil
}

// readObjects reads what is sent to the cluster from the files. Stderr names objects of other kinds, which aren't sent.
func (c *cluster) readObjects(stdin io.Reader, stderr io.Writer, files []string) ([]client.Object, error) {
	_, loaded, err := c.load(stdin, files)
	objects := make([]client.Object, len(loaded))
	for i, object := range loaded {
		if len(object.OtherObjects) > 0 && (i == 0 || loaded[i-1].File != object.File) {
			fmt.Fprintf(stderr, "note: %s: %s beside it is left: apply it with kubectl\n", object.File,
				strings.Join(object.OtherObjects, ", "))
		}
		objects[i] = withoutDefaults(object)
	}
	return objects, err
}

// admit gives the object its namespace, and returns the reasons why a cluster couldn't run it.
func (c *cluster) admit(server *admission.Server, object admission.Object) error {
	m := object.Meta()
	if m.Namespace != "" && m.Namespace != c.namespace && c.explicit {
		return fmt.Errorf("%s: %s is of namespace %s, and -n says %s: leave one of the two out", object.File, m.Name,
			m.Namespace, c.namespace)
	}
	if m.Namespace == "" {
		m.Namespace = c.namespace
	}
	if object.Suite != nil {
		_, err := suite.Read(object, suite.JudgeWith(server, suite.InCluster))
		return err
	}
	_, faults := compile.ForCluster(object.LoadTest)
	return object.Faults(faults)
}

// withoutDefaults is a file's object without what the API server sets itself.
func withoutDefaults(object admission.Object) client.Object {
	m := object.Meta()
	meta := metav1.ObjectMeta{
		Name: m.Name, GenerateName: m.GenerateName, Namespace: m.Namespace,
		Labels: m.Labels, Annotations: m.Annotations, Finalizers: m.Finalizers, OwnerReferences: m.OwnerReferences,
	}
	// the API server makes another
	if meta.GenerateName != "" && meta.Name == meta.GenerateName+admission.GeneratedSuffix {
		meta.Name = ""
	}
	if object.Suite != nil {
		return &v1alpha1.LoadTestSuite{Spec: object.Suite.Spec, ObjectMeta: meta}
	}
	return &v1alpha1.LoadTest{Spec: object.LoadTest.Spec, ObjectMeta: meta}
}

// start creates the objects, or finds existing ones with the same spec. It creates nothing unless the server
// would accept all of them.
func (c *cluster) start(
	ctx context.Context, talk io.Writer, objects []client.Object, fresh bool,
) ([]client.Object, error) {
	started := make([]client.Object, len(objects))
	var errs []error
	for i, o := range objects {
		var err error
		started[i], err = c.tryCreate(ctx, o, fresh)
		errs = append(errs, err)
	}
	if err := exit.Worst(errs...); err != nil {
		return nil, err
	}
	for i, o := range objects {
		if started[i] != nil {
			fmt.Fprintln(talk, existingSentence(o, started[i], time.Now()))
			continue
		}
		if err := c.client.Create(ctx, o); err != nil {
			return nil, c.explainOf(kindOf(o), "create", client.ObjectKeyFromObject(o), err)
		}
		fmt.Fprintf(talk, "%s created in namespace %s\n", o.GetName(), o.GetNamespace())
		started[i] = o
	}
	return started, nil
}

// tryCreate asks whether the server would create an object. It returns an existing object with the same spec;
// nil: there is none.
func (c *cluster) tryCreate(ctx context.Context, o client.Object, fresh bool) (client.Object, error) {
	key, kind := client.ObjectKeyFromObject(o), kindOf(o)
	attempt, _ := o.DeepCopyObject().(client.Object)
	err := c.client.Create(ctx, attempt, client.DryRunAll)
	if !apierrors.IsAlreadyExists(err) {
		return nil, c.explainOf(kind, "create", key, err)
	}
	var existing client.Object = &v1alpha1.LoadTest{}
	if kind == v1alpha1.LoadTestSuiteKind {
		existing = &v1alpha1.LoadTestSuite{}
	}
	if err := c.client.Get(ctx, key, existing); err != nil {
		return nil, c.explainOf(kind, "get", key, err)
	}
	remedy := fmt.Sprintf("use metadata.generateName, or kubectl delete %s %s -n %s", strings.ToLower(kind), key.Name,
		key.Namespace)
	if fresh {
		return nil, exit.BadInput("%s %s exists in namespace %s, and --new wants a new one: %s", kind, key.Name,
			key.Namespace, remedy)
	}
	if field, differs := admission.OtherSpec(o, existing); differs {
		return nil, exit.BadInput("%s %s exists in namespace %s with another %s: name this one otherwise, %s",
			kind, key.Name, key.Namespace, field, remedy)
	}
	return existing, nil
}

// existingSentence says that an existing object is followed, or that its result is printed.
func existingSentence(file, existing client.Object, instant time.Time) string {
	words := fmt.Sprintf("%s exists in namespace %s with the same spec", existing.GetName(), existing.GetNamespace())
	if field := admission.OtherTerms(file, existing); field != "" {
		words += fmt.Sprintf(" (but for %s, which kubectl apply would change)", field)
	}
	if end := endOf(existing); end != nil {
		return words + fmt.Sprintf(", and ended %s ago: this is its result; use metadata.generateName for a new one",
			age(instant, end.LastTransitionTime.Time))
	}
	return words + ": following it"
}
