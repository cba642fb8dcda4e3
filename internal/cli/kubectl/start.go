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

// readObjects reads LoadTests and LoadTestSuites from the files ("-": stdin), and judges them as the API server and the operator would: of a suite
// each cell. All that is wrong in all files comes as one error; what else is in them is named on stderr.
func (c *cluster) readObjects(stdin io.Reader, stderr io.Writer, files []string) ([]client.Object, error) {
	server, err := admission.NewServer()
	if err != nil {
		return nil, err
	}
	var all []client.Object
	var wrong []error
	for _, name := range files {
		objects, err := server.LoadFile(stdin, name)
		wrong = append(wrong, err)
		if len(objects) > 0 && len(objects[0].OtherObjects) > 0 {
			fmt.Fprintf(stderr, "note: %s: %s beside it is left: apply it with kubectl\n", name, strings.Join(objects[0].OtherObjects, ", "))
		}
		for _, object := range objects {
			wrong = append(wrong, c.place(server, object))
			all = append(all, bare(object))
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, exit.BadInput("%w", err)
	}
	return all, nil
}

// place gives the object its namespace, and says what a cluster couldn't do with it.
func (c *cluster) place(server *admission.Server, object admission.Object) error {
	m := object.Meta()
	if m.Namespace != "" && m.Namespace != c.namespace && c.given {
		return fmt.Errorf("%s: %s is of namespace %s, and -n says %s: leave one of the two out", object.File, m.Name, m.Namespace, c.namespace)
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

// bare is what of a file's object is sent to a cluster: what a server would set itself is left out.
func bare(from admission.Object) client.Object {
	m := from.Meta()
	meta := metav1.ObjectMeta{
		Name: m.Name, GenerateName: m.GenerateName, Namespace: m.Namespace,
		Labels: m.Labels, Annotations: m.Annotations, Finalizers: m.Finalizers, OwnerReferences: m.OwnerReferences,
	}
	if meta.GenerateName != "" && meta.Name == meta.GenerateName+admission.GeneratedSuffix { // the API server makes another
		meta.Name = ""
	}
	if from.Suite != nil {
		return &v1alpha1.LoadTestSuite{Spec: from.Suite.Spec, ObjectMeta: meta}
	}
	return &v1alpha1.LoadTest{Spec: from.LoadTest.Spec, ObjectMeta: meta}
}

// start creates the objects, or finds those that are there already with the same spec. Nothing is created unless the server would take all.
func (c *cluster) start(ctx context.Context, talk io.Writer, objects []client.Object, fresh bool) ([]client.Object, error) {
	there := make([]client.Object, len(objects))
	var wrong []error
	for i, o := range objects {
		var err error
		there[i], err = c.tryCreate(ctx, o, fresh)
		wrong = append(wrong, err)
	}
	if err := exit.Worst(wrong...); err != nil {
		return nil, err
	}
	for i, o := range objects {
		if there[i] != nil {
			fmt.Fprintln(talk, attached(o, there[i], time.Now()))
			continue
		}
		if err := c.client.Create(ctx, o); err != nil {
			return nil, c.explainOf(kindOf(o), "create", client.ObjectKeyFromObject(o), err)
		}
		fmt.Fprintf(talk, "%s created in namespace %s\n", o.GetName(), o.GetNamespace())
		there[i] = o
	}
	return there, nil
}

// tryCreate asks whether an object could be created; it returns one that is there already and is the same.
func (c *cluster) tryCreate(ctx context.Context, o client.Object, fresh bool) (client.Object, error) {
	at, kind := client.ObjectKeyFromObject(o), kindOf(o)
	try, _ := o.DeepCopyObject().(client.Object)
	err := c.client.Create(ctx, try, client.DryRunAll)
	if !apierrors.IsAlreadyExists(err) {
		return nil, c.explainOf(kind, "create", at, err)
	}
	is := empty(o)
	if err := c.client.Get(ctx, at, is); err != nil {
		return nil, c.explainOf(kind, "get", at, err)
	}
	away := fmt.Sprintf("use metadata.generateName, or kubectl delete %s %s -n %s", strings.ToLower(kind), at.Name, at.Namespace)
	if fresh {
		return nil, exit.BadInput("%s %s exists in namespace %s, and --new wants a new one: %s", kind, at.Name, at.Namespace, away)
	}
	if field, other := admission.OtherSpec(o, is); other {
		return nil, exit.BadInput("%s %s exists in namespace %s with another %s: name this one otherwise, %s", kind, at.Name, at.Namespace, field, away)
	}
	return is, nil
}

// empty is an object of the same kind that has nothing in it.
func empty(like client.Object) client.Object {
	if kindOf(like) == v1alpha1.LoadTestSuiteKind {
		return &v1alpha1.LoadTestSuite{}
	}
	return &v1alpha1.LoadTest{}
}

// attached says that something isn't begun anew.
func attached(file, is client.Object, now time.Time) string {
	words := fmt.Sprintf("%s exists in namespace %s with the same spec", is.GetName(), is.GetNamespace())
	if field := admission.OtherTerms(file, is); field != "" {
		words += fmt.Sprintf(" (but for %s, which kubectl apply would change)", field)
	}
	if end := endOf(is); end != nil {
		return words + fmt.Sprintf(", and ended %s ago: this is its result; use metadata.generateName for a new one", age(now, end.LastTransitionTime.Time))
	}
	return words + ": following it"
}
