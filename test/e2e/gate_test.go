package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/hack/image/pack"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/test/e2e/rig"
)

// Two releases of a router: the new one lost 40 %, which shows on a machine however busy it is.
const (
	oldRelease = "example.com/linerate/router:1.4"
	newRelease = "example.com/linerate/router:1.5"
)

// routerTest is what the pipelines measure here, in place of examples/ci/router.yaml: with a spread that is vouched for, one short run of each decides.
const routerTest = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: router-64b, labels: {linerate.dev/product: Router, linerate.dev/loadtest: 64b}}
spec:
  generator: {engine: Software}
  dut:
    type: Pod
    pod:
      template:
        spec:
          containers:
          - name: router
            image: example.com/router
            imagePullPolicy: Never
            securityContext: {capabilities: {add: [NET_ADMIN]}}
            readinessProbe: {exec: {command: [/router, -ready]}, periodSeconds: 1}
  links:
  - {name: west, network: default/west, lineRate: 1gbps}
  - {name: east, network: default/east, lineRate: 1gbps}
  traffic: {profile: FixedSize, frameSize: 64}
  procedure:
    ramp: {warmupDuration: 0s, targetRate: 12kpps, rampDuration: 3s, stepDuration: 1s, settle: 300ms, refineTo: 5%, confirmDuration: 1s, holdDuration: 0s, stopAtSaturation: true}
  criteria: [{name: no-slower, metric: PacketsPerSecond, maxRegression: 15%, assumedSpread: 2%}]
  activeDeadline: 2m
`

// TestTheGatesOfTheExamples runs the commands of each CI example as they stand there, with the rights of examples/ci/rbac.yaml. What the first one measures
// the others take up, as jobs of one commit do.
func TestTheGatesOfTheExamples(t *testing.T) {
	s := begin(t)
	s.loadRelease(oldRelease, "5000")
	s.loadRelease(newRelease, "3000")
	p := s.pipeline()
	t.Run("GitHub Actions", func(t *testing.T) {
		failed := p.github(t)
		if failed != report.ExitFailed {
			t.Errorf("the job ended with %d, want %d", failed, report.ExitFailed)
		}
		p.has(t, "summary.md", "### ❌ linerate: Failed", "Router", "change")
		p.has(t, "gate.xml", "<failure")
		var gate report.Gate
		if err := json.Unmarshal(p.file(t, "gate.json"), &gate); err != nil || gate.Outcome != report.DidFail || len(gate.Rows) != 1 {
			t.Errorf("%v: %+v", err, gate)
		}
	})
	t.Run("GitLab CI", func(t *testing.T) {
		if code := p.gitlab(t); code != report.ExitFailed {
			t.Errorf("the job ended with %d, want %d", code, report.ExitFailed)
		}
		p.has(t, "gate.xml", "<failure")
		p.has(t, "gate.md", "### ❌")
		p.has(t, "gate.html", "</html>")
	})
	t.Run("a CronJob", func(t *testing.T) { p.nightly(t) })
	var suites lineratev1alpha1.LoadTestSuiteList
	if err := lab.Client.List(t.Context(), &suites, client.InNamespace(s.namespace)); err != nil || len(suites.Items) != 1 {
		t.Errorf("there are %d suites (%v), want the one that all of them took up", len(suites.Items), err)
	}
	t.Run("with a generator that is too weak to tell", func(t *testing.T) { p.weak(t) })
}

// weakTest demands more of a device than the generator can send, and less than the device forwards.
const weakTest = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: weak-64b}
spec:
  generator: {engine: External, external: {servers: [SERVER]}}
  dut: {type: Device}
  links: [{name: west, network: default/west, lineRate: 1gbps}, {name: east, network: default/east, lineRate: 1gbps}]
  traffic: {profile: FixedSize, frameSize: 64}
  procedure:
    ramp: {warmupDuration: 0s, targetRate: 6kpps, rampDuration: 3s, stepDuration: 1s, settle: 300ms, refineTo: 5%, confirmDuration: 1s, holdDuration: 0s, stopAtSaturation: true}
  criteria: [{name: fast, metric: PacketsPerSecond, min: "4000"}]
  activeDeadline: 2m
`

// weak is a gate whose generator sends 2 000 packets/s at most, through a device that forwards 8 000: it can't be told whether that is 4 000.
func (p *pipeline) weak(t *testing.T) {
	t.Helper()
	p.device(8000)
	p.write("weak.yaml", strings.Replace(weakTest, "SERVER", p.generator("by-hand", "--max-rate", "2kpps"), 1))
	code := p.script(t, "kubectl linerate gate -f weak.yaml -n "+p.namespace+" -o json=weak.json", "export KUBECONFIG="+p.kubeconfig)
	if code != report.ExitNotMeasured {
		t.Errorf("the gate ended with %d, want %d", code, report.ExitNotMeasured)
	}
	p.has(t, "weak.json", `"outcome": "Undecided"`, "lower bound only: the generator was too weak")
}

// loadRelease gives the nodes an image of the router that forwards so much.
func (s *scene) loadRelease(image, limit string) {
	s.Helper()
	files := map[string]string{"/router": filepath.Join(lab.Programs, "router")}
	if err := lab.Load(s.Context(), image, files, pack.Config{Entrypoint: []string{"/router", "-limit", limit}}); err != nil {
		s.Fatal(err)
	}
}

// pipeline is where jobs run: a checkout, a kubeconfig of the examples' ServiceAccount, and kubectl with its plugin.
type pipeline struct {
	*scene
	dir, kubeconfig, shell string
}

func (s *scene) pipeline() *pipeline {
	s.Helper()
	p := &pipeline{scene: s, dir: s.TempDir()}
	p.write("loadtests/router.yaml", routerTest)
	bin := filepath.Join(p.dir, "bin")
	if err := errors.Join(os.MkdirAll(bin, 0o755), os.Symlink(filepath.Join(lab.Programs, "linerate"), filepath.Join(bin, "kubectl-linerate"))); err != nil {
		s.Fatal(err)
	}
	env, err := lab.Cluster.Run(s.Context(), "", "env") // the administrator's, whose kubectl is wanted
	if err != nil {
		s.Fatal(err)
	}
	p.shell = env + "\nexport PATH=" + bin + ":$PATH\nunset KUBECONFIG\n"
	p.administrator("kubectl -n " + s.namespace + " apply -f " + p.example("rbac.yaml"))
	p.trust()
	s.Cleanup(func() {
		_, err := lab.Cluster.Run(context.WithoutCancel(s.Context()), "", "kubectl", "--", "-n", s.namespace, "delete", "serviceaccounts/ci-gate", "roles/ci-gate", "rolebindings/ci-gate", "rolebindings/ci-gate-privileged")
		if err != nil {
			s.Error(err)
		}
	})
	p.kubeconfig = p.login()
	return p
}

// trust lets the pipeline's LoadTests have a device with NET_ADMIN, as the administrator of a lab would.
func (p *pipeline) trust() {
	p.Helper()
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "ci-gate-privileged", Namespace: p.namespace},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "linerate-" + rig.Namespace + "-privileged"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "ci-gate", Namespace: p.namespace}}}
	if err := lab.Client.Create(p.Context(), binding); err != nil {
		p.Fatal(err)
	}
}

// login writes a kubeconfig with a token of the ServiceAccount's, and nobody else's.
func (p *pipeline) login() string {
	p.Helper()
	request := &authenticationv1.TokenRequest{}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "ci-gate", Namespace: p.namespace}}
	if err := lab.Client.SubResource("token").Create(p.Context(), account, request); err != nil {
		p.Fatal(err)
	}
	config, err := clientcmd.LoadFromFile(lab.Kubeconfig)
	if err != nil {
		p.Fatal(err)
	}
	for name := range config.AuthInfos {
		config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: request.Status.Token}
	}
	file := filepath.Join(p.dir, "kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		p.Fatal(err)
	}
	return file
}

func (p *pipeline) write(name, text string) {
	p.Helper()
	file := filepath.Join(p.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		p.Fatal(err)
	}
}

func (p *pipeline) file(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		t.Error(err)
	}
	return text
}

func (p *pipeline) has(t *testing.T, name string, words ...string) {
	t.Helper()
	text := string(p.file(t, name))
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%s has no %q:\n%s", name, w, text)
		}
	}
}

// example is the path of a CI example.
func (p *pipeline) example(name string) string {
	p.Helper()
	path, err := filepath.Abs("../../examples/ci/" + name)
	if err != nil {
		p.Fatal(err)
	}
	return path
}

// decode reads a CI example.
func (p *pipeline) decode(name string, into any) {
	p.Helper()
	text, err := os.ReadFile(p.example(name))
	if err == nil {
		err = yaml.Unmarshal(text, into)
	}
	if err != nil {
		p.Fatal(err)
	}
}

// script runs a job's script as a runner does, and returns its exit code.
func (p *pipeline) script(t *testing.T, script string, env ...string) int {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-c", p.shell+"set -eo pipefail\n"+strings.Join(env, "\n")+"\n"+script)
	cmd.Dir = p.dir
	out, err := cmd.CombinedOutput()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		t.Fatal(err)
	}
	t.Logf("%s\nended with %d:\n%s", script, cmd.ProcessState.ExitCode(), out)
	return cmd.ProcessState.ExitCode()
}

// administrator runs a command that must succeed.
func (p *pipeline) administrator(command string) {
	p.Helper()
	if code := p.script(p.T, command, "export KUBECONFIG="+lab.Kubeconfig); code != 0 {
		p.Fatalf("%s ended with %d", command, code)
	}
}

// variables are what a pipeline is told by its variables.
func (p *pipeline) variables() []string {
	return []string{"export IMAGE=" + newRelease, "export BASELINE=" + oldRelease, "export NAMESPACE=" + p.namespace}
}

// github runs the steps of the workflow that have commands, as its runner does, and returns the exit code of the first that failed.
func (p *pipeline) github(t *testing.T) (failed int) {
	t.Helper()
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct{ Run, If string }
		}
	}
	p.decode("github-actions.yaml", &workflow)
	handed := filepath.Join(p.dir, "env")
	p.write("env", "")
	secret, err := os.ReadFile(p.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	p.write("secret", string(secret))
	env := append(p.variables(), "export RUNNER_TEMP="+t.TempDir(), "export GITHUB_ENV="+handed, "export GITHUB_STEP_SUMMARY="+filepath.Join(p.dir, "summary.md"),
		`export LAB_KUBECONFIG="$(cat secret)"`, "set -a; . "+handed+"; set +a")
	ran := 0
	for _, step := range workflow.Jobs["gate"].Steps {
		if step.Run == "" || failed != 0 && step.If != "always()" {
			continue
		}
		ran++
		if code := p.script(t, step.Run, env...); failed == 0 {
			failed = code
		}
	}
	if ran < 3 {
		t.Errorf("%d steps were run, want 3", ran)
	}
	return failed
}

// gitlab runs the job's script.
func (p *pipeline) gitlab(t *testing.T) int {
	t.Helper()
	var pipeline struct {
		Gate struct{ Script []string }
	}
	p.decode("gitlab-ci.yml", &pipeline)
	if len(pipeline.Gate.Script) == 0 {
		t.Fatal("the job has no script")
	}
	return p.script(t, strings.Join(pipeline.Gate.Script, "\n"), append(p.variables(), "export KUBECONFIG="+p.kubeconfig)...)
}

// nightly applies the CronJob by the commands above it, starts it once, and waits until its verdict has failed the Job without another try.
func (p *pipeline) nightly(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(p.example("nightly-cronjob.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	p.write("examples/ci/nightly-cronjob.yaml", strings.NewReplacer("ghcr.io/linerate-dev/linerate:latest", rig.Repository+":"+lab.Images.Tag,
		"registry.example.com/router:main", newRelease, "registry.example.com/router:1.4.2", oldRelease,
		`valueFrom: {fieldRef: {fieldPath: "metadata.labels['batch.kubernetes.io/job-name']"}}`, "value: "+p.digest(t)).Replace(string(text)))
	rights, err := os.ReadFile(p.example("rbac.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	p.write("examples/ci/rbac.yaml", string(rights))
	commands := 0
	for line := range strings.Lines(string(text)) {
		if command, is := strings.CutPrefix(strings.TrimSpace(line), "#   kubectl -n lab "); is {
			p.administrator("kubectl -n " + p.namespace + " " + command)
			commands++
		}
	}
	if commands != 2 {
		t.Errorf("%d commands stand above the CronJob, want 2", commands)
	}
	p.administrator("kubectl -n " + p.namespace + " create job --from=cronjob/nightly-gate nightly-gate-1")
	job := await(p.scene, &batchv1.JobList{}, "nightly-gate-1", "Failed", time.Minute, func(j *batchv1.Job) bool { return jobFailed(j) != "" }, jobFailed)
	if reason := jobFailed(job); reason != batchv1.JobReasonPodFailurePolicy || job.Status.Failed != 1 {
		t.Errorf("the Job failed as %s after %d pods, want %s after one", reason, job.Status.Failed, batchv1.JobReasonPodFailurePolicy)
	}
	log, err := lab.Cluster.Run(t.Context(), "", "kubectl", "--", "logs", "-n", p.namespace, "job/nightly-gate-1")
	if err != nil || !strings.Contains(log, "Failed: the test doesn't meet the criteria") {
		t.Errorf("its log is (%v)\n%s", err, log)
	}
	p.administrator("kubectl -n " + p.namespace + " delete job/nightly-gate-1 cronjob/nightly-gate configmap/nightly --wait")
}

// digest are the letters that the suite's name ends with: so the night finds what was measured by day.
func (p *pipeline) digest(t *testing.T) string {
	t.Helper()
	var suites lineratev1alpha1.LoadTestSuiteList
	if err := lab.Client.List(t.Context(), &suites, client.InNamespace(p.namespace)); err != nil || len(suites.Items) != 1 {
		t.Fatalf("there are %d suites (%v), want one", len(suites.Items), err)
	}
	return strings.TrimPrefix(suites.Items[0].Name, "router-64b-")
}

func jobFailed(j *batchv1.Job) string {
	for _, c := range j.Status.Conditions {
		if c.Type == batchv1.JobFailed && c.Status == corev1.ConditionTrue {
			return c.Reason
		}
	}
	return ""
}
