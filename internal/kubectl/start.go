package kubectl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/admission"
	"github.com/linerate-dev/linerate/internal/compile"
)

// readTests reads LoadTests from the files ("-": stdin), and judges them as the API server and the operator would. All that is wrong in all
// files comes as one error.
func (c *cluster) readTests(stdin io.Reader, files []string) ([]*v1alpha1.LoadTest, error) {
	server, err := admission.NewServer()
	if err != nil {
		return nil, err
	}
	var tests []*v1alpha1.LoadTest
	var wrong []error
	for _, name := range files {
		objects, err := loadFile(server, stdin, name)
		wrong = append(wrong, err)
		for _, object := range objects {
			if object.Suite != nil {
				wrong = append(wrong, object.Fault("kind", "a LoadTestSuite is created with kubectl apply -f "+name))
				continue
			}
			wrong = append(wrong, c.place(object))
			tests = append(tests, bare(object.LoadTest))
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, badInput("%w", err)
	}
	return tests, nil
}

func loadFile(server *admission.Server, stdin io.Reader, name string) ([]admission.Object, error) {
	if name == "-" {
		return server.Load(name, stdin)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return server.Load(name, f)
}

// place gives the test its namespace, and says what a cluster couldn't do with it.
func (c *cluster) place(object admission.Object) error {
	test := object.LoadTest
	if test.Namespace != "" && test.Namespace != c.namespace && c.given {
		return fmt.Errorf("%s: %s is of namespace %s, and -n says %s: leave one of the two out", object.File, test.Name, test.Namespace, c.namespace)
	}
	if test.Namespace == "" {
		test.Namespace = c.namespace
	}
	_, faults := compile.ForCluster(test)
	return object.Faults(faults)
}

// generatedName is what admission makes of a generateName; the API server makes another.
const generatedName = "local"

// bare is what of a file's object is sent to a cluster: what a server would set itself is left out.
func bare(from *v1alpha1.LoadTest) *v1alpha1.LoadTest {
	test := &v1alpha1.LoadTest{Spec: from.Spec, ObjectMeta: metav1.ObjectMeta{
		Name: from.Name, GenerateName: from.GenerateName, Namespace: from.Namespace,
		Labels: from.Labels, Annotations: from.Annotations, Finalizers: from.Finalizers, OwnerReferences: from.OwnerReferences,
	}}
	if test.GenerateName != "" && test.Name == test.GenerateName+generatedName {
		test.Name = ""
	}
	return test
}

// start creates the tests, or finds those that are there already with the same spec. Nothing is created unless the server would take all.
func (c *cluster) start(ctx context.Context, talk io.Writer, tests []*v1alpha1.LoadTest, fresh bool) ([]*v1alpha1.LoadTest, error) {
	there := make([]*v1alpha1.LoadTest, len(tests))
	var wrong []error
	for i, test := range tests {
		var err error
		there[i], err = c.tryCreate(ctx, test, fresh)
		wrong = append(wrong, err)
	}
	if err := worst(wrong...); err != nil {
		return nil, err
	}
	for i, test := range tests {
		if there[i] != nil {
			fmt.Fprintln(talk, attached(test, there[i], time.Now()))
			continue
		}
		if err := c.client.Create(ctx, test); err != nil {
			return nil, c.explain("create", client.ObjectKeyFromObject(test), err)
		}
		fmt.Fprintf(talk, "%s created in namespace %s\n", test.Name, test.Namespace)
		there[i] = test
	}
	return there, nil
}

// tryCreate asks whether a test could be created; it returns one that is there already and is the same.
func (c *cluster) tryCreate(ctx context.Context, test *v1alpha1.LoadTest, fresh bool) (*v1alpha1.LoadTest, error) {
	at := client.ObjectKeyFromObject(test)
	err := c.client.Create(ctx, test.DeepCopy(), client.DryRunAll)
	if !apierrors.IsAlreadyExists(err) {
		return nil, c.explain("create", at, err)
	}
	is := &v1alpha1.LoadTest{}
	if err := c.client.Get(ctx, at, is); err != nil {
		return nil, c.explain("get", at, err)
	}
	if fresh {
		return nil, badInput("LoadTest %s exists in namespace %s, and --new wants a new one: use metadata.generateName, or kubectl delete loadtest %s -n %s", is.Name, is.Namespace, is.Name, is.Namespace)
	}
	if field, other := otherSpec(test, is); other {
		return nil, badInput("LoadTest %s exists in namespace %s with another %s: name this one otherwise, use metadata.generateName, or kubectl delete loadtest %s -n %s",
			is.Name, is.Namespace, field, is.Name, is.Namespace)
	}
	return is, nil
}

// attached says that a test isn't begun anew.
func attached(file, is *v1alpha1.LoadTest, now time.Time) string {
	words := fmt.Sprintf("%s exists in namespace %s with the same spec", is.Name, is.Namespace)
	if field := otherTerms(file, is); field != "" {
		words += fmt.Sprintf(" (but for %s, which kubectl apply would change)", field)
	}
	if end := endOf(is); end != nil {
		return words + fmt.Sprintf(", and ended %s ago: this is its result; use metadata.generateName for a new one", age(now, end.LastTransitionTime.Time))
	}
	return words + ": following it"
}
