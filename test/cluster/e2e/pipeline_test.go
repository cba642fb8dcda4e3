//go:build full

package e2e

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/test/cluster/e2e/rig"
)

// pipeline is where jobs run: a checkout, a kubeconfig of the examples' ServiceAccount, and kubectl with its plugin.
type pipeline struct {
	*scene
	dir, kubeconfig, shell string
}

func (s *scene) pipeline() *pipeline {
	s.Helper()
	p := &pipeline{scene: s, dir: s.TempDir()}
	bin := filepath.Join(p.dir, "bin")
	if err := errors.Join(os.MkdirAll(bin, 0o755), os.Symlink(filepath.Join(lab.Programs, "linerate"), filepath.Join(bin, "kubectl-linerate"))); err != nil {
		s.Fatal(err)
	}
	env, err := lab.Cluster.Run(s.Context(), "", "env") // the administrator's, whose kubectl is wanted
	if err != nil {
		s.Fatal(err)
	}
	p.shell = env + "\nexport PATH=" + bin + ":$PATH\nunset KUBECONFIG\n"
	p.write("loadtests/router.yaml", p.changed("router.yaml", shorter()...))
	p.write("examples/ci/rbac.yaml", p.changed("rbac.yaml"))
	s.Cleanup(func() {
		_, err := lab.Cluster.Run(context.WithoutCancel(s.Context()), "", "kubectl", "--", "-n", s.namespace, "delete", "serviceaccounts/ci-gate", "roles/ci-gate", "rolebindings/ci-gate", "rolebindings/ci-gate-privileged")
		if err != nil {
			s.Error(err)
		}
	})
	p.printed("rbac.yaml", 10)
	p.kubeconfig = filepath.Join(p.dir, "ci.kubeconfig")
	return p
}

// shorter is what is changed in examples/ci/router.yaml, in pairs: the wires' names, and that one short run of each side decides, on a busy machine, too. For
// that its spread is vouched for, the allowance is wide, and what a machine loses now and then counts as carried.
func shorter() []string {
	return []string{
		"network: west,", "network: default/west,",
		"network: east,", "network: default/east,",
		"ramp: {warmupDuration: 5s, targetRate: 100kpps, rampDuration: 20s, stepDuration: 2s, settleDuration: 500ms, confirmDuration: 5s, holdDuration: 0s, stopAtSaturation: true}",
		"{maxLossRatio: 5%, " +
			"ramp: {warmupDuration: 0s, targetRate: 12kpps, rampDuration: 3s, stepDuration: 1s, settleDuration: 300ms, precision: 5%, confirmDuration: 1s, holdDuration: 0s, stopAtSaturation: true}}",
		"maxRegression: 2%}", "maxRegression: 30%, assumedSpread: 2%}",
	}
}

// changed is a CI example in which some words, given in pairs, are others.
func (p *pipeline) changed(name string, words ...string) string {
	p.Helper()
	text, err := os.ReadFile(p.example(name))
	if err != nil {
		p.Fatal(err)
	}
	for i := 0; i < len(words); i += 2 {
		if strings.Count(string(text), words[i]) != 1 {
			p.Fatalf("%s has %q %d times, want it once", name, words[i], strings.Count(string(text), words[i]))
		}
	}
	return strings.NewReplacer(words...).Replace(string(text))
}

// printed runs the commands in the comments of a CI example, of which there are so many, one after the other, as an administrator would. The namespace is the scene's,
// other words, given in pairs, are others, too.
func (p *pipeline) printed(name string, commands int, words ...string) {
	p.Helper()
	var script []string
	for line := range strings.Lines(p.changed(name)) {
		if command, is := strings.CutPrefix(line, "#   "); is {
			script = append(script, strings.TrimSpace(command))
		}
	}
	if len(script) != commands {
		p.Errorf("%d commands stand in the comments of %s, want %d: %q", len(script), name, commands, script)
	}
	words = append(words, "-n lab ", "-n "+p.namespace+" ", "lab:ci-gate", p.namespace+":ci-gate", "--namespace lab", "--namespace "+p.namespace)
	p.administrator(strings.NewReplacer(words...).Replace(strings.Join(script, "\n")))
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
	path, err := filepath.Abs("../../../examples/ci/" + name)
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
	return p.starts(t, script, env...)()
}

// starts begins a job's script; ended waits for its end, and returns its exit code.
func (p *pipeline) starts(t *testing.T, script string, env ...string) (ended func() int) {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "bash", "-c", p.shell+"set -eo pipefail\n"+strings.Join(env, "\n")+"\n"+script)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what the shell started ends with it
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() int {
		t.Helper()
		err := cmd.Wait()
		if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
			t.Fatal(err)
		}
		t.Logf("%s\nended with %d:\n%s", script, cmd.ProcessState.ExitCode(), out.String())
		return cmd.ProcessState.ExitCode()
	}
}

// administrator runs a command that must succeed.
func (p *pipeline) administrator(command string) {
	p.Helper()
	if code := p.script(p.T, command, "export KUBECONFIG="+lab.Kubeconfig); code != 0 {
		p.Fatalf("%s ended with %d", command, code)
	}
}

// variables are a pipeline's variables.
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

// nightly applies the CronJob by the commands above it, starts it once, and waits until its verdict has failed the Job without another try. The Job is called as
// the suite's name ends, so that the night finds what was measured by day.
func (p *pipeline) nightly(t *testing.T) {
	t.Helper()
	name := p.digest(t)
	p.write("examples/ci/nightly-cronjob.yaml", p.changed("nightly-cronjob.yaml", "ghcr.io/linerate-dev/linerate:latest", rig.Repository+":"+lab.Images.Tag,
		"registry.example.com/router:main", newRelease, "registry.example.com/router:1.4.2", oldRelease))
	p.printed("nightly-cronjob.yaml", 3, "first-night", name)
	job := await(p.scene, &batchv1.JobList{}, name, "Failed", time.Minute, func(j *batchv1.Job) bool { return jobFailed(j) != "" }, jobFailed)
	if reason := jobFailed(job); reason != batchv1.JobReasonPodFailurePolicy || job.Status.Failed != 1 {
		t.Errorf("the Job failed as %s after %d pods, want %s after one", reason, job.Status.Failed, batchv1.JobReasonPodFailurePolicy)
	}
	log, err := lab.Cluster.Run(t.Context(), "", "kubectl", "--", "logs", "-n", p.namespace, "job/"+name)
	if err != nil || !strings.Contains(log, "Failed: the test doesn't meet the criteria") {
		t.Errorf("its log is (%v)\n%s", err, log)
	}
	p.administrator("kubectl -n " + p.namespace + " delete job/" + name + " cronjob/nightly-gate configmap/nightly --wait")
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
