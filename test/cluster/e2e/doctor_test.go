//go:build full

package e2e

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/test/rigs/fabric"
	"github.com/linerate-dev/linerate/test/rigs/fabric/incluster"
)

// TestDoctor: a cluster that has what a LoadTest needs, and the same one with one thing less, or one more where it lacks it as it stands.
func TestDoctor(t *testing.T) {
	s := begin(t)
	s.network("west", fabric.ResourceOf("west"))
	const (
		exposed = "keep other tenants' pods off the pod network"
		upgrade = "helm upgrade --install linerate"
	)
	for _, c := range []struct {
		thing  string
		now    []string // lines of the cluster as it stands
		change func() (back func())
		then   []string // lines of the changed one, each with its fix
	}{
		{"no network in the namespace", []string{"ok      network west: linerate-vf, resource linerate.dev/sriov-west: 4 of 4 free on node-1, 4 of 4 free on node-2"},
			func() func() { return s.without(s.of("k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition", "west")) },
			[]string{"warn    networks: namespace " + s.namespace + " has none", "→ create NetworkAttachmentDefinitions there"}},
		{"no Multus", []string{"ok      Multus: k8s.cni.cncf.io/v1 is served, and pod "}, s.withoutMultus,
			[]string{"fail    Multus: the cluster knows no NetworkAttachmentDefinitions", "→ install Multus"}},
		{"no device plugin", []string{"ok      network west: "}, s.withoutDevicePlugins,
			[]string{"fail    network west: linerate-vf, and no node has its resource linerate.dev/sriov-west", "→ configure the device plugin for it"}},
		{"huge pages, and processors of one's own", []string{
			"warn    huge pages: no node has any", "→ kernel argument hugepagesz=1G",
			"warn    CPU manager: generators get no CPUs of their own on node-1, node-2", "→ cpuManagerPolicy: static in the kubelet's configuration"},
			s.withHugePagesAndCPUs,
			[]string{"ok      huge pages: 8Mi of 8Mi in pages of 2Mi free on node-1", "ok      CPU manager: static on node-1", "own on node-2: figures"}},
		{"an admission policy that is bound to nothing", []string{"ok      admission policy: linerate-linerate-system guards LoadTests"},
			func() func() {
				return s.without(s.of("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "linerate-linerate-system"))
			},
			[]string{"warn    admission policy: linerate-linerate-system is there and bound to nothing", "→ kubectl get validatingadmissionpolicybindings; " + upgrade}},
		{"no admission policy", []string{"ok      admission policy: linerate-linerate-system guards LoadTests"},
			func() func() {
				return s.without(s.of("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "linerate-linerate-system"))
			},
			[]string{"warn    admission policy: none guards LoadTests", "→ upgrade the chart"}},
		{"a CNI that ignores NetworkPolicy", []string{"warn    NetworkPolicy: no CNI has an agent on the nodes, and a plugin alone (bridge, ptp, macvlan) ignores it", exposed},
			func() func() { return s.withAgent("kube-flannel-ds") }, []string{"warn    NetworkPolicy: flannel ignores it", exposed}},
		{"a CNI that enforces NetworkPolicy", []string{"warn    NetworkPolicy: "},
			func() func() { return s.withAgent("cilium") }, []string{"ok      NetworkPolicy: Cilium enforces it"}},
	} {
		since := time.Now()
		s.diagnosed(c.thing+", before", c.now)
		back := c.change()
		s.diagnosed(c.thing, c.then)
		back()
		s.diagnosed(c.thing+", afterwards", c.now)
		t.Logf("%s: %v", c.thing, time.Since(since).Round(100*time.Millisecond))
	}
	s.types("doctor").wants(0, "", "").never("fail ")
	s.installed(t.Context()) // the chart's objects are its own still
}

// diagnosed waits until doctor says all that; kubelets report their devices every few seconds.
func (s *scene) diagnosed(when string, lines []string) {
	s.Helper()
	var said typed
	err := wait.PollUntilContextTimeout(s.Context(), 300*time.Millisecond, 45*time.Second, true, func(context.Context) (bool, error) {
		said = s.types("doctor")
		for _, l := range lines {
			if !strings.Contains(said.out, l) {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		s.Errorf("%s: doctor doesn't say %q (%v):\n%s%s", when, lines, err, said.out, said.talk)
	}
}

// of names an object, in the scene's namespace where it is of one.
func (s *scene) of(version, kind, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(version)
	o.SetKind(kind)
	o.SetName(name)
	if kind == "NetworkAttachmentDefinition" {
		o.SetNamespace(s.namespace)
	}
	return o
}

// without deletes objects, and returns the function that makes them again.
func (s *scene) without(objects ...*unstructured.Unstructured) (back func()) {
	s.Helper()
	ctx := context.WithoutCancel(s.Context())
	for _, o := range objects {
		if err := lab.Client.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			s.Fatal(err)
		}
	}
	for _, o := range objects {
		if err := lab.Client.Delete(ctx, o.DeepCopy()); err != nil {
			s.Fatal(err)
		}
		err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
			err := lab.Client.Get(ctx, client.ObjectKeyFromObject(o), o.DeepCopy())
			return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
		})
		if err != nil {
			s.Fatalf("%s %s doesn't go: %v", o.GetKind(), o.GetName(), err)
		}
	}
	back = func() {
		for _, o := range objects {
			s.again(ctx, o)
		}
	}
	s.Cleanup(back)
	return back
}

// again makes an object that was deleted, in the name of who applied it, or that one's next upgrade would find somebody else's fields. It may
// be there; and its kind may have to come to be first.
func (s *scene) again(ctx context.Context, o *unstructured.Unstructured) {
	s.Helper()
	owner := "e2e"
	for _, m := range o.GetManagedFields() {
		if m.Operation == metav1.ManagedFieldsOperationApply && m.Subresource == "" {
			owner = m.Manager
		}
	}
	fresh := o.DeepCopy()
	unstructured.RemoveNestedField(fresh.Object, "status")
	for _, field := range []string{"uid", "resourceVersion", "managedFields", "creationTimestamp", "generation", "finalizers"} {
		unstructured.RemoveNestedField(fresh.Object, "metadata", field)
	}
	var last error
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		last = lab.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(fresh.DeepCopy()), client.FieldOwner(owner), client.ForceOwnership)
		return last == nil, nil
	})
	if err != nil {
		s.Errorf("make %s %s again: %v", o.GetKind(), o.GetName(), last)
	}
}

// withoutMultus takes away the kind that comes with it, and with it every network.
func (s *scene) withoutMultus() (back func()) {
	s.Helper()
	networks := &unstructured.UnstructuredList{}
	networks.SetAPIVersion("k8s.cni.cncf.io/v1")
	networks.SetKind("NetworkAttachmentDefinitionList")
	if err := lab.Client.List(s.Context(), networks); err != nil {
		s.Fatal(err)
	}
	kind := s.without(s.of("apiextensions.k8s.io/v1", "CustomResourceDefinition", "network-attachment-definitions.k8s.cni.cncf.io"))
	back = func() {
		kind()
		for i := range networks.Items {
			s.again(context.WithoutCancel(s.Context()), &networks.Items[i])
		}
	}
	s.Cleanup(back)
	return back
}

// withoutDevicePlugins ends them on both nodes.
func (s *scene) withoutDevicePlugins() (back func()) {
	s.Helper()
	each := func(verb string) {
		for _, node := range []string{"node-1", "node-2"} {
			s.cluster(verb, node, incluster.Daemon)
		}
	}
	each("kill")
	back = func() { each("start") }
	s.Cleanup(back)
	return back
}

// hugePages is how many of 2 MiB the machine sets apart.
const hugePages = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"

// withHugePagesAndCPUs has node-1's kubelet start with huge pages to give, and hand out whole processors.
func (s *scene) withHugePagesAndCPUs() (back func()) {
	s.Helper()
	pages := func(n string) {
		if err := os.WriteFile(hugePages, []byte(n), 0); err != nil {
			s.Fatal(err)
		}
	}
	kubelet := func(script string) {
		s.cluster("kill", "node-1", "kubelet")
		s.cluster("exec", "node-1", "--", "sh", "-ec", "cd /var/lib/kubelet; "+script+"; rm -f cpu_manager_state") // which is another policy's
		s.cluster("start", "node-1", "kubelet")
	}
	pages("4")
	done := false
	back = func() {
		if done {
			return
		}
		done = true
		pages("0")
		kubelet("mv config.was config.yaml")
	}
	s.Cleanup(back)
	kubelet(`cp config.yaml config.was; first=$(sed 's/[-,].*//' /sys/devices/system/cpu/online)
printf 'cpuManagerPolicy: static\nreservedSystemCPUs: "%s"\n' "$first" >> config.yaml`)
	return back
}

// withAgent runs a DaemonSet by whose name a CNI is known.
func (s *scene) withAgent(name string) (back func()) {
	s.Helper()
	s.kubectl(fmt.Sprintf(`{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: %[1]s, namespace: %[2]s}, spec: {
  selector: {matchLabels: {agent: %[1]s}},
  template: {metadata: {labels: {agent: %[1]s}}, spec: {terminationGracePeriodSeconds: 1, containers: [{name: agent, image: "linerate.dev/pause:1", imagePullPolicy: Never}]}}}}`,
		name, s.namespace), "apply", "-f", "-")
	back = func() {
		s.kubectl("", "delete", "daemonset", name, "-n", s.namespace, "--ignore-not-found", "--cascade=foreground", "--timeout=30s")
	}
	s.Cleanup(back)
	return back
}

// cluster runs a command of hack/cluster.
func (s *scene) cluster(verb string, args ...string) {
	s.Helper()
	if _, err := lab.Cluster.Run(context.WithoutCancel(s.Context()), "", verb, args...); err != nil {
		s.Fatal(err)
	}
}
