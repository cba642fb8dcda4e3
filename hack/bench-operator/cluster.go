package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/test/api/operator/kube"
)

const (
	operatorNamespace = "linerate-system"
	operatorAccount   = "linerate-manager"
	labNamespace      = "lab"
	jobsNamespace     = "jobs"
	nodeCount         = 100
)

// cluster is an API server with all that the operator meets in a lab's cluster.
type cluster struct {
	dir         string // of this run's files
	environment *envtest.Environment
	admin       client.Client
	config      *rest.Config // the administrator's, without a limit of requests
	auditLog    string
	stop        func() error
	scarce      int // for so many tests there are devices; 0: for all
}

// auditPolicy keeps a line of metadata for each request of those who are measured, and none of who plays the
// rest of the cluster.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: Metadata, userGroups: ["system:serviceaccounts"]}
- {level: Metadata, users: ["` + jobController + `"]}
- {level: None}
`

// jobController is the user that kube-controller-manager is.
const jobController = "system:kube-controller-manager"

// startCluster starts the API server and etcd, and prepares the lab.
func startCluster(ctx context.Context, dir string, o options) (*cluster, error) {
	c := &cluster{dir: dir, scarce: o.scarce, auditLog: filepath.Join(dir, "audit.log")}
	policy := filepath.Join(dir, "audit-policy.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return nil, err
	}
	crds := []string{"config/crd/bases", "test/api/operator/testdata/network-attachment-definitions.yaml"}
	var err error
	c.environment, c.stop, err = kube.StartWith(crds, func(server *envtest.APIServer) {
		server.Configure().Set("audit-policy-file", policy).Set("audit-log-path", c.auditLog).Set("audit-log-maxsize",
			"16384")
	})
	if err != nil {
		return nil, fmt.Errorf("start the API server: %w", err)
	}
	if err := c.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare the cluster: %w", err), c.stop())
	}
	return c, nil
}

// prepare makes what a lab's cluster has before the first test.
func (c *cluster) prepare(ctx context.Context) error {
	scheme, err := caches.NewScheme()
	if err != nil {
		return err
	}
	c.config = rest.CopyConfig(c.environment.Config)
	c.config.QPS = -1
	if c.admin, err = client.New(c.config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	for _, name := range []string{operatorNamespace, labNamespace, jobsNamespace} {
		if err := c.admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			return err
		}
	}
	return errors.Join(c.bindOperator(ctx), c.addNodes(ctx), c.wire(ctx, "west"), c.wire(ctx, "east"))
}

// bindOperator gives the operator's account and the runners' the roles that config/rbac has, and the chart too,
// and holds runners to their policy.
func (c *cluster) bindOperator(ctx context.Context) error {
	role := &rbacv1.ClusterRole{}
	policy, binding := &admissionv1.ValidatingAdmissionPolicy{}, &admissionv1.ValidatingAdmissionPolicyBinding{}
	err := errors.Join(readYAML("config/rbac/role.yaml", role), readYAML("config/admission/runner_policy.yaml", policy),
		readYAML("config/admission/runner_binding.yaml", binding))
	if err != nil {
		return err
	}
	subjects := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: operatorNamespace, Name: operatorAccount}}
	for _, object := range []client.Object{
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: operatorAccount}},
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace,
			Name: manifests.DefaultRunnerAccount}},
		role, policy, binding,
		&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: operatorAccount}, Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name}},
	} {
		if err := c.admin.Create(ctx, object); err != nil {
			return err
		}
	}
	return errors.Join(c.bindInOwnNamespace(ctx, "leader_election_role", operatorAccount),
		c.bindInOwnNamespace(ctx, "runs_role", operatorAccount),
		c.bindInOwnNamespace(ctx, "runner_role", manifests.DefaultRunnerAccount))
}

// bindInOwnNamespace gives an account of the operator's own namespace a Role of config/rbac.
func (c *cluster) bindInOwnNamespace(ctx context.Context, file, account string) error {
	role := &rbacv1.Role{}
	if err := readYAML("config/rbac/"+file+".yaml", role); err != nil {
		return err
	}
	role.Namespace = operatorNamespace
	return errors.Join(c.admin.Create(ctx, role), c.admin.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: operatorNamespace, Name: account}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
	}))
}

func readYAML(file string, target any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("%w (run this from the top of the repository)", err)
	}
	return yaml.UnmarshalStrict(text, target)
}

// token is an account's, as a pod has it mounted, if one is given.
func (c *cluster) token(ctx context.Context, namespace, account string, pod *corev1.Pod) (string, error) {
	request := &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(3600))},
	}
	if pod != nil {
		request.Spec.BoundObjectRef = &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod",
			Name: pod.Name, UID: pod.UID}
	}
	owner := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: account}}
	if err := c.admin.SubResource("token").Create(ctx, owner, request); err != nil {
		return "", fmt.Errorf("get a token of %s/%s: %w", namespace, account, err)
	}
	return request.Status.Token, nil
}

func deviceOf(network string) corev1.ResourceName {
	return corev1.ResourceName("lab.example/" + network)
}

func nodeName(i int) string { return fmt.Sprintf("node-%03d", i%nodeCount) }

// devicesOf is how many devices of a network a node has.
func (c *cluster) devicesOf(node int) *resource.Quantity {
	switch {
	case c.scarce == 0:
		return resource.NewQuantity(64, resource.DecimalSI)
	case node < c.scarce:
		return resource.NewQuantity(ofScarceNode, resource.DecimalSI)
	}
	return resource.NewQuantity(0, resource.DecimalSI)
}

// addNodes makes nodes with devices, and as much else in their status as nodes have.
func (c *cluster) addNodes(ctx context.Context) error {
	for i := range nodeCount {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName(i)}}
		if err := c.admin.Create(ctx, node); err != nil {
			return err
		}
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue,
			Reason: "KubeletReady"}}
		node.Status.Capacity = corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("256"), corev1.ResourceMemory: resource.MustParse("1Ti"),
			corev1.ResourcePods: resource.MustParse("250"),
			deviceOf("west"):    *c.devicesOf(i), deviceOf("east"): *c.devicesOf(i),
		}
		node.Status.Allocatable = node.Status.Capacity
		for n := range 50 {
			node.Status.Images = append(node.Status.Images,
				corev1.ContainerImage{Names: []string{fmt.Sprintf("registry.lab/image-%02d@sha256:%064x", n, n)},
					SizeBytes: 1 << 28})
		}
		if err := c.admin.Status().Update(ctx, node); err != nil {
			return err
		}
	}
	return nil
}

// wire makes a network with devices.
func (c *cluster) wire(ctx context.Context, name string) error {
	network := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"config": `{"cniVersion":"1.0.0","name":"` + name +
			`","plugins":[{"type":"sriov","capabilities":{"mac":true}}]}`,
	}}}
	network.SetGroupVersionKind(schema.GroupVersionKind{Group: "k8s.cni.cncf.io", Version: "v1",
		Kind: "NetworkAttachmentDefinition"})
	network.SetNamespace(labNamespace)
	network.SetName(name)
	network.SetAnnotations(map[string]string{"k8s.v1.cni.cncf.io/resourceName": string(deviceOf(name))})
	return c.admin.Create(ctx, network)
}
