package delivery

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/compile/admission"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/netif"
)

// links are the cables between generator and forwarder, of the same names at both ends.
var links = []string{"west", "east"}

// rig is a test in the cluster, with its generator and its forwarder.
type rig struct {
	namespace string
	gate      *gate
	files     string // the plan's, and the kubeconfig
}

// What the generator may in a pod, and that with the right to send from threads that nothing holds up: what else this machine does is then
// not seen in the pace, and known answers can be asked for.
const (
	podRights    = "+net_raw,+net_admin"
	steadyRights = podRights + ",+sys_nice"
)

func newRig(t *testing.T, loadtest string) *rig {
	t.Helper()
	return newRigWith(t, loadtest, steadyRights)
}

func newRigWith(t *testing.T, loadtest, rights string) *rig {
	t.Helper()
	needRoot(t)
	r := &rig{files: t.TempDir()}
	generator, device := space(t), space(t)
	cable(t, generator, device)
	p := planOf(t, loadtest)
	forward(t, device)
	r.writePlan(t, p, serveGenerator(t, generator, rights))
	r.makeObjects(t)
	return r
}

func space(t *testing.T) *netif.Namespace {
	t.Helper()
	ns, err := netif.NewNamespace()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ns.Close() })
	return ns
}

func cable(t *testing.T, generator, device *netif.Namespace) {
	t.Helper()
	err := generator.Do(func() error {
		lo, err := netlink.LinkByName("lo")
		if err != nil {
			return err
		}
		if err := netlink.LinkSetUp(lo); err != nil {
			return err
		}
		for _, name := range links {
			attrs := netlink.NewLinkAttrs()
			attrs.Name = name
			if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: name, PeerNamespace: netlink.NsFd(device.Fd())}); err != nil {
				return fmt.Errorf("make cable %s: %w", name, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// forward makes the device a router with a limit of 1000 packets/s, by a pod's container.
func forward(t *testing.T, device *netif.Namespace) {
	t.Helper()
	c := contain(t, device, "+net_admin", "forwarder", "--spec", writeSpec(t, forwarderSpec("16.0.0.0/24", "48.0.0.0/24")))
	probe(t, device, c, "forwarder")
}

// planOf is the Plan of a LoadTest, as the operator's of attempt 1.
func planOf(t *testing.T, loadtest string) *plan.Plan {
	t.Helper()
	server, err := admission.NewServer()
	if err != nil {
		t.Fatal(err)
	}
	objects, err := server.Load("test.yaml", strings.NewReader(loadtest))
	if err != nil {
		t.Fatal(err)
	}
	p, errs := compile.Compile(objects[0].LoadTest)
	if len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	p.Test.Attempt = 1
	return p
}

// serveGenerator starts the software engine in the namespace, as a pod's container, and returns where it can be reached from outside.
func serveGenerator(t *testing.T, ns *netif.Namespace, rights string) string {
	t.Helper()
	c := contain(t, ns, rights, "generator", "--ports", strings.Join(links, ","), "--listen", "127.0.0.1:4501", "--speed", "1gbps", "--secret-file", "")
	probe(t, ns, c, "generator")
	return relay(t, ns)
}

// relay carries connections to this address into the namespace.
func relay(t *testing.T, ns *netif.Namespace) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var carried sync.WaitGroup
	t.Cleanup(carried.Wait)
	t.Cleanup(func() { _ = l.Close() })
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	carried.Go(func() {
		for {
			outside, err := l.Accept()
			if err != nil {
				return
			}
			carried.Go(func() {
				defer func() { _ = outside.Close() }()
				var inside net.Conn
				err := ns.Do(func() (err error) {
					inside, err = net.Dial("tcp", "127.0.0.1:4501")
					return err
				})
				if err == nil {
					copyBoth(ctx, outside, inside)
				}
			})
		}
	})
	return l.Addr().String()
}

// writePlan writes the documents of a Plan with one generator, which answers at this address.
func (r *rig) writePlan(t *testing.T, p *plan.Plan, address string) {
	t.Helper()
	r.writeDocuments(t, p, plan.Sites{Version: plan.SitesVersion, Generators: []plan.Site{{Generator: p.Generators[0].Name,
		RPC: address, PortOfLink: map[string]int{"west": 0, "east": 1}, Pod: "t-1-generator-0", Node: "n1"}}})
}

func (r *rig) writeDocuments(t *testing.T, p *plan.Plan, sites plan.Sites) {
	t.Helper()
	data, err := delivery.EncodePlan(p, sites)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range data {
		if err := os.WriteFile(filepath.Join(r.files, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// heartbeat lets the generator have a launcher.
func (r *rig) heartbeat(t *testing.T, address string) {
	t.Helper()
	p, sites, err := delivery.ReadPlan(os.DirFS(r.files))
	if err != nil {
		t.Fatal(err)
	}
	sites.Generators[0].Heartbeat = address
	r.writeDocuments(t, p, sites)
}

// makeObjects makes what is there before the runner: a namespace of the test's own, and a Role for the ConfigMaps that it makes.
func (r *rig) makeObjects(t *testing.T) {
	t.Helper()
	ctx, meta := t.Context(), func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
	ns, err := cluster.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "delivery-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r.namespace = ns.Name
	rules := []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"create"}},
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: []string{"t-progress", "t-report", "t-run-2", "t-run-3"}, Verbs: []string{"update"}},
	}
	if _, err := cluster.RbacV1().Roles(r.namespace).Create(ctx, &rbacv1.Role{ObjectMeta: meta("t-runner"), Rules: rules}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{ObjectMeta: meta("t-runner"), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "t-runner"},
		Subjects: []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: r.user()}}}
	if _, err := cluster.RbacV1().RoleBindings(r.namespace).Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	r.gate = newGate(t, r.user())
	if err := os.WriteFile(filepath.Join(r.files, "kubeconfig"), []byte(r.gate.kubeconfig()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (r *rig) user() string { return r.namespace + "-runner" }

// process is a runner in the making.
type process struct {
	cmd       *exec.Cmd
	out, talk bytes.Buffer
	lastWords string
}

// start runs a runner as the pod with this UID.
func (r *rig) start(t *testing.T, uid string, more ...string) *process {
	t.Helper()
	p := &process{lastWords: filepath.Join(r.files, "last-words-"+uid)}
	if err := os.WriteFile(p.lastWords, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.cmd = exec.CommandContext(t.Context(), linerate, append([]string{"runner", "--plan", r.files, "--namespace", r.namespace, "--progress", "t-progress",
		"--report", "t-report", "--kubeconfig", filepath.Join(r.files, "kubeconfig"), "--termination-log", p.lastWords}, more...)...)
	p.cmd.Env = append(os.Environ(), "POD_NAME=pod-"+uid, "POD_UID="+uid)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.talk
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// wait returns the exit code.
func (p *process) wait(t *testing.T) int {
	t.Helper()
	_ = p.cmd.Wait()
	t.Logf("the runner said:\n%s", p.talk.String())
	return p.cmd.ProcessState.ExitCode()
}

// progress is what the cluster knows; nil before the first runner.
func (r *rig) progress(t *testing.T) *delivery.Progress {
	t.Helper()
	cm, err := cluster.CoreV1().ConfigMaps(r.namespace).Get(t.Context(), "t-progress", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := delivery.DecodeProgress(cm.Data)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// left is a directory with what the lost runner's Progress says, as a kubelet mounts it into its successor's pod.
func (r *rig) left(t *testing.T) string {
	t.Helper()
	data, err := delivery.EncodeProgress(*r.progress(t))
	dir := t.TempDir()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, delivery.KeyProgress), []byte(data[delivery.KeyProgress]), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// await waits until the cluster knows of this phase from this runner.
func (r *rig) await(t *testing.T, uid, phase string) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if p := r.progress(t); p != nil && p.RunnerUID == uid && p.Phase == phase {
			return
		}
	}
	t.Fatalf("runner %s never reached phase %s: %+v", uid, phase, r.progress(t))
}

// report is the Report in the cluster.
func (r *rig) report(t *testing.T) (*report.Report, delivery.Envelope) {
	t.Helper()
	cm, err := cluster.CoreV1().ConfigMaps(r.namespace).Get(t.Context(), "t-report", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got, e, err := delivery.DecodeReport(cm.BinaryData, cm.Annotations)
	if err != nil {
		t.Fatal(err)
	}
	if immutable := cm.Immutable != nil && *cm.Immutable; immutable != e.Final {
		t.Errorf("final %s, immutable %v", strconv.FormatBool(e.Final), immutable)
	}
	return got, e
}
