package doctor

import (
	"context"
	"fmt"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/config/crd"
	"github.com/linerate-dev/linerate/internal/document/intake"
)

const (
	leaseName      = "linerate-manager"
	definitionName = "loadtests.linerate.dev"
	// operatorVariable is an environment variable of each operator's pod. The operator's own name may differ.
	operatorVariable = "LINERATE_IMAGE"
	questionTimeout  = 10 * time.Second
	nodeTimeout      = 3 * time.Second
	maxNodes         = 10 // whose kubelets are asked
)

// AddToScheme registers the kinds that Look reads.
func AddToScheme(scheme *runtime.Scheme) error {
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, authorizationv1.AddToScheme, rbacv1.AddToScheme,
		coordinationv1.AddToScheme,
		admissionv1.AddToScheme, apiextensionsv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return fmt.Errorf("make the scheme: %w", err)
		}
	}
	return nil
}

// Look reads a cluster, each request within questionTimeout. Errors are part of the Lab.
func Look(ctx context.Context, config *rest.Config, c client.Client, namespace, version string) Lab {
	lab := Lab{
		Namespace: namespace, Version: version, Host: config.Host, Instant: time.Now(), OurSchema: pluginDefinition(),
		Leases: map[string]Answer[*coordinationv1.Lease]{},
	}
	config = rest.CopyConfig(config)
	config.Timeout = questionTimeout
	d, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		lab.Server.Err = err
		return lab
	}
	server, err := d.ServerVersion()
	if err != nil {
		lab.Server.Err = err
		return lab
	}
	lab.Server.Value = server.GitVersion
	lab.Groups = groups(d)
	lab.Rights = rightsOf(ctx, c, namespace)
	lab.Definition = get(ctx, c, &apiextensionsv1.CustomResourceDefinition{}, client.ObjectKey{Name: definitionName})
	lab.Operators = operators(ctx, c)
	for _, o := range lab.Operators.Value {
		lab.Leases[o.Namespace] = get(ctx, c, &coordinationv1.Lease{}, client.ObjectKey{Namespace: o.Namespace,
			Name: leaseName})
	}
	lab.Networks = networksOf(ctx, c, namespace)
	lab.readClusterLists(ctx, c)
	lab.Home = get(ctx, c, &corev1.Namespace{}, client.ObjectKey{Name: namespace})
	lab.readKueue(ctx, c)
	lab.readWires(ctx, c)
	lab.readRuns(ctx, c)
	lab.CPUPolicy = cpuPolicies(ctx, d.RESTClient(), lab.Nodes.Value)
	return lab
}

// readClusterLists reads the objects of the whole cluster.
func (lab *Lab) readClusterLists(ctx context.Context, c client.Client) {
	nodes, pods, daemons := &corev1.NodeList{}, &corev1.PodList{}, &appsv1.DaemonSetList{}
	policies, bindings := &admissionv1.ValidatingAdmissionPolicyList{},
		&admissionv1.ValidatingAdmissionPolicyBindingList{}
	lab.Nodes.Err, lab.Pods.Err, lab.Daemons.Err = list(ctx, c, nodes), list(ctx, c, pods), list(ctx, c, daemons)
	lab.Policies.Err, lab.Bindings.Err = list(ctx, c, policies), list(ctx, c, bindings)
	lab.Nodes.Value, lab.Pods.Value, lab.Daemons.Value = nodes.Items, pods.Items, daemons.Items
	lab.Policies.Value, lab.Bindings.Value = policies.Items, bindings.Items
}

func list(ctx context.Context, c client.Client, objects client.ObjectList, opts ...client.ListOption) error {
	ctx, end := context.WithTimeout(ctx, questionTimeout)
	defer end()
	return c.List(ctx, objects, opts...)
}

func get[T client.Object](ctx context.Context, c client.Client, object T, key client.ObjectKey) Answer[T] {
	ctx, end := context.WithTimeout(ctx, questionTimeout)
	defer end()
	err := c.Get(ctx, key, object)
	return Answer[T]{object, err}
}

func groups(d discovery.DiscoveryInterface) Answer[[]string] {
	list, err := d.ServerGroups()
	if err != nil {
		return Answer[[]string]{Err: err}
	}
	var versions []string
	for _, g := range list.Groups {
		for _, v := range g.Versions {
			versions = append(versions, v.GroupVersion)
		}
	}
	return Answer[[]string]{Value: versions}
}

// rightsOf asks whether the person has the rights that the verbs need.
func rightsOf(ctx context.Context, c client.Client, namespace string) []Right {
	rights := []Right{
		{Verb: "create", Group: v1alpha1.Group, Resource: "loadtests", Purpose: "run"},
		{Verb: "watch", Group: v1alpha1.Group, Resource: "loadtests", Purpose: "watch"},
		{Verb: "patch", Group: v1alpha1.Group, Resource: "loadtests", Purpose: "stop"},
		{Verb: "get", Resource: "configmaps", Purpose: "report"},
	}
	for i := range rights {
		r := &rights[i]
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: r.Verb, Group: r.Group,
				Resource: r.Resource},
		}}
		r.Err = c.Create(ctx, review)
		r.Allowed = review.Status.Allowed
	}
	return rights
}

// readKueue reads Kueue's configuration, and the queues that tests of the namespace may name.
func (lab *Lab) readKueue(ctx context.Context, c client.Client) {
	if !servesGroup(*lab, kueueGroup) {
		return
	}
	config := get(ctx, c, &corev1.ConfigMap{}, client.ObjectKey{Namespace: kueueNamespace, Name: kueueConfig})
	lab.Kueue = Answer[string]{config.Value.Data[kueueConfigKey], config.Err}
	queues := &unstructured.UnstructuredList{}
	queues.SetGroupVersionKind(schema.GroupVersionKind{Group: kueueGroup, Version: "v1beta1", Kind: "LocalQueueList"})
	lab.Queues.Err = list(ctx, c, queues, client.InNamespace(lab.Namespace))
	for _, q := range queues.Items {
		lab.Queues.Value = append(lab.Queues.Value, q.GetName())
	}
}

func operators(ctx context.Context, c client.Client) Answer[[]appsv1.Deployment] {
	deployments := &appsv1.DeploymentList{}
	err := list(ctx, c, deployments)
	operators := slices.DeleteFunc(deployments.Items, func(d appsv1.Deployment) bool {
		return !slices.ContainsFunc(d.Spec.Template.Spec.Containers, func(c corev1.Container) bool {
			return slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == operatorVariable })
		})
	})
	return Answer[[]appsv1.Deployment]{operators, err}
}

func networksOf(ctx context.Context, c client.Client, namespace string) Answer[[]unstructured.Unstructured] {
	definitions := &unstructured.UnstructuredList{}
	definitions.SetGroupVersionKind(schema.GroupVersionKind{Group: "k8s.cni.cncf.io", Version: "v1",
		Kind: "NetworkAttachmentDefinitionList"})
	err := list(ctx, c, definitions, client.InNamespace(namespace))
	return Answer[[]unstructured.Unstructured]{definitions.Items, err}
}

// cpuPolicies asks the kubelets for their CPU manager's policy. After the first refusal it asks no other.
func cpuPolicies(ctx context.Context, c rest.Interface, nodes []corev1.Node) map[string]Answer[string] {
	policies := map[string]Answer[string]{}
	var refused error
	for _, n := range nodes[:min(len(nodes), maxNodes)] {
		if refused != nil {
			policies[n.Name] = Answer[string]{Err: refused}
			continue
		}
		policy, err := cpuPolicy(ctx, c, n.Name)
		policies[n.Name] = Answer[string]{policy, err}
		refused = err
	}
	return policies
}

func cpuPolicy(ctx context.Context, c rest.Interface, node string) (string, error) {
	ctx, end := context.WithTimeout(ctx, nodeTimeout)
	defer end()
	text, err := c.Get().AbsPath("/api/v1/nodes/" + node + "/proxy/configz").DoRaw(ctx)
	if err != nil {
		return "", err
	}
	var answer struct {
		KubeletConfig struct {
			CPUManagerPolicy string `json:"cpuManagerPolicy"`
		} `json:"kubeletconfig"`
	}
	if err := intake.JSON(text, &answer, intake.Small); err != nil {
		return "", fmt.Errorf("the kubelet's answer isn't understood: %w", err)
	}
	return answer.KubeletConfig.CPUManagerPolicy, nil
}

// pluginDefinition is the definition that this plugin was built with. Nil means that it can't be decoded, which
// a test rules out.
func pluginDefinition() *apiextensionsv1.CustomResourceDefinition {
	d := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(crd.LoadTests(), d); err != nil {
		return nil
	}
	return d
}
